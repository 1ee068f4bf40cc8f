"""What a firmware needs of each memory: planned before it is linked, then compared.

The rows of a certificate are purposes: activations, scratch, method arenas, inputs and
outputs, the stack, variables. Their bytes come from the plan and from the objects,
which are placed as the linker will place them. The linked image must agree byte for
byte.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from ember.boards import Board, Role
from ember.errors import SdkError, problem_list
from ember.firmware import folder as build_folder
from ember.firmware import layout, pack
from ember.firmware.layout import Moved
from ember.firmware.stack import image, ports, thumb
from ember.firmware.stack.bound import Bound, CallGraph, StackError, UnknownBoundError
from ember.firmware.stack.code import Members, size_of
from ember.firmware.stack.ports import Interrupts
from ember.plan.room import Plan
from ember.toolchain import elf, linker
from ember.toolchain.compiler import Libraries
from ember.toolchain.elf import Elf

_PURPOSES: Mapping[Role, str] = {
    "planned": "activations",
    "weights": "copies of constants",
    "temp": "scratch",
    "method": "method arena",
    "io": "inputs and outputs",
}
_ALIGN = 16  # bytes
# Output sections of variables: their purpose, the input sections that the script
# collects there (! is the exception), and what their ends are aligned to.
_VARIABLES: Mapping[str, tuple[str, str, int]] = {
    ".data": ("data", ".data .data.* .sdata .sdata.* .got .got.plt", _ALIGN),
    ".ember_marks": ("bss", ".bss.ember_marks", 1),
    ".bss": ("bss", "!.bss.ember_marks .bss .bss.* .sbss .sbss.* .scommon*", _ALIGN),
}


@dataclass(frozen=True)
class CertificateRow:
    """Bytes for one purpose; `place` is the section or the symbol that has them."""

    memory: str
    purpose: str
    place: str
    planned: int
    linked: int | None = None
    lent: bool = False  # shared with the model: payloads that are not read any more
    foreseen: bool = True  # False: only the link tells, and `planned` is its figure


@dataclass(frozen=True)
class StackSize:
    """Bytes to reserve for the stack, and what is known of the need."""

    bytes: int
    bound: Bound | None  # None: the port has none, or `unproven` says why
    unproven: str = ""

    def to_json(self) -> dict[str, Any]:
        bound = self.bound.to_json() if self.bound else {"bound": None}
        reason = {"unproven": self.unproven} if self.unproven else {}
        return {"reserved": self.bytes, **bound, **reason}


@dataclass(frozen=True)
class Certificate:
    board: Board
    rows: tuple[CertificateRow, ...]
    stack: StackSize
    work: Mapping[str, Any] = field(default_factory=dict)  # work.py

    def to_json(self) -> dict[str, Any]:
        return {
            "board": self.board.name,
            "rows": [asdict(row) for row in self.rows],
            "stack": self.stack.to_json(),
            "work": self.work,
        }

    def write(self, folder: Path) -> None:
        text = json.dumps(self.to_json(), indent=2)
        (folder / build_folder.CERTIFICATE).write_text(f"{text}\n", encoding="utf-8")


def first_stack(board: Board) -> int:
    """Bytes to plan with before any code is compiled."""
    return linker.LEAST_STACK if ports.is_bounded(board) else linker.DEFAULT_STACK


def stack_size(
    libs: Libraries,
    graph: CallGraph | None,
    wanted: int | None,
    *,
    far: bool = False,
    declared: Interrupts | None = None,
) -> StackSize:
    """The stack of a firmware.

    `wanted` is the user's wish; with `far` calls, what a linker adds to them counts;
    `declared` are handlers of the application. StackError when the wish is less than
    the bound, or when there is neither.
    """
    if graph is None:
        return StackSize(wanted or linker.DEFAULT_STACK, None)
    try:
        bound = ports.bound(libs, graph, declared or Interrupts())
    except UnknownBoundError as error:
        if wanted is None:
            raise
        return StackSize(wanted, None, str(error))
    core = libs.board.core
    if far and core is not None and core.arch == "armv6-m":
        bound = bound.deeper("a far call", thumb.VENEER_PUSHES)
    least = bound.total + ports.floor(libs)
    if wanted is not None and wanted < least:
        raise StackError(
            f"--stack {wanted} is {least - wanted:,} bytes less than the stack may"
            " need",
            hint=f"the deepest calls, in bytes: {bound.path_text()};"
            f"{_handlers_text(bound)} an exception: {bound.exception}; without"
            f" --stack, Ember reserves {ports.size(libs, bound):,} bytes",
        )
    return StackSize(wanted or ports.size(libs, bound), bound)


def _handlers_text(bound: Bound) -> str:
    names = (f"{level.handler} {level.bytes}" for level in bound.levels)
    return f" handlers: {' > '.join(names)};" if bound.levels else ""


# ---- planned -------------------------------------------------------------------------


def planned(
    plans: Sequence[Plan],
    members: Members | None,
    stack: StackSize,
    moved: Sequence[Moved] = (),
) -> Certificate:
    """The certificate before the link; `members` are what will be linked, if known, and
    `moved` the code among them that has a memory of its own."""
    board = plans[0].board
    stack = replace(stack, bytes=plans[0].stack)  # what other builds of it needed, too
    rows = [*_regions(plans)]
    if members is not None:
        rows = [row for row in rows if _is_used(row, members)]
        where = linker.place(board, {"stack": stack.bytes})
        size = linker.stack_bytes(stack.bytes)
        rows += _arena_gaps(board, members, rows)
        rows.append(
            CertificateRow(plans[0].stack_memory, "stack", ".ember_stack", size)
        )
        for place, (purpose, patterns, end) in _VARIABLES.items():
            total = _placed(members, patterns, end)
            rows.append(CertificateRow(where["data"], purpose, place, total))
        for code in moved:
            total = size_of(members.in_order(dict.fromkeys(code.sections)), _ALIGN)
            place = linker.code_section(code.memory)
            rows.append(CertificateRow(code.memory, layout.CODE, place, total))
        rows += _models(board, members)
        rows += _gaps(board, members, rows)
    return Certificate(board, tuple(rows), stack)


def _is_used(row: CertificateRow, members: Members) -> bool:
    """Whether an application gets to the region, so that the linker keeps it."""
    sections = (source.section(index).name for source, index in members.kept)
    if row.lent:
        return any(name.startswith(".ember_model.") for name in sections)
    ends = (f".{row.place}", ".rest")  # of the latter there is one
    return any(
        name.startswith(".ember_arena.") and name.endswith(ends) for name in sections
    )


def _regions(plans: Sequence[Plan]) -> Iterator[CertificateRow]:
    regions = {region.name: region for plan in plans for region in plan.regions}
    for region in regions.values():
        purpose, place = _PURPOSES[region.role], region.name
        if region.lent:
            what = f"{purpose} in place of payloads"
            yield CertificateRow(region.memory, what, place, region.lent, lent=True)
            place = pack.rest_of(region.name)
        if region.added:
            yield CertificateRow(region.memory, purpose, place, region.added)


def _arena_gaps(
    board: Board, members: Members, rows: Sequence[CertificateRow]
) -> Iterator[CertificateRow]:
    """Bytes that alignment adds to the regions of each memory."""
    if board.port == "linux_user":
        return  # the section takes the rest of the memory
    for memory in board.memories:
        if memory.writable:
            place = f".ember_arena.{memory.name}"
            total = _placed(members, f"{place} {place}.*", _ALIGN)
            used = sum(
                row.planned
                for row in rows
                if row.memory == memory.name and not row.lent
            )
            yield CertificateRow(memory.name, "alignment", place, total - used)


def _models(board: Board, members: Members) -> Iterator[CertificateRow]:
    for place, patterns in _model_sections(board).items():
        total = _placed(members, patterns, 1)
        memory = place.removeprefix(".ember_model.")
        if total:
            yield CertificateRow(memory, layout.MODEL, place, total)


def _model_sections(board: Board) -> dict[str, str]:
    """Output sections of models, and what the script collects there."""
    sections: dict[str, str] = {}
    for memory, first in linker.model_memories(board):
        name = f".ember_model.{memory}"
        sections[name] = f"{first}{name} {name}.*"
    return sections


def _gaps(
    board: Board, members: Members, rows: Sequence[CertificateRow]
) -> Iterator[CertificateRow]:
    """Bytes that alignment adds between the sections of memories without code."""
    collected = {place: words for place, (_, words, _) in _VARIABLES.items()}
    collected |= _model_sections(board)
    collected |= {
        f".ember_arena.{memory.name}": f".ember_arena.{memory.name}*"
        for memory in board.memories
    }
    for memory in board.memories:
        if not layout.is_foreseen(board, memory.name):
            continue
        inside = [row for row in rows if row.memory == memory.name and not row.lent]
        sizes: dict[str, int] = {}
        for row in inside:
            place = (
                row.place
                if row.place.startswith(".")
                else f".ember_arena.{memory.name}"
            )
            sizes[place] = sizes.get(place, 0) + row.planned
        pieces = [
            layout.Piece(
                memory.name, place, "", memory.base, sizes.get(place, 0), align
            )
            for place in layout.order(memory.name, lends=any(row.lent for row in rows))
            for align in [_alignment(members, collected.get(place, ""))]
        ]
        for (name, place), size in layout.gaps(layout.stacked(pieces)).items():
            yield CertificateRow(name, layout.PURPOSE, place, size)


def _alignment(members: Members, patterns: str) -> int:
    """The largest of the sections with such names."""
    return max(
        (
            object_.section(index).alignment
            for object_, index in members.kept
            if _matches(object_.section(index).name, patterns)
        ),
        default=1,
    )


def _placed(members: Members, patterns: str, end: int) -> int:
    """Bytes of an output section that collects the sections with such names."""
    return size_of(
        (
            (object_, index)
            for object_, index in members.in_order(members.kept)
            if _matches(object_.section(index).name, patterns)
        ),
        end,
    )


def _matches(name: str, patterns: str) -> bool:
    words = patterns.split()
    return f"!{name}" not in words and any(
        fnmatchcase(name, pattern) for pattern in words
    )


# ---- linked --------------------------------------------------------------------------


def linked(
    planned: Certificate, firmware: Path, graph: CallGraph | None
) -> Certificate:
    """The certificate with the linked bytes; SdkError when they are not as planned."""
    firmware_sections = _Linked(planned.board, elf.read(firmware))
    rows = tuple(
        replace(row, linked=firmware_sections.bytes_of(row))
        for row in planned.rows
        if not firmware_sections.is_left_out(row)
    )
    rows += tuple(firmware_sections.others(rows))
    problems = [
        f"{row.place} ({row.purpose}) has {row.linked or 0:,} bytes in {row.memory},"
        f" but {row.planned:,} were planned"
        for row in rows
        if row.linked != row.planned
    ]
    if planned.board.port != "host":
        problems += firmware_sections.unplanned(rows)
    if graph is not None and not planned.stack.unproven:
        problems += image.differences(graph, firmware)
    if problems:
        raise SdkError(
            problem_list(f"{firmware.name} differs from its plan", problems, shown=5)
        )
    return replace(planned, rows=rows)


def _told(memory: str, purpose: str, place: str, size: int) -> CertificateRow:
    return CertificateRow(memory, purpose, place, size, size, foreseen=False)


class _Linked:
    """Sections and symbols of a firmware by memory."""

    def __init__(self, board: Board, file: Elf) -> None:
        self.board = board
        self.file = file
        self._sections = {
            section.name: section for section in file.sections if section.in_memory
        }
        in_memories = board.port != "host"
        self._pieces = list(layout.linked(file, board)) if in_memories else []
        self._gaps = layout.gaps(self._pieces)

    def is_left_out(self, row: CertificateRow) -> bool:
        """Whether an application on the host never gets to the region; elsewhere, the
        members tell before the link."""
        return self.board.port == "host" and self.file.symbol(row.place) is None

    def bytes_of(self, row: CertificateRow) -> int | None:
        if row.place.startswith(layout.gap_before("")):
            return self._gaps.get((row.memory, row.place), 0)
        section = self._sections.get(row.place)
        if row.purpose == "alignment":
            inside = self._regions_in(row.place)
            return (section.size if section else 0) - inside
        if section is not None:
            return section.size if self._is_in(section.address, row.memory) else None
        symbol = self.file.symbol(row.place)
        if symbol is None:
            return 0 if row.place.startswith(".") else None
        return symbol.size if self._is_in(symbol.address, row.memory) else None

    def others(self, rows: Iterable[CertificateRow]) -> Iterator[CertificateRow]:
        """What no row has: code and constants, and the gaps beside them."""
        known = {(row.memory, row.place) for row in rows}
        for piece in self._pieces:
            read_only = piece.place.startswith("load of ")
            section = self._sections.get(piece.place)
            read_only |= section is not None and not section.flags & elf.SHF_WRITE
            if read_only and (piece.memory, piece.place) not in known:
                yield _told(piece.memory, piece.purpose, piece.place, piece.size)
        for (memory, place), size in self._gaps.items():
            if (memory, place) not in known:
                row = _told(memory, layout.PURPOSE, place, size)
                yield (
                    replace(row, planned=0, foreseen=True)
                    if layout.is_foreseen(self.board, memory)
                    else row
                )

    def _regions_in(self, name: str) -> int:
        """Bytes of the objects in a section."""
        return sum(
            symbol.size
            for symbol in self.file.symbols
            if symbol.kind == elf.STT_OBJECT
            and self.file.sections[symbol.section].name == name
        )

    def _is_in(self, address: int, memory: str) -> bool:
        if self.board.port == "host":
            return True
        memory_of_board = self.board.memory(memory)
        return (
            memory_of_board.base <= address < memory_of_board.end
            or address == memory_of_board.end
        )

    def unplanned(self, rows: Iterable[CertificateRow]) -> Iterator[str]:
        """Sections in writable memory that no row covers."""
        known = {row.place for row in rows}
        for section in self._sections.values():
            memory = self._memory_of(section.address)
            if not section.size or section.name in known or memory is None:
                continue
            writes = section.flags & elf.SHF_WRITE
            if writes and not section.name.startswith((".ember_arena", ".ember_model")):
                yield (
                    f"{section.name} takes {section.size:,} bytes of {memory},"
                    " but none were planned"
                )

    def _memory_of(self, address: int) -> str | None:
        for memory in self.board.memories:
            if memory.writable and memory.base <= address < memory.end:
                return memory.name
        return None
