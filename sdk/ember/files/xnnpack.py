"""The payload of an XNNPACK delegate -> its graph: values, and nodes in order.

On the device, backends/xnnpack reads the same bytes and decides what is supported.
Here they are only read to be shown.
"""

from __future__ import annotations

import functools
import struct
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ember.errors import SdkError
from ember.files import flat
from ember.files.flat import Record
from ember.files.xnnpack_schema import DATATYPE, GRAPH, IDS

BACKEND = "XnnpackBackend"
NO_VALUE = 0xFFFFFFFF
_MAGIC, _HEADER_SIZE = b"XH00", 30


@dataclass(frozen=True)
class Value:
    id: int
    datatype: str  # "float32", "qint8", ...
    shape: tuple[int, ...]  # in memory order; upper bounds when dynamic
    constant: bool
    external: int | None  # argument of the call
    quantisation: Record | None  # of one of the Per* tables
    key: str | None = None  # of the named data in the program that holds it
    scales_key: str | None = None
    dynamic: bool = False  # quantised at run time where nodes read it (an old format)
    is_output: bool = False  # of the call, if it is external

    @property
    def text(self) -> str:
        return f"{self.datatype}[{','.join(map(str, self.shape))}]"


@dataclass(frozen=True)
class Node:
    kind: str  # "FullyConnected", ...
    inputs: tuple[Value, ...]  # absent ones left out
    outputs: tuple[Value, ...]
    parameters: Record  # the rest of its table
    range: tuple[float, float] | None  # of its outputs


@dataclass(frozen=True)
class Graph:
    values: tuple[Value, ...]
    nodes: tuple[Node, ...]


def flatbuffer(payload: bytes) -> tuple[int, int]:
    """Offset and size of the FlatBuffer in a payload."""
    if payload[4:8] != _MAGIC:
        return 0, len(payload)
    if len(payload) < _HEADER_SIZE:
        raise SdkError("an XNNPACK payload is shorter than its header")
    offset, size = struct.unpack_from("<II", payload, 10)
    if offset + size > len(payload):
        raise SdkError("an XNNPACK payload is truncated")
    return offset, size


def parse(payload: bytes) -> Graph:
    """The graph of a payload; raises an SdkError if it is malformed."""
    offset, size = flatbuffer(payload)
    data = payload[offset : offset + size]
    if data[4:8] not in IDS:
        raise SdkError("an XNNPACK payload has an unknown schema")
    record = flat.read(data, GRAPH, "an XNNPACK payload")
    keys = [constant["named_key"] or None for constant in record["constant_data"] or ()]
    read = [_value(value["value"], keys) for value in record["xvalues"] or ()]
    converts = tuple(_convert(value) for value in read if value.dynamic)
    converted = {node.outputs[0].id: node.outputs[0] for node in converts}
    values = tuple(converted.get(value.id, value) for value in read)
    by_id = {value.id: value for value in values}
    nodes = tuple(_node(node, by_id) for node in record["xnodes"] or ())
    arguments = tuple(node.inputs[0] for node in converts)
    return Graph((*values, *arguments), (*converts, *nodes))


@functools.lru_cache(maxsize=1024)
def outputs(payload: bytes) -> frozenset[int] | None:
    """The numbers of the call's arguments that the graph writes; None if it is
    malformed. All others are only read."""
    try:
        graph = parse(payload)
    except SdkError:
        return None
    values = {value.id: value for value in graph.values}
    return frozenset(
        number
        for value in values.values()
        if value.is_output and (number := value.external) is not None
    )


def _convert(value: Value) -> Node:
    """The node with which the backend replaces a mark of older exporters: it quantises
    the input, and nodes read its result under the id of the input."""
    argument = replace(value, id=NO_VALUE, dynamic=False)
    stored = replace(value, datatype="qdint8", external=None, dynamic=False)
    return Node("Convert", (argument,), (stored,), {}, None)


def _value(union: tuple[str, Record] | None, keys: Sequence[str | None]) -> Value:
    if union is None:
        raise SdkError("an XNNPACK payload has a value without a type")
    name, record = union
    quantised = name == "XNNQuantizedTensorValue"
    tensor = record["tensor_value"] if quantised else record
    if tensor is None:
        raise SdkError("an XNNPACK payload has a value without a tensor")
    params = record["quant_params"] if quantised else None
    scales = params[1].get("scale_buffer_idx", 0) if params else 0

    def key(index: int) -> str | None:
        return keys[index] if 0 < index < len(keys) else None

    return Value(
        id=tensor["id_out"],
        datatype=DATATYPE.members[tensor["datatype"]],
        shape=tuple(tensor["dims"] or ()),
        constant=tensor["constant_buffer_idx"] != 0,
        external=tensor["external_id"] if tensor["flags"] & 3 else None,
        is_output=tensor["flags"] & 2 != 0,
        quantisation=params[1] if params else None,
        key=key(tensor["constant_buffer_idx"]),
        scales_key=key(scales),
        dynamic=tensor["dq_datatype"] != 0,
    )


def _node(record: Record, values: dict[int, Value]) -> Node:
    if record["node"] is None:
        raise SdkError("an XNNPACK payload has a node without a type")
    kind, fields = record["node"]
    inputs: list[Value] = []
    outputs: list[Value] = []
    parameters: dict[str, Any] = {}
    for name, item in fields.items():
        if not name.endswith("_id"):
            parameters[name] = item
        elif kind.startswith("Concatenate") and not _is_part(name, kind):
            continue
        elif item in values:
            (outputs if name.startswith("output") else inputs).append(values[item])
        elif item != NO_VALUE:
            raise SdkError(f"an XNNPACK payload's {kind} has no value {item}")
    limits = record["output_min_max"]
    return Node(
        kind,
        tuple(inputs),
        tuple(outputs),
        parameters,
        (limits["output_min"], limits["output_max"]) if limits else None,
    )


def _is_part(name: str, kind: str) -> bool:
    """Whether a concatenation of this kind has an input of this name."""
    return not name.startswith("input") or name[5] <= kind[-1]
