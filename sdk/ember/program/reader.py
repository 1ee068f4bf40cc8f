"""The bytes of an ET12 file -> `Program`, checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from ember import files
from ember.errors import SdkError, problem_list
from ember.files import flat, schema, segments
from ember.files.flat import Record
from ember.files.segments import Data
from ember.program import check, header, records
from ember.program.cut import Segments
from ember.program.header import Header
from ember.program.types import (
    Chain,
    CompileSpec,
    Delegate,
    FreeCall,
    Instruction,
    Layout,
    Method,
    NamedData,
    Null,
    Operator,
    PlannedDevice,
    Program,
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
    return _made(record["val"], records.VALUES)


def _instruction(record: Record) -> Instruction | Faulty:
    return _made(record["instr_args"], records.INSTRUCTIONS)


def _made(
    tagged: tuple[str, Record] | None, kinds: Mapping[str, Callable[[Record], Made]]
) -> Made | Faulty:
    if tagged is None:
        return Faulty("has no kind")
    kind, content = tagged
    missing = [key for key in records.REQUIRED.get(kind, ()) if content[key] is None]
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
    start = header.read(data, what)
    record = flat.read(
        memoryview(data)[: start.flat_size], schema.PROGRAM, what, makers=_MAKERS
    )
    reader = _Reader(data, start, record)
    program = reader.program()
    problems = reader.problems or check.problems(program)
    if problems:
        raise SdkError(
            problem_list(f"{what} contradicts itself", problems), hint=header.DAMAGED
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
            containers=records.containers(record["container_meta_type"]),
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
            else tuple(records.frames(frame_list) for frame_list in trace),
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
            segment_alignment=segments.alignment_of(edges, 128),
            constant_alignment=segments.alignment_of(gaps, 16),
        )
