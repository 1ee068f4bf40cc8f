"""The tables of ETDump files (ED00), which ExecuTorch's Inspector reads.

Field names are those of the format; their order is the numbering of the fields.
"""

from __future__ import annotations

from ember.files import schema
from ember.files.flat.tables import (
    BOOL,
    F32,
    F64,
    I8,
    I32,
    I64,
    TEXT,
    U8,
    U32,
    U64,
    Enum,
    Field,
    Table,
    Vector,
)

ETDUMP_ID = b"ED00"
VALUE_TYPE = Enum(
    "ValueType",
    I8,
    {
        0: "Null",
        1: "Int",
        2: "Bool",
        3: "Float",
        4: "Double",
        5: "Tensor",
        6: "TensorList",
        7: "String",
    },
)
TENSOR = Table(
    "Tensor",
    (
        Field("scalar_type", schema.SCALAR_TYPE),
        Field("sizes", Vector(I64)),
        Field("strides", Vector(I64)),
        Field("offset", I64),  # bytes, in the file of values
    ),
)
TENSOR_LIST = Table("TensorList", (Field("tensors", Vector(TENSOR)),))
INT = Table("Int", (Field("int_val", I64),))
BOOLEAN = Table("Bool", (Field("bool_val", BOOL, default=False),))
FLOAT = Table("Float", (Field("float_val", F32, default=0.0),))
DOUBLE = Table("Double", (Field("double_val", F64, default=0.0),))
VALUE = Table(
    "Value",
    (
        Field("val", VALUE_TYPE),
        Field("tensor", TENSOR),
        Field("tensor_list", TENSOR_LIST),
        Field("int_value", INT),
        Field("float_value", FLOAT),
        Field("double_value", DOUBLE),
        Field("bool_value", BOOLEAN),
        Field("output", BOOLEAN),  # true: of the program
    ),
)
DEBUG_EVENT = Table(
    "DebugEvent",
    (
        Field("chain_index", U64),
        Field("instruction_id", I32, default=-1),
        Field("debug_entry", VALUE),
        Field("delegate_debug_id_int", I32, default=-1),
        Field("delegate_debug_id_str", TEXT),
        Field("name", TEXT),
    ),
)
ALLOCATION_EVENT = Table(
    "AllocationEvent", (Field("allocator_id", I32), Field("allocation_size", U64))
)
PROFILE_EVENT = Table(
    "ProfileEvent",
    (
        Field("name", TEXT),
        Field("chain_index", I32),
        Field("instruction_id", I32, default=-1),
        Field("delegate_debug_id_int", I32, default=-1),
        Field("delegate_debug_id_str", TEXT),
        Field("delegate_debug_metadata", Vector(U8)),
        Field("start_time", U64),
        Field("end_time", U64),
    ),
)
EVENT = Table(
    "Event",
    (
        Field("profile_event", PROFILE_EVENT),
        Field("allocation_event", ALLOCATION_EVENT),
        Field("debug_event", DEBUG_EVENT),
    ),
)
RUN_DATA = Table(
    "RunData",
    (
        Field("name", TEXT),
        Field("bundled_input_index", I32, default=-1),
        Field("allocators", Vector(Table("Allocator", (Field("name", TEXT),)))),
        Field("events", Vector(EVENT)),
    ),
)
ETDUMP = Table("ETDump", (Field("version", U32), Field("run_data", Vector(RUN_DATA))))
