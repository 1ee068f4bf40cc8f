"""The tables of ExecuTorch files: ET12 programs, FT01 data, BP08 bundled programs.

Field names are those of the formats. Order matters (it is the numbering of the fields)
and both lists and enums only ever grow at their end.
"""

from __future__ import annotations

from ember.files.flat import (
    BOOL,
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
    Union,
    Vector,
)

PROGRAM_ID = b"ET12"
DATA_ID = b"FT01"
BUNDLE_ID = b"BP08"

SCALAR_TYPE = Enum(
    "ScalarType",
    I8,
    {
        0: "uint8",
        1: "int8",
        2: "int16",
        3: "int32",
        4: "int64",
        5: "float16",
        6: "float32",
        7: "float64",
        11: "bool",
        12: "qint8",
        13: "quint8",
        14: "qint32",
        15: "bfloat16",
        16: "quint4x2",
        17: "quint2x4",
        22: "bits16",
        23: "float8_e5m2",
        24: "float8_e4m3fn",
        25: "float8_e5m2fnuz",
        26: "float8_e4m3fnuz",
        27: "uint16",
        28: "uint32",
        29: "uint64",
    },
    unsupported={8: "complex32", 9: "complex64", 10: "complex128"},
    remedy="split complex tensors into real and imaginary ones before exporting",
)
DYNAMISM = Enum("TensorShapeDynamism", I8, {0: "static", 1: "bounded", 2: "unbounded"})
TENSOR_LOCATION = Enum("TensorDataLocation", I8, {0: "segment", 1: "external"})
DEVICE_TYPE = Enum("DeviceType", I8, {0: "cpu", 1: "cuda"})
DELEGATE_LOCATION = Enum("DataLocation", I8, {0: "inline", 1: "segment"})

# ---- ET12: programs ----------------------------------------------------------------

CONTAINER_METADATA = Table(
    "ContainerMetadata",
    (Field("encoded_inp_str", TEXT), Field("encoded_out_str", TEXT)),
)
ALLOCATION = Table(
    "AllocationDetails",
    (
        Field("memory_id", U32),
        Field("memory_offset_low", U32),
        Field("memory_offset_high", U32),
    ),
    whole=True,
)
EXTRA_TENSOR_INFO = Table(
    "ExtraTensorInfo",
    (
        Field("mutable_data_segments_idx", U64),
        Field("fully_qualified_name", TEXT),
        Field("location", TENSOR_LOCATION),
        Field("device_type", DEVICE_TYPE),
        Field("device_index", I8),
    ),
)
TENSOR = Table(
    "Tensor",
    (
        Field("scalar_type", SCALAR_TYPE),
        Field("storage_offset", I32),
        Field("sizes", Vector(I32, shared=True)),
        Field("dim_order", Vector(U8, shared=True)),
        Field("requires_grad", BOOL, default=False),
        Field("data_buffer_idx", U32),
        Field("allocation_info", ALLOCATION),
        Field("layout", I8),
        Field("shape_dynamism", DYNAMISM),
        Field("extra_tensor_info", EXTRA_TENSOR_INFO),
    ),
    whole=True,
)
KERNEL_TYPES = Union(
    "KernelTypes",
    (
        Table("Null", ()),
        Table("Int", (Field("int_val", I64),), whole=True),
        Table("Bool", (Field("bool_val", BOOL, default=False),)),
        Table("Double", (Field("double_val", F64, default=0.0),), whole=True),
        TENSOR,
        Table("String", (Field("string_val", TEXT),)),
        Table("IntList", (Field("items", Vector(I64)),)),
        Table("DoubleList", (Field("items", Vector(F64)),)),
        Table("BoolList", (Field("items", Vector(BOOL)),)),
        Table("TensorList", (Field("items", Vector(I32)),)),
        Table("OptionalTensorList", (Field("items", Vector(I32)),)),
    ),
)
EVALUE = Table("EValue", (Field("val", KERNEL_TYPES),))
OPERATOR = Table("Operator", (Field("name", TEXT), Field("overload", TEXT)))
INSTRUCTION_ARGUMENTS = Union(
    "InstructionArguments",
    (
        Table("KernelCall", (Field("op_index", I32), Field("args", Vector(I32)))),
        Table(
            "DelegateCall", (Field("delegate_index", I32), Field("args", Vector(I32)))
        ),
        Table("MoveCall", (Field("move_from", I32), Field("move_to", I32))),
        Table(
            "JumpFalseCall",
            (Field("cond_value_index", I32), Field("destination_instruction", I32)),
        ),
        Table("FreeCall", (Field("value_index", I32),)),
    ),
)
INSTRUCTION = Table("Instruction", (Field("instr_args", INSTRUCTION_ARGUMENTS),))
FRAME = Table(
    "Frame",
    (
        Field("filename", TEXT),
        Field("lineno", I32),
        Field("name", TEXT),
        Field("context", TEXT),
    ),
)
FRAME_LIST = Table("FrameList", (Field("items", Vector(FRAME)),))
CHAIN = Table(
    "Chain",
    (
        Field("inputs", Vector(I32)),
        Field("outputs", Vector(I32)),
        Field("instructions", Vector(INSTRUCTION)),
        Field("stacktrace", Vector(FRAME_LIST)),
    ),
)
DELEGATE_REFERENCE = Table(
    "BackendDelegateDataReference",
    (Field("location", DELEGATE_LOCATION), Field("index", U32)),
)
COMPILE_SPEC = Table("CompileSpec", (Field("key", TEXT), Field("value", Vector(U8))))
DELEGATE = Table(
    "BackendDelegate",
    (
        Field("id", TEXT),
        Field("processed", DELEGATE_REFERENCE),
        Field("compile_specs", Vector(COMPILE_SPEC)),
    ),
)
PLANNED_DEVICE = Table(
    "NonConstBufferDevice",
    (
        Field("buffer_idx", I32),
        Field("device_type", DEVICE_TYPE),
        Field("device_index", I8),
    ),
)
EXECUTION_PLAN = Table(
    "ExecutionPlan",
    (
        Field("name", TEXT),
        Field("container_meta_type", CONTAINER_METADATA),
        Field("values", Vector(EVALUE)),
        Field("inputs", Vector(I32)),
        Field("outputs", Vector(I32)),
        Field("chains", Vector(CHAIN)),
        Field("operators", Vector(OPERATOR)),
        Field("delegates", Vector(DELEGATE)),
        Field("non_const_buffer_sizes", Vector(I64)),
        Field("non_const_buffer_device", Vector(PLANNED_DEVICE)),
    ),
)
BUFFER = Table("Buffer", (Field("storage", Vector(U8, align=16)),))
DELEGATE_DATA = Table("BackendDelegateInlineData", (Field("data", Vector(U8, 16)),))
SEGMENT = Table("DataSegment", (Field("offset", U64), Field("size", U64)))
SUBSEGMENTS = Table(
    "SubsegmentOffsets", (Field("segment_index", U32), Field("offsets", Vector(U64)))
)
NAMED_DATA = Table("NamedData", (Field("key", TEXT), Field("segment_index", U32)))
PROGRAM = Table(
    "Program",
    (
        Field("version", U32),
        Field("execution_plan", Vector(EXECUTION_PLAN)),
        Field("constant_buffer", Vector(BUFFER)),
        Field("backend_delegate_data", Vector(DELEGATE_DATA)),
        Field("segments", Vector(SEGMENT)),
        Field("constant_segment", SUBSEGMENTS),
        Field("mutable_data_segments", Vector(SUBSEGMENTS)),
        Field("named_data", Vector(NAMED_DATA)),
    ),
)

