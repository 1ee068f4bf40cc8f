"""Graphs of XNNPACK delegates, with random numbers, become programs without PyTorch."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ember import program
from ember.cases import one_call
from ember.files import flat_writer
from ember.files.flat import Record
from ember.files.tensors import Array, DType
from ember.files.xnnpack import BACKEND, DATATYPE, GRAPH, NO_VALUE
from ember.program import types

_ALIGN = 16
_NUMBERS = {name: number for number, name in DATATYPE.members.items()}
_DTYPES = {"float32": DType.FLOAT32, "float16": DType.FLOAT16, "qint8": DType.INT8}
_DTYPES["bfloat16"] = DType.BFLOAT16


@dataclass
class Delegate:
    """A graph that grows: methods add a value or a node and return the value's id."""

    seed: int = 0
    values: list[Record] = field(default_factory=list)
    nodes: list[Record] = field(default_factory=list)
    constants: list[bytes] = field(default_factory=lambda: [b""])
    inputs: list[int] = field(default_factory=list)
    outputs: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.random = np.random.default_rng(self.seed)

    # ---- values ----------------------------------------------------------------------

    def _value(self, datatype: str, dims: tuple[int, ...], **options: Any) -> int:
        tensor = {
            "datatype": _NUMBERS[datatype],
            "num_dims": len(dims),
            "dims": list(dims),
            "constant_buffer_idx": options.get("constant", 0),
            "external_id": NO_VALUE,
            "flags": 0,
            "id_out": len(self.values),
            "dq_datatype": 0,
        }
        record: Any = ("XNNTensorValue", tensor)
        if "params" in options:
            quantised = {"tensor_value": tensor, "quant_params": options["params"]}
            record = ("XNNQuantizedTensorValue", quantised)
        self.values.append({"value": record})
        return len(self.values) - 1

    def tensor(self, index: int) -> Record:
        record: Record = self.values[index]["value"][1]
        tensor: Record = record.get("tensor_value", record)
        return tensor

    def floats(self, *dims: int, datatype: str = "float32") -> int:
        return self._value(datatype, dims)

    def static(self, *dims: int, scale: float = 0.05, zero: int = 3) -> int:
        params = ("PerTensorQuant", {"scale": scale, "zero_point": zero})
        return self._value("qint8", dims, params=params)

    def dynamic(self, *dims: int, alike: int = 1) -> int:
        """Rows are the last `alike` dimensions."""
        params = ("PerTokenDynamicQuant", {"num_nonbatch_dims": alike})
        return self._value("qdint8", dims, params=params)

    def constant(self, array: Array) -> int:
        self.constants.append(array.tobytes())
        return len(self.constants) - 1

    def bf16_weights(self, *dims: int) -> int:
        """Weights of bfloat16."""
        numbers = self.random.normal(0, 1, dims).astype(np.float32)
        halves = (numbers.view(np.uint32) >> 16).astype(np.uint16)
        return self._value("bfloat16", dims, constant=self.constant(halves))

    def weights(self, *dims: int, axis: int = 0, bits: int = 8) -> int:
        """A scale per channel along `axis`."""
        numbers = self.random.integers(-127, 128, dims, np.int8)
        if bits == 4:
            row = dims[1] + dims[1] % 2
            numbers = self.random.integers(0, 256, (dims[0], row // 2), np.uint8)
        scales = self.random.uniform(0.001, 0.02, dims[axis]).astype(np.float32)
        params = {"scale": [], "channel_dim": axis, "num_scales": dims[axis]}
        params["scale_buffer_idx"] = self.constant(scales)
        kind = "qcint4" if bits == 4 else "qcint8"
        options = {
            "constant": self.constant(numbers),
            "params": ("PerChannelQuant", params),
        }
        return self._value(kind, dims, **options)

    def grouped(self, n: int, k: int, group: int) -> int:
        """Weights of four bits with a scale for each group of elements."""
        numbers = self.random.integers(0, 256, (n, k // 2), np.uint8)
        scales = self.random.uniform(0.001, 0.02, (n, k // group)).astype(np.float32)
        halves = (scales.view(np.uint32) >> 16).astype(np.uint16)
        params = {"scale": [], "channel_dim": 0, "num_scales": scales.size}
        params |= {"group_size": group, "scale_bf16": []}
        params["scale_buffer_idx"] = self.constant(halves)
        quantisation = ("PerChannelGroupQuant", params)
        return self._value(
            "qbint4", (n, k), constant=self.constant(numbers), params=quantisation
        )

    def bias(self, count: int) -> int:
        """Of static int8."""
        numbers = self.random.integers(-9999, 9999, count, np.int32)
        scales = np.full(count, 0.001, np.float32)
        params = {"scale": [], "channel_dim": 0, "num_scales": count}
        params["scale_buffer_idx"] = self.constant(scales)
        quantisation = ("PerChannelQuant", params)
        return self._value(
            "qcint32", (count,), constant=self.constant(numbers), params=quantisation
        )

    def float_bias(self, count: int) -> int:
        numbers = self.random.normal(0, 3, count).astype(np.float32)
        return self._value("float32", (count,), constant=self.constant(numbers))

    # ---- nodes -----------------------------------------------------------------------

    def node(
        self, kind: str, bounds: tuple[float, float] | None = None, **fields: Any
    ) -> None:
        limits = None
        if bounds is not None:
            limits = {"output_min": bounds[0], "output_max": bounds[1]}
        record = {"flags": 0, **fields}
        self.nodes.append(
            {"node": (kind, record), "debug_handle": 0, "output_min_max": limits}
        )

    def quantised(self, index: int, alike: int = 1) -> int:
        """Floats as int8 with parameters of each row."""
        converted = self.dynamic(*self.tensor(index)["dims"], alike=alike)
        self.node("Convert", input_id=index, output_id=converted)
        return converted

    # ---- the program -----------------------------------------------------------------

    def _externs(self) -> None:
        for number, index in enumerate((*self.inputs, *self.outputs)):
            tensor = self.tensor(index)
            tensor["external_id"] = number
            tensor["flags"] = 1 if index in self.inputs else 2

    def _payload(self) -> bytes:
        offsets, constants = [], b""
        for data in self.constants:
            constants += bytes(-len(constants) % _ALIGN)
            entry = {"offset": len(constants), "size": len(data), "named_key": None}
            offsets.append(entry)
            constants += data
        graph = {
            "version": "0",
            "xnodes": self.nodes,
            "xvalues": self.values,
            "num_externs": len(self.inputs) + len(self.outputs),
            "input_ids": self.inputs,
            "output_ids": self.outputs,
            "constant_buffer": None,
            "mem_buffer_sizes": None,
            "constant_data": offsets,
        }
        body = flat_writer.write(graph, GRAPH, b"XN01").data
        body += bytes(-len(body) % _ALIGN)
        places = (32, len(body), 32 + len(body), len(constants))
        head = struct.pack("<4x4sHIIIQ", b"XH00", 30, *places)
        return head.ljust(32, b"\0") + body + constants

    def write_case(
        self,
        folder: Path,
        inputs: Sequence[Array],
        results: Sequence[Array],
        **tolerance: float,
    ) -> None:
        """A case that executes the graph; `rtol` and `atol` as in one_call."""
        self._externs()
        one_call.write_delegate(
            folder, BACKEND, self._payload(), inputs, results, **tolerance
        )

    def written(self) -> bytes:
        self._externs()
        end = 0
        values = []
        for index in (*self.inputs, *self.outputs):
            tensor = self.tensor(index)
            dtype = _DTYPES[DATATYPE.members[tensor["datatype"]]]
            sizes = tuple(tensor["dims"])
            place = types.Allocation(1, end)
            end += -(-math.prod(sizes) * dtype.itemsize // _ALIGN) * _ALIGN
            order = tuple(range(len(sizes)))
            values.append(types.Tensor(dtype, sizes, order, 0, place))
        arguments = tuple(range(len(values)))
        split = len(self.inputs)
        method = types.Method(
            name="forward",
            values=tuple(values),
            inputs=arguments[:split],
            outputs=arguments[split:],
            chains=(types.Chain((types.DelegateCall(0, arguments),)),),
            delegates=(types.Delegate(BACKEND, self._payload()),),
            planned_sizes=(0, end),
        )
        return program.write(types.Program(methods=(method,)))
