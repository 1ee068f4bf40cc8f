"""The tables in the payloads of XNNPACK delegates, XN00 and XN01.

Field names are those of the format; order matters, as in schema.py. One description
serves both: XN01 leaves its deprecated fields empty.
"""

from __future__ import annotations

from ember.files.flat.tables import (
    F32,
    I16,
    I32,
    TEXT,
    U8,
    U32,
    U64,
    Enum,
    Field,
    Table,
    Union,
    Vector,
)

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
