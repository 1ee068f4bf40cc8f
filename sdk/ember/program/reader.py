"""The bytes of an ET12 file -> `Program`, checked.

Each table of the FlatBuffer becomes the dataclass of its kind.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from ember import files
from ember.errors import SdkError, problem_list
from ember.files import flat, schema, tensors
from ember.files.flat import Record
from ember.files.tensors import Data, DType
from ember.program import check
from ember.program.segments import (
    DAMAGED,
    Header,
    Layout,
    NamedData,
    Segments,
    read_header,
)
from ember.program.types import (
    Allocation,
    Bool,
    BoolList,
    Chain,
    CompileSpec,
    Containers,
    Delegate,
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
    Method,
    MoveCall,
    Null,
    Operator,
    OptionalTensorList,
    PlannedDevice,
    Program,
    String,
    Tensor,
    TensorList,
    Value,
)

_MOST_DIMENSIONS = 255
Made = TypeVar("Made")


@dataclass(frozen=True)
class Faulty:
    """A table of which nothing can be made."""

    problem: str  # behind its name: "has no kind"


def _value(record: Record) -> Value | Faulty:
    """Of an EValue."""
    return _made(record["val"], _VALUES)


def _instruction(record: Record) -> Instruction | Faulty:
    return _made(record["instr_args"], _INSTRUCTIONS)


def _made(
    tagged: tuple[str, Record] | None, kinds: Mapping[str, Callable[[Record], Made]]
) -> Made | Faulty:
    if tagged is None:
        return Faulty("has no kind")
    kind, content = tagged
    missing = [key for key in _REQUIRED.get(kind, ()) if content[key] is None]
    if missing:
        return Faulty(f"({kind}): its {missing[0]} is missing")
    if kind == "Tensor" and len(content["sizes"]) > _MOST_DIMENSIONS:
        return Faulty(f"has {len(content['sizes'])} dimensions")
    return kinds[kind](content)


# Of these a large program has most; what they become takes less memory.
_MAKERS = {schema.EVALUE: _value, schema.INSTRUCTION: _instruction}


def read(path: Path) -> Program:
    """The program in a .pte file."""
    return parse(files.read(path), str(path))


def parse(data: bytes, what: str = "the program") -> Program:
    """The program in the bytes of a .pte; `what` names them in errors.

    Raises SdkError when they are no program, are damaged, or contradict themselves;
    then all contradictions are listed.
    """
    files.expect(data, files.Kind.PROGRAM, what)
    header = read_header(data, what)
    record = flat.read(
        memoryview(data)[: header.flat_size], schema.PROGRAM, what, makers=_MAKERS
    )
    reader = _Reader(data, header, record)
    program = reader.program()
    problems = reader.problems or check.problems(program)
    if problems:
        raise SdkError(
            problem_list(f"{what} contradicts itself", problems), hint=DAMAGED
        )
    return program


class _Reader:
    """Builds the program and collects what stands in the way."""

    def __init__(self, data: bytes, header: Header, record: Record) -> None:
        self._data = data
        self._header = header
        self._record = record
        self.problems: list[str] = []
        listed = record["segments"] or ()
        self._segments = Segments(data, header.base, listed, self.problems)

    def program(self) -> Program:
        record = self._record
        self._segments.check()
        plans = record["execution_plan"] or ()
        methods = tuple(self._method(index, plan) for index, plan in enumerate(plans))
        if self.problems:
            return Program(methods=())
        constants, gaps = self._constants(methods)
        named = tuple(self._named(entry) for entry in record["named_data"] or ())
        return Program(
            methods=methods,
            constants=constants,
            mutable_data=self._mutable(methods),
            named_data=named,
            version=record["version"],
            layout=self._layout(gaps),
        )

    # -- methods

    def _method(self, index: int, record: Record) -> Method:
        name = record["name"]
        where = f"method {name!r}" if name else f"method {index}"
        for field in ("name", "values", "inputs", "outputs", "chains"):
            if record[field] is None:
                self.problems.append(f"{where}: its {field} are missing")
        return Method(
            name=name or "",
            values=tuple(
                self._sound(f"{where}: value {at}", value, Null())
                for at, value in enumerate(record["values"] or ())
            ),
            inputs=record["inputs"] or (),
            outputs=record["outputs"] or (),
            chains=tuple(self._chain(where, chain) for chain in record["chains"] or ()),
            operators=tuple(
                Operator(operator["name"] or "", operator["overload"] or "")
                for operator in record["operators"] or ()
            ),
            delegates=tuple(
                self._delegate(where, delegate)
                for delegate in record["delegates"] or ()
            ),
            planned_sizes=record["non_const_buffer_sizes"] or (),
            planned_devices=tuple(
                PlannedDevice(
                    buffer["buffer_idx"], buffer["device_type"], buffer["device_index"]
                )
                for buffer in record["non_const_buffer_device"] or ()
            ),
            containers=_containers(record["container_meta_type"]),
        )

    def _sound(self, where: str, read: Made | Faulty, instead: Made) -> Made:
        """What was made of a table, or something `instead` if it is faulty."""
        if isinstance(read, Faulty):
            self.problems.append(f"{where} {read.problem}")
            return instead
        return read

    def _chain(self, where: str, record: Record) -> Chain:
        if record["instructions"] is None:
            self.problems.append(f"{where}: its instructions are missing")
        trace = record["stacktrace"]
        return Chain(
            instructions=tuple(
                self._sound(f"{where}: instruction {at}", instruction, FreeCall(0))
                for at, instruction in enumerate(record["instructions"] or ())
            ),
            inputs=record["inputs"] or (),
            outputs=record["outputs"] or (),
            stacktrace=None
            if trace is None
            else tuple(_frames(frame_list) for frame_list in trace),
        )

    def _delegate(self, where: str, record: Record) -> Delegate:
        name = record["id"]
        place = record["processed"]
        if not name or place is None:
            self.problems.append(f"{where}: a delegate has no id or no data")
            return Delegate("", b"")
        inline = place["location"] == 0
        return Delegate(
            id=name,
            data=self._inline(where, name, place["index"])
            if inline
            else bytes(self._segments.cut(place["index"], f"delegate {name}")),
            inline=inline,
            compile_specs=tuple(
                CompileSpec(spec["key"] or "", spec["value"] or b"")
                for spec in record["compile_specs"] or ()
            ),
        )

    def _inline(self, where: str, name: str, index: int) -> bytes:
        blobs = self._record["backend_delegate_data"] or ()
        if index >= len(blobs):
            self.problems.append(
                f"{where}: delegate {name} names inline data {index} of {len(blobs)}"
            )
            return b""
        data: bytes = blobs[index]["data"] or b""
        return data

    # -- data

    def _constants(
        self, methods: Sequence[Method]
    ) -> tuple[tuple[Data, ...], list[tuple[int, int]]]:
        """Constants by index, and the gaps between them that show their alignment."""
        inline = self._record["constant_buffer"] or ()
        place = self._record["constant_segment"]
        offsets = (place["offsets"] or ()) if place is not None else ()
        if inline and offsets:
            self.problems.append("constants are both in a segment and inline")
        if inline:
            return tuple(entry["storage"] or b"" for entry in inline), []
        if not offsets:
            return (b"",), []
        needs: dict[int, int] = {}
        for method in methods:
            for _, tensor in method.tensors:
                if tensor.is_constant:
                    index = tensor.data_index
                    needs[index] = max(needs.get(index, 0), tensor.nbytes)
        return self._segments.pieces(
            place["segment_index"], offsets, needs, "constants"
        )

    def _mutable(self, methods: Sequence[Method]) -> tuple[tuple[Data, ...], ...]:
        decoded = []
        for number, place in enumerate(self._record["mutable_data_segments"] or ()):
            needs: dict[int, int] = {}
            for method in methods:
                for _, tensor in method.tensors:
                    home = tensor.extra.mutable_segment if tensor.extra else 0
                    if tensor.has_initial_state and home == number:
                        needs[tensor.data_index] = tensor.nbytes
            index, offsets = place["segment_index"], place["offsets"] or ()
            pieces, _ = self._segments.pieces(index, offsets, needs, "initial states")
            decoded.append(pieces)
        return tuple(decoded)

    def _named(self, record: Record) -> NamedData:
        key = record["key"]
        if not key:
            self.problems.append("an entry of the named data has no key")
        return NamedData(
            key or "", self._segments.cut(record["segment_index"], f"named data {key}")
        )

    # -- layout

    def _layout(self, gaps: Sequence[tuple[int, int]]) -> Layout:
        header = self._header
        listed = self._segments.segments()
        edges = (
            [(header.flat_size, header.base)] if header.base < len(self._data) else []
        )
        end = 0
        for segment in listed:
            if segment.size:
                edges.append((end, segment.offset))
            end = segment.offset + segment.size
        return Layout(
            has_header=header.present,
            file_size=len(self._data),
            flatbuffer_size=header.flat_size,
            segment_base=header.base if header.base < len(self._data) else 0,
            segments=listed,
            inline_constants=bool(self._record["constant_buffer"]),
            segment_alignment=tensors.alignment_of(edges, 128),
            constant_alignment=tensors.alignment_of(gaps, 16),
        )


# ---- tables of the FlatBuffer --------------------------------------------------------


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


_VALUES: dict[str, Callable[[Record], Value]] = {
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

_INSTRUCTIONS: dict[str, Callable[[Record], Instruction]] = {
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
_REQUIRED = {
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


def _containers(record: Record | None) -> Containers | None:
    if record is None:
        return None
    return Containers(record["encoded_inp_str"] or "", record["encoded_out_str"] or "")


def _frames(record: Record) -> tuple[Frame, ...]:
    return tuple(
        Frame(
            filename=frame["filename"] or "",
            line=frame["lineno"],
            name=frame["name"] or "",
            context=frame["context"] or "",
        )
        for frame in record["items"] or ()
    )