# ---- FT01: external tensor data ----------------------------------------------------

TENSOR_LAYOUT = Table(
    "TensorLayout",
    (
        Field("scalar_type", SCALAR_TYPE),
        Field("sizes", Vector(I32)),
        Field("dim_order", Vector(U8)),
    ),
)
FLAT_TENSOR = Table(
    "FlatTensor",
    (
        Field("version", U32),
        Field("segments", Vector(SEGMENT)),
        Field(
            "named_data",
            Vector(
                Table(
                    "NamedData",
                    (*NAMED_DATA.fields, Field("tensor_layout", TENSOR_LAYOUT)),
                )
            ),
        ),
    ),
)

# ---- BP08: bundled programs --------------------------------------------------------

BUNDLED_VALUE = Table(
    "Value",
    (
        Field(
            "val",
            Union(
                "ValueUnion",
                (
                    Table(
                        "Tensor",
                        (
                            Field("scalar_type", SCALAR_TYPE),
                            Field("sizes", Vector(I32)),
                            Field("data", Vector(U8, align=16)),
                            Field("dim_order", Vector(U8)),
                        ),
                    ),
                    Table("Int", (Field("int_val", I64),)),
                    Table("Bool", (Field("bool_val", BOOL, default=False),)),
                    Table("Double", (Field("double_val", F64, default=0.0),)),
                ),
            ),
        ),
    ),
)
BUNDLED_CASE = Table(
    "BundledMethodTestCase",
    (
        Field("inputs", Vector(BUNDLED_VALUE)),
        Field("expected_outputs", Vector(BUNDLED_VALUE)),
    ),
)
BUNDLED_SUITE = Table(
    "BundledMethodTestSuite",
    (Field("method_name", TEXT), Field("test_cases", Vector(BUNDLED_CASE))),
)
BUNDLED_PROGRAM = Table(
    "BundledProgram",
    (
        Field("version", U32),
        Field("method_test_suites", Vector(BUNDLED_SUITE)),
        Field("program", Vector(U8, align=32)),
    ),
)
