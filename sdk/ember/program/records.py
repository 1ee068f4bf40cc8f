"""A table of the FlatBuffer -> the dataclass of its kind, unchecked."""

from __future__ import annotations

from collections.abc import Callable

from ember.files import schema
from ember.files.flat import Record
from ember.files.tensors import DType
from ember.program.types import (
    Allocation,
    Bool,
    BoolList,
    Containers,
    DelegateCall,
    Double,
    DoubleList,
    ExtraInfo,
    Frame,
    FreeCall,
    Instruction,
    Int,
    IntList,
    JumpFalseCall,
    KernelCall,
    MoveCall,
    Null,
    OptionalTensorList,
    String,
    Tensor,
    TensorList,
    Value,
)


def _allocation(record: Record | None) -> Allocation | None:
    if record is None:
        return None
    offset = record["memory_offset_high"] << 32 | record["memory_offset_low"]
    return Allocation(memory_id=record["memory_id"], offset=offset)


def _extra(record: Record | None) -> ExtraInfo | None:
    if record is None:
        return None
    return ExtraInfo(
        mutable_segment=record["mutable_data_segments_idx"],
        name=record["fully_qualified_name"],
        external=record["location"] == 1,
        device_type=record["device_type"],
        device_index=record["device_index"],
    )


def _tensor(record: Record) -> Tensor:
    return Tensor(
        dtype=DType(record["scalar_type"]),
        sizes=record["sizes"],
        dim_order=tuple(record["dim_order"]),
        data_index=record["data_buffer_idx"],
        allocation=_allocation(record["allocation_info"]),
        dynamism=schema.DYNAMISM.members[record["shape_dynamism"]],
        extra=_extra(record["extra_tensor_info"]),
        storage_offset=record["storage_offset"],
        requires_grad=record["requires_grad"],
        layout=record["layout"],
    )


VALUES: dict[str, Callable[[Record], Value]] = {
    "Null": lambda _: Null(),
    "Int": lambda record: Int(record["int_val"]),
    "Bool": lambda record: Bool(record["bool_val"]),
    "Double": lambda record: Double(record["double_val"]),
    "Tensor": _tensor,
    "String": lambda record: String(record["string_val"]),
    "IntList": lambda record: IntList(record["items"]),
    "DoubleList": lambda record: DoubleList(record["items"]),
    "BoolList": lambda record: BoolList(record["items"]),
    "TensorList": lambda record: TensorList(record["items"]),
    "OptionalTensorList": lambda record: OptionalTensorList(record["items"]),
}

INSTRUCTIONS: dict[str, Callable[[Record], Instruction]] = {
    "KernelCall": lambda fields: KernelCall(fields["op_index"], fields["args"]),
    "DelegateCall": lambda fields: DelegateCall(
        fields["delegate_index"], fields["args"]
    ),
    "MoveCall": lambda fields: MoveCall(fields["move_from"], fields["move_to"]),
    "JumpFalseCall": lambda fields: JumpFalseCall(
        fields["cond_value_index"], fields["destination_instruction"]
    ),
    "FreeCall": lambda fields: FreeCall(fields["value_index"]),
}

# What must be in a table, though the format lets it be absent.
REQUIRED = {
    "Tensor": ("sizes", "dim_order"),
    "String": ("string_val",),
    "IntList": ("items",),
    "DoubleList": ("items",),
    "BoolList": ("items",),
    "TensorList": ("items",),
    "OptionalTensorList": ("items",),
    "KernelCall": ("args",),
    "DelegateCall": ("args",),
}


def containers(record: Record | None) -> Containers | None:
    if record is None:
        return None
    return Containers(record["encoded_inp_str"] or "", record["encoded_out_str"] or "")


def frames(record: Record) -> tuple[Frame, ...]:
    return tuple(
        Frame(
            filename=frame["filename"] or "",
            line=frame["lineno"],
            name=frame["name"] or "",
            context=frame["context"] or "",
        )
        for frame in record["items"] or ()
    )
