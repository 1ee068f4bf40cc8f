"""Layers of XNNPACK delegates, with random numbers, become programs without PyTorch."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ember import program
from ember.files import flat
from ember.files.flat import Record
from ember.files.tensors import DType
from ember.files.xnnpack import BACKEND, NO_VALUE
from ember.files.xnnpack_schema import DATATYPE, GRAPH
from ember.program import types

_ALIGN = 16
_NUMBERS = {name: number for number, name in DATATYPE.members.items()}
_DTYPES = {"float32": DType.FLOAT32, "float16": DType.FLOAT16, "qint8": DType.INT8}


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

    def _value(self, datatype: str, dims: tuple[int, ...], **own: Any) -> int:
        tensor = {
            "datatype": _NUMBERS[datatype],
            "num_dims": len(dims),
            "dims": list(dims),
            "constant_buffer_idx": own.get("constant", 0),
            "external_id": NO_VALUE,
            "flags": 0,
            "id_out": len(self.values),
            "dq_datatype": 0,
        }
        record: Any = ("XNNTensorValue", tensor)
        if "params" in own:
            quantised = {"tensor_value": tensor, "quant_params": own["params"]}
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

    def constant(self, array: np.ndarray) -> int:
        self.constants.append(array.tobytes())
        return len(self.constants) - 1

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
        own = {
            "constant": self.constant(numbers),
            "params": ("PerChannelQuant", params),
        }
        return self._value(kind, dims, **own)

    def grouped(self, n: int, k: int, group: int) -> int:
        """Weights of four bits with a scale for each group of elements."""
        numbers = self.random.integers(0, 256, (n, k // 2), np.uint8)
        scales = self.random.uniform(0.001, 0.02, (n, k // group)).astype(np.float32)
        halves = (scales.view(np.uint32) >> 16).astype(np.uint16)
        params = {"scale": [], "channel_dim": 0, "num_scales": scales.size}
        params |= {"group_size": group, "scale_bf16": []}
        params["scale_buffer_idx"] = self.constant(halves)
        own = ("PerChannelGroupQuant", params)
        return self._value(
            "qbint4", (n, k), constant=self.constant(numbers), params=own
        )

    def bias(self, count: int) -> int:
        """Of static int8."""
        numbers = self.random.integers(-9999, 9999, count, np.int32)
        scales = np.full(count, 0.001, np.float32)
        params = {"scale": [], "channel_dim": 0, "num_scales": count}
        params["scale_buffer_idx"] = self.constant(scales)
        own = ("PerChannelQuant", params)
        return self._value(
            "qcint32", (count,), constant=self.constant(numbers), params=own
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
        made = self.dynamic(*self.tensor(index)["dims"], alike=alike)
        self.node("Convert", input_id=index, output_id=made)
        return made

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
        body = flat.write(graph, GRAPH, b"XN01").data
        body += bytes(-len(body) % _ALIGN)
        places = (32, len(body), 32 + len(body), len(constants))
        head = struct.pack("<4x4sHIIIQ", b"XH00", 30, *places)
        return head.ljust(32, b"\0") + body + constants

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


# ---- layers --------------------------------------------------------------------------


@dataclass(frozen=True)
class Linear:
    form: str  # qs8, qd8, qc4, qb4
    rows: int
    inner: int
    columns: int
    group: int = 32

    @property
    def title(self) -> str:
        return f"linear_{self.form}_{self.rows}x{self.inner}x{self.columns}"

    @property
    def macs(self) -> int:
        return self.rows * self.inner * self.columns

    def built(self) -> Delegate:
        graph = Delegate(seed=self.macs)
        static = self.form == "qs8"
        make = graph.static if static else graph.floats
        x = make(self.rows, self.inner)
        y = make(self.rows, self.columns)
        bits = 4 if self.form == "qc4" else 8
        weights = (
            graph.grouped(self.columns, self.inner, self.group)
            if self.form == "qb4"
            else graph.weights(self.columns, self.inner, bits=bits)
        )
        graph.inputs, graph.outputs = [x], [y]
        graph.node(
            "FullyConnected",
            input1_id=x if static else graph.quantised(x),
            filter_id=weights,
            bias_id=(graph.bias if static else graph.float_bias)(self.columns),
            output_id=y,
        )
        return graph


@dataclass(frozen=True)
class Convolution:
    form: str  # qs8, qd8
    channels: int
    filters: int
    height: int
    width: int
    kernel: tuple[int, int] = (3, 3)
    stride: tuple[int, int] = (1, 1)
    padding: tuple[int, int, int, int] = (1, 1, 1, 1)  # top, right, bottom, left
    dilation: tuple[int, int] = (1, 1)
    groups: int = 1
    images: int = 1
    kind: str = "Conv2d"  # DepthwiseConv2d, ConvTranspose2d

    @property
    def title(self) -> str:
        rest = "_".join(
            "x".join(map(str, each))
            for each in (self.kernel, self.stride, self.padding, self.dilation)
        )
        size = f"{self.images}x{self.height}x{self.width}x{self.channels}"
        return f"{self.kind}_{self.form}_{size}_{self.filters}_{self.groups}_{rest}"

    def _out(self, axis: int) -> int:
        size = (self.height, self.width)[axis]
        reach = self.dilation[axis] * (self.kernel[axis] - 1) + 1
        pads = self.padding[axis] + self.padding[axis + 2]
        pads = pads if axis == 0 else self.padding[1] + self.padding[3]
        if self.kind == "ConvTranspose2d":
            return (size - 1) * self.stride[axis] + reach - pads
        return (size + pads - reach) // self.stride[axis] + 1

    @property
    def macs(self) -> int:
        area = (
            (self.height * self.width)
            if self.kind == "ConvTranspose2d"
            else (self._out(0) * self._out(1))
        )
        taps = self.kernel[0] * self.kernel[1] * self.channels // self.groups
        return self.images * area * self.filters * taps

    def built(self) -> Delegate:
        graph = Delegate(seed=self.macs)
        static = self.form == "qs8"
        make = graph.static if static else graph.floats
        x = make(self.images, self.height, self.width, self.channels)
        y = make(self.images, self._out(0), self._out(1), self.filters)
        depthwise = self.kind == "DepthwiseConv2d"
        weights = (
            graph.weights(1, *self.kernel, self.filters, axis=3)
            if depthwise
            else graph.weights(self.filters, *self.kernel, self.channels // self.groups)
        )
        top, right, bottom, left = self.padding
        graph.inputs, graph.outputs = [x], [y]
        graph.node(
            self.kind,
            padding_top=top,
            padding_right=right,
            padding_bottom=bottom,
            padding_left=left,
            kernel_height=self.kernel[0],
            kernel_width=self.kernel[1],
            subsampling_height=self.stride[0],
            subsampling_width=self.stride[1],
            dilation_height=self.dilation[0],
            dilation_width=self.dilation[1],
            group_input_channels=self.channels // self.groups,
            group_output_channels=self.filters // self.groups,
            groups=self.groups,
            adjustment_height=0,
            adjustment_width=0,
            input1_id=x if static else graph.quantised(x, alike=3),
            filter_id=weights,
            bias_id=(graph.bias if static else graph.float_bias)(self.filters),
            output_id=y,
        )
        return graph


@dataclass(frozen=True)
class Pair:
    """Two static int8 values, broadcast."""

    kind: str  # Add, Subtract, Multiply
    a: tuple[int, ...]
    b: tuple[int, ...]
    bounds: tuple[float, float] | None = None

    @property
    def title(self) -> str:
        shapes = "_".join("x".join(map(str, each)) for each in (self.a, self.b))
        return f"{self.kind}_{shapes}{'_bounded' if self.bounds else ''}"

    def built(self) -> Delegate:
        graph = Delegate()
        a = graph.static(*self.a, scale=0.03, zero=-7)
        b = graph.static(*self.b, scale=0.011, zero=20)
        y = graph.static(*np.broadcast_shapes(self.a, self.b), scale=0.05, zero=4)
        graph.inputs, graph.outputs = [a, b], [y]
        graph.node(self.kind, self.bounds, input1_id=a, input2_id=b, output_id=y)
        return graph


@dataclass(frozen=True)
class Single:
    """A node of one value, from one datatype to another."""

    kind: str  # Clamp, Tanh, Convert, ...
    sizes: tuple[int, ...]
    form: str = "s8_s8"  # f32_s8, s8_f32
    bounds: tuple[float, float] | None = None
    same: bool = False  # scale and zero point stay

    @property
    def title(self) -> str:
        sizes = "x".join(map(str, self.sizes))
        rest = ("_bounded" if self.bounds else "") + ("_same" if self.same else "")
        return f"{self.kind}_{self.form}_{sizes}{rest}"

    def built(self) -> Delegate:
        graph = Delegate()
        before, after = self.form.split("_")
        numbers = {"scale": 0.03, "zero": -7}
        other = numbers if self.same else {"scale": 0.021, "zero": 4}
        static, floats = graph.static, graph.floats
        x = static(*self.sizes, **numbers) if before == "s8" else floats(*self.sizes)
        y = static(*self.sizes, **other) if after == "s8" else floats(*self.sizes)
        graph.inputs, graph.outputs = [x], [y]
        extra = {"ELU": {"alpha": 0.7}, "LeakyReLU": {"negative_slope": 0.1}}
        graph.node(
            self.kind, self.bounds, input_id=x, output_id=y, **extra.get(self.kind, {})
        )
        return graph


@dataclass(frozen=True)
class Pool:
    """The largest number of each window."""

    sizes: tuple[int, int, int, int]
    kernel: tuple[int, int] = (2, 2)
    stride: tuple[int, int] = (2, 2)
    padding: tuple[int, int, int, int] = (0, 0, 0, 0)
    same: bool = True

    @property
    def title(self) -> str:
        parts = (self.sizes, self.kernel, self.stride, self.padding)
        return "MaxPool_" + "_".join("x".join(map(str, each)) for each in parts)

    def built(self) -> Delegate:
        graph = Delegate()
        top, right, bottom, left = self.padding
        n, h, w, c = self.sizes
        out = (
            (h + top + bottom - self.kernel[0]) // self.stride[0] + 1,
            (w + left + right - self.kernel[1]) // self.stride[1] + 1,
        )
        x = graph.static(*self.sizes)
        y = graph.static(n, *out, c, **({} if self.same else {"scale": 0.03}))
        graph.inputs, graph.outputs = [x], [y]
        graph.node(
            "MaxPooling2d",
            padding_top=top,
            padding_right=right,
            padding_bottom=bottom,
            padding_left=left,
            pooling_height=self.kernel[0],
            pooling_width=self.kernel[1],
            stride_height=self.stride[0],
            stride_width=self.stride[1],
            dilation_height=1,
            dilation_width=1,
            input_id=x,
            output_id=y,
        )
        return graph


@dataclass(frozen=True)
class Transpose:
    """Dimensions in another order."""

    sizes: tuple[int, ...]
    order: tuple[int, ...]
    form: str = "s8"  # f32

    @property
    def title(self) -> str:
        parts = (self.sizes, self.order)
        shape = "_".join("x".join(map(str, each)) for each in parts)
        return f"Transpose_{self.form}_{shape}"

    def built(self) -> Delegate:
        graph = Delegate()
        make = graph.static if self.form == "s8" else graph.floats
        x = make(*self.sizes)
        y = make(*(self.sizes[i] for i in self.order))
        graph.inputs, graph.outputs = [x], [y]
        graph.node(
            "StaticTranspose",
            num_dims=len(self.order),
            perm=list(self.order),
            input_id=x,
            output_id=y,
        )
        return graph
