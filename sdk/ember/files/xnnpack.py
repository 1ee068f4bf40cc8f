"""The payload of an XNNPACK delegate -> its graph: values, and nodes in order.

On the device, backends/xnnpack reads the same bytes and decides what is supported.
Here they are only read to be shown.

Field names of the tables are those of the format; their order matters, as in schema.py.
One description serves XN00 and XN01: XN01 leaves its deprecated fields empty.
"""

from __future__ import annotations

import functools
import struct
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ember.errors import SdkError
from ember.files import flat
from ember.files.flat import (
    F32,
    I16,
    I32,
    TEXT,
    U8,
    U32,
    U64,
    Enum,
    Field,
    Record,
    Table,
    Union,
    Vector,
)

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
    handle: int = 0  # by which the exporter names it


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
        record["debug_handle"],
    )


def _is_part(name: str, kind: str) -> bool:
    """Whether a concatenation of this kind has an input of this name."""
    return not name.startswith("input") or name[5] <= kind[-1]


# ---- schema --------------------------------------------------------------------------


IDS = (b"XN00", b"XN01")

DATATYPE = Enum(
    "XNNDatatype",
    I16,
    {
        0: "invalid",
        1: "float32",
        2: "float16",
        3: "qint8",
        4: "quint8",
        5: "qint32",
        6: "qcint8",
        7: "qcint32",
        8: "qcint4",
        9: "qdint8",
        10: "qbint4",
        11: "qpint8",
        12: "int32",
        13: "pfp32",
        14: "bfloat16",
    },
)


def _numbers(*names: str) -> tuple[Field, ...]:
    return tuple(Field(name, U32) for name in names)


PER_TENSOR = Table("PerTensorQuant", (Field("scale", F32), Field("zero_point", I32)))


def _scales(name: str, *between: Field) -> Table:
    """Scales per channel, in the payload or in a constant."""
    fields = (Field("scale", Vector(F32)), Field("channel_dim", I32), *between)
    return Table(name, (*fields, *_numbers("scale_buffer_idx", "num_scales")))


PER_CHANNEL = _scales("PerChannelQuant")
PER_TOKEN = Table("PerTokenDynamicQuant", (Field("num_nonbatch_dims", I32),))
PER_GROUP = _scales(
    "PerChannelGroupQuant",
    Field("group_size", I32),
    Field("scale_bf16", Vector(I16)),
)
TENSOR = Table(
    "XNNTensorValue",
    (
        Field("datatype", DATATYPE),
        Field("num_dims", U32),
        Field("dims", Vector(U32)),
        *_numbers("constant_buffer_idx", "external_id", "flags", "id_out"),
        Field("dq_datatype", DATATYPE),
    ),
)
QUANTIZED = Table(
    "XNNQuantizedTensorValue",
    (
        Field("tensor_value", TENSOR),
        Field(
            "quant_params",
            Union("XNNQuantParams", (PER_CHANNEL, PER_TENSOR, PER_TOKEN, PER_GROUP)),
        ),
    ),
)
VALUE = Table("XValue", (Field("value", Union("XValueUnion", (TENSOR, QUANTIZED))),))

# ---- nodes: fields as in backends/xnnpack/graph/schema.h ----------------------------

_UNARY = _numbers("input_id", "output_id", "flags")
_BINARY = _numbers("input1_id", "input2_id", "output_id", "flags")
_WINDOW = ("padding_top", "padding_right", "padding_bottom", "padding_left")
_CONV = _numbers(
    *_WINDOW,
    *("kernel_height", "kernel_width", "subsampling_height", "subsampling_width"),
    *("dilation_height", "dilation_width", "group_input_channels"),
    *("group_output_channels", "groups", "adjustment_height", "adjustment_width"),
    *("input1_id", "filter_id", "bias_id", "output_id", "flags"),
)
_POOL = _numbers(
    *_WINDOW,
    *("pooling_height", "pooling_width", "stride_height", "stride_width"),
    *("dilation_height", "dilation_width", "input_id", "output_id", "flags"),
)
_CAT = _numbers(
    *("axis", "input1_id", "input2_id", "input3_id", "input4_id"),
    *("output_id", "flags", "input5_id"),
)
_FACTOR = _numbers("input_id", "output_id", "flags")
_DIMS = Field("num_dims", U32)

