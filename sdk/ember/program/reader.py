"""The bytes of an ET12 file -> `Program`, checked.

0   u32 root offset     4  "ET12"
8   "eh00", u32 header length, u64 FlatBuffer size, u64 base of the segments and,
    from a length of 32 on, u64 size of the segments; absent without segment data
"""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ember import files, flat, schema, segments
from ember.errors import SdkError, problem_list
from ember.flat import Record
from ember.program import check
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
    Layout,
    Method,
    MoveCall,
    NamedData,
    Null,
    Operator,
    OptionalTensorList,
    PlannedDevice,
    Program,
    Segment,
    String,
    Tensor,
    TensorList,
    Value,
)
from ember.tensors import DType

HEADER_MAGIC = b"eh00"
HEADER_AT = 8
_HEADER = struct.Struct("<4sIQQ")
_SIZE_AT = HEADER_AT + _HEADER.size  # the last field, absent in old headers
_MOST_DIMENSIONS = 255

_DAMAGED = "the file is damaged or truncated: export or copy it again"


def read(path: Path) -> Program:
    """The program in a .pte file."""
    return parse(files.read(path), str(path))


def parse(data: bytes, what: str = "the program") -> Program:
    """The program in the bytes of a .pte; `what` names them in errors.

    Raises SdkError when they are no program, are damaged, or contradict themselves;
    then all contradictions are listed.
    """
    files.expect(data, files.Kind.PROGRAM, what)
    header = _header(data, what)
    record = flat.read(memoryview(data)[: header.flat_size], schema.PROGRAM, what)
    reader = _Reader(data, header, record)
    program = reader.program()
    found = reader.problems or check.problems(program)
    if found:
        raise SdkError(problem_list(f"{what} contradicts itself", found), hint=_DAMAGED)
    return program


# ---- the header --------------------------------------------------------------------


@dataclass(frozen=True)
class _Header:
    present: bool
    flat_size: int
    base: int  # of the segments


def _header(data: bytes, what: str) -> _Header:
    if data[HEADER_AT : HEADER_AT + 4] != HEADER_MAGIC:
        return _Header(present=False, flat_size=len(data), base=len(data))
    if len(data) < _SIZE_AT:
        raise SdkError(f"{what} ends inside its header", hint=_DAMAGED)
    _, length, flat_size, base = _HEADER.unpack_from(data, HEADER_AT)
    if length < _HEADER.size:
        raise SdkError(f"{what} has a header of {length} bytes", hint=_DAMAGED)
    size = 0
    if length > _HEADER.size and len(data) >= _SIZE_AT + 8:
        size = struct.unpack_from("<Q", data, _SIZE_AT)[0]
    end = max(flat_size, base + size)
    if end > len(data):
        raise SdkError(
            f"{what} is truncated: its header states {end} bytes, it has {len(data)}",
            hint=_DAMAGED,
        )
    if base == 0:
        return _Header(present=True, flat_size=flat_size, base=len(data))
    if base < flat_size:
        raise SdkError(f"{what} is malformed: segments inside its FlatBuffer", _DAMAGED)
    return _Header(present=True, flat_size=flat_size, base=base)


# ---- records -> values and instructions --------------------------------------------


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
    "KernelCall": lambda one: KernelCall(one["op_index"], one["args"]),
    "DelegateCall": lambda one: DelegateCall(one["delegate_index"], one["args"]),
    "MoveCall": lambda one: MoveCall(one["move_from"], one["move_to"]),
    "JumpFalseCall": lambda one: JumpFalseCall(
        one["cond_value_index"], one["destination_instruction"]
    ),
    "FreeCall": lambda one: FreeCall(one["value_index"]),
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


# ---- the whole ---------------------------------------------------------------------