NODES = Union(
    "XNodeUnion",
    (
        Table("Add", _BINARY),
        Table(
            "FullyConnected",
            _numbers("input1_id", "filter_id", "bias_id", "output_id", "flags"),
        ),
        Table("Softmax", _UNARY),
        Table("Sigmoid", _UNARY),
        Table("StaticTranspose", (_DIMS, Field("perm", Vector(U32)), *_UNARY)),
        Table("Clamp", _UNARY),
        Table("Conv2d", _CONV),
        Table("Div", _BINARY),
        Table(
            "StaticResizeBilinear2D", (*_numbers("new_height", "new_width"), *_UNARY)
        ),
        Table(
            "StaticConstantPad",
            (
                Field("pre_paddings", Vector(U32)),
                Field("post_paddings", Vector(U32)),
                Field("padding_value", F32),
                *_UNARY,
            ),
        ),
        Table("AvgPooling2d", _POOL),
        Table("Minimum", _BINARY),
        Table("DepthwiseConv2d", _CONV),
        Table("MaxPooling2d", _POOL),
        Table("Multiply", _BINARY),
        Table("Subtract", _BINARY),
        Table("Floor", _UNARY),
        Table("Convert", _UNARY),
        Table("GlobalAvgPooling2d", _UNARY),
        Table("StaticReshape", (_DIMS, Field("new_shape", Vector(U32)), *_UNARY)),
        Table(
            "ArgMaxPooling2d",
            _numbers(
                *_WINDOW,
                *("pooling_height", "pooling_width", "input_id"),
                *("output_value_id", "output_index_id", "flags"),
            ),
        ),
        Table("SquareRoot", _UNARY),
        Table("Ceiling", _UNARY),
        Table("Hardswish", _UNARY),
        Table("LeakyReLU", (Field("negative_slope", F32), *_FACTOR)),
        Table("Maximum", _BINARY),
        Table("Negate", _UNARY),
        Table("Square", _UNARY),
        Table("ELU", (Field("alpha", F32), *_FACTOR)),
        Table("Abs", _UNARY),
        Table("PReLU", _BINARY),
        Table("Concatenate2", _CAT),
        Table("Concatenate3", _CAT),
        Table("Concatenate4", _CAT),
        Table(
            "StaticSlice",
            (
                _DIMS,
                Field("offsets", Vector(U32)),
                Field("sizes", Vector(U32)),
                *_UNARY,
            ),
        ),
        Table(
            "ScaledDotProductAttention",
            _numbers(
                *("query_id", "key_id", "value_id", "scale_id", "mask_id"),
                *("output_id", "flags"),
            ),
        ),
        Table("BatchMatrixMultiply", _BINARY),
        Table("Concatenate5", _CAT),
        Table("ConvTranspose2d", _CONV),
        Table("ReciprocalSquareRoot", _UNARY),
        Table("Log", _UNARY),
        Table("Gelu", _UNARY),
        Table("Tanh", _UNARY),
        Table("Exp", _UNARY),
        Table("Sin", _UNARY),
        Table("Copy", _UNARY),
        Table("Cos", _UNARY),
    ),
)
NODE = Table(
    "XNode",
    (
        Field("node", NODES),
        Field("debug_handle", U32),
        Field(
            "output_min_max",
            Table("OutputMinMax", (Field("output_min", F32), Field("output_max", F32))),
        ),
    ),
)
GRAPH = Table(
    "XNNGraph",
    (
        Field("version", TEXT),
        Field("xnodes", Vector(NODE)),
        Field("xvalues", Vector(VALUE)),
        Field("num_externs", U32),
        Field("input_ids", Vector(U32)),
        Field("output_ids", Vector(U32)),
        Field(
            "constant_buffer",
            Vector(Table("Buffer", (Field("storage", Vector(U8, align=16)),))),
        ),
        Field("mem_buffer_sizes", Vector(U32)),
        Field(
            "constant_data",
            Vector(
                Table(
                    "ConstantDataOffset",
                    (
                        Field("offset", U64),
                        Field("size", U64),
                        Field("named_key", TEXT),
                    ),
                )
            ),
        ),
    ),
)