class _Reader:
    """Builds the program and collects what stands in the way."""

    def __init__(self, data: bytes, header: _Header, record: Record) -> None:
        self._data = data
        self._header = header
        self._record = record
        self._uses: dict[int, list[str]] = defaultdict(list)
        self._cut: dict[int, bytes] = {}
        self.problems: list[str] = []

    def program(self) -> Program:
        record = self._record
        self._check_segments()
        plans = record["execution_plan"] or ()
        methods = tuple(self._method(index, one) for index, one in enumerate(plans))
        if self.problems:
            return Program(methods=())
        constants, ends = self._constants(methods)
        named = tuple(self._named(one) for one in record["named_data"] or ())
        return Program(
            methods=methods,
            constants=constants,
            mutable_data=self._mutable(methods),
            named_data=named,
            version=record["version"],
            layout=self._layout(constants, ends),
        )

    # -- segments

    def _check_segments(self) -> None:
        room = len(self._data) - self._header.base
        total = 0
        for index, one in enumerate(self._record["segments"] or ()):
            end = one["offset"] + one["size"]
            total += one["size"]
            if end > room:
                self.problems.append(
                    f"segment {index} ends at byte {self._header.base + end} of a "
                    f"file of {len(self._data)}"
                )
        if total > len(self._data):
            self.problems.append("its segments overlap")

    def _segment(self, index: int, use: str) -> bytes:
        places = self._record["segments"] or ()
        if index >= len(places):
            self.problems.append(f"{use} is in the missing segment {index}")
            return b""
        self._uses[index].append(use)
        if index not in self._cut:
            start = self._header.base + places[index]["offset"]
            self._cut[index] = self._data[start : start + places[index]["size"]]
        return self._cut[index]

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
                self._value(f"{where}: value {at}", one)
                for at, one in enumerate(record["values"] or ())
            ),
            inputs=record["inputs"] or (),
            outputs=record["outputs"] or (),
            chains=tuple(self._chain(where, one) for one in record["chains"] or ()),
            operators=tuple(
                Operator(one["name"] or "", one["overload"] or "")
                for one in record["operators"] or ()
            ),
            delegates=tuple(
                self._delegate(where, one) for one in record["delegates"] or ()
            ),
            planned_sizes=record["non_const_buffer_sizes"] or (),
            planned_devices=tuple(
                PlannedDevice(
                    one["buffer_idx"], one["device_type"], one["device_index"]
                )
                for one in record["non_const_buffer_device"] or ()
            ),
            containers=_containers(record["container_meta_type"]),
        )

    def _missing(self, where: str, tagged: tuple[str, Record] | None) -> bool:
        if tagged is None:
            self.problems.append(f"{where} has no kind")
            return True
        kind, record = tagged
        missing = [key for key in _REQUIRED.get(kind, ()) if record[key] is None]
        if missing:
            self.problems.append(f"{where} ({kind}): its {missing[0]} is missing")
        return bool(missing)

    def _value(self, where: str, record: Record) -> Value:
        tagged = record["val"]
        if self._missing(where, tagged):
            return Null()
        kind, content = tagged
        if kind == "Tensor" and len(content["sizes"]) > _MOST_DIMENSIONS:
            self.problems.append(f"{where} has {len(content['sizes'])} dimensions")
            return Null()
        return _VALUES[kind](content)

    def _chain(self, where: str, record: Record) -> Chain:
        if record["instructions"] is None:
            self.problems.append(f"{where}: its instructions are missing")
        trace = record["stacktrace"]
        return Chain(
            instructions=tuple(
                self._instruction(f"{where}: instruction {at}", one)
                for at, one in enumerate(record["instructions"] or ())
            ),
            inputs=record["inputs"] or (),
            outputs=record["outputs"] or (),
            stacktrace=None if trace is None else tuple(_frames(one) for one in trace),
        )

    def _instruction(self, where: str, record: Record) -> Instruction:
        tagged = record["instr_args"]
        if self._missing(where, tagged):
            return FreeCall(0)
        kind, content = tagged
        return _INSTRUCTIONS[kind](content)

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
            else self._segment(place["index"], f"delegate {name}"),
            inline=inline,
            compile_specs=tuple(
                CompileSpec(one["key"] or "", one["value"] or b"")
                for one in record["compile_specs"] or ()
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
    ) -> tuple[tuple[bytes, ...], list[tuple[int, int]]]:
        """Constants by index, and the gaps between them that show their alignment."""
        inline = self._record["constant_buffer"] or ()
        place = self._record["constant_segment"]
        offsets = (place["offsets"] or ()) if place is not None else ()
        if inline and offsets:
            self.problems.append("constants are both in a segment and inline")
        if inline:
            return tuple(one["storage"] or b"" for one in inline), []
        if not offsets:
            return (b"",), []
        needs: dict[int, int] = {}
        for method in methods:
            for _, tensor in method.tensors:
                if tensor.is_constant:
                    index = tensor.data_index
                    needs[index] = max(needs.get(index, 0), tensor.nbytes)
        data = self._segment(place["segment_index"], "constants")
        return self._pieces(data, offsets, needs, "constants")

    def _mutable(self, methods: Sequence[Method]) -> tuple[tuple[bytes, ...], ...]:
        found = []
        for number, place in enumerate(self._record["mutable_data_segments"] or ()):
            needs: dict[int, int] = {}
            for method in methods:
                for _, tensor in method.tensors:
                    home = tensor.extra.mutable_segment if tensor.extra else 0
                    if tensor.has_initial_state and home == number:
                        needs[tensor.data_index] = tensor.nbytes
            data = self._segment(place["segment_index"], "initial states")
            offsets = place["offsets"] or ()
            found.append(self._pieces(data, offsets, needs, "initial states")[0])
        return tuple(found)

    def _pieces(
        self, data: bytes, offsets: Sequence[int], needs: dict[int, int], what: str
    ) -> tuple[tuple[bytes, ...], list[tuple[int, int]]]:
        """Cut a segment at `offsets`. Entry 0 holds nothing.

        The format states no sizes: a piece has the bytes that its tensors need, or
        reaches to the next offset when no tensor names it.
        """
        starts = sorted({offset for offset in offsets if offset <= len(data)})
        following = dict(zip(starts, [*starts[1:], len(data)], strict=False))
        pieces: list[bytes] = [b""]
        gaps: list[tuple[int, int]] = []
        known: dict[tuple[int, int], bytes] = {}
        room, end = 2 * len(data), 0
        for index, offset in enumerate(offsets[1:], start=1):
            if offset > len(data):
                self.problems.append(
                    f"data {index} of the {what} starts at byte {offset}, "
                    f"its segment has {len(data)}"
                )
                break
            size = min(needs.get(index, following[offset] - offset), len(data) - offset)
            if (offset, size) not in known:
                room -= size
                if room < 0:
                    self.problems.append(f"its {what} overlap")
                    break
                known[offset, size] = data[offset : offset + size]
                if size and index in needs:
                    gaps.append((end, offset))
                end = offset + size if index in needs else following[offset]
            pieces.append(known[offset, size])
        return tuple(pieces), gaps

    def _named(self, record: Record) -> NamedData:
        key = record["key"]
        if not key:
            self.problems.append("an entry of the named data has no key")
        return NamedData(
            key or "", self._segment(record["segment_index"], f"named data {key}")
        )

    # -- layout

    def _layout(
        self, constants: Sequence[bytes], gaps: Sequence[tuple[int, int]]
    ) -> Layout:
        header = self._header
        places = self._record["segments"] or ()
        found = tuple(
            Segment(one["offset"], one["size"], self._use(index))
            for index, one in enumerate(places)
        )
        edges = (
            [(header.flat_size, header.base)] if header.base < len(self._data) else []
        )
        end = 0
        for one in found:
            if one.size:
                edges.append((end, one.offset))
            end = one.offset + one.size
        return Layout(
            has_header=header.present,
            file_size=len(self._data),
            flatbuffer_size=header.flat_size,
            segment_base=header.base if header.base < len(self._data) else 0,
            segments=found,
            inline_constants=bool(self._record["constant_buffer"]),
            segment_alignment=segments.alignment_of(edges, 128),
            constant_alignment=segments.alignment_of(gaps, 16),
        )

    def _use(self, index: int) -> str:
        uses = self._uses.get(index, [])
        if not uses:
            return "unused"
        more = f" and {len(uses) - 1} more" if len(uses) > 1 else ""
        return uses[0] + more
