"""Sections of a firmware become what its memories hold: bytes, order, gaps, moved code.

A linked firmware says how much of each memory it occupies, piece by piece. Before the
link, places follow from sizes and alignments in memories without the linker's own code:
each section of the script begins at the end of the one before. Kernels that `memory:
{code: ..}` of ember.yaml names move with all that they can execute in a run: their
function, those whose address they take, and everything that these call. So no code
there calls back into slower memory; constants of code stay where they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from itertools import pairwise
from pathlib import Path

from ember.boards import Board, Role
from ember.errors import SdkError
from ember.files.tensors import align_up
from ember.firmware.pack import Packed
from ember.firmware.stack.code import Members, size_of
from ember.model.steering import Steering
from ember.quoted import pattern
from ember.toolchain import elf, linker
from ember.toolchain.elf import Elf, Object, Section

# Output sections of linker scripts, by the role that places them; and what they are.
_ROLES: Mapping[str, tuple[Role, str]] = {
    ".ember_stack": ("stack", "the stack"),
    ".ember_vectors": ("vectors", "code"),
    ".text": ("code", "code"),
    ".rodata": ("rodata", "constants of code"),
    ".data": ("data", "variables"),
    ".ember_marks": ("data", "variables"),
    ".bss": ("data", "variables"),
}
REGIONS = "regions"
CODE = "code of kernels"
_BOOT, _MODEL_SECTION, _ARENA = ".ember_boot", ".ember_model.", ".ember_arena."
_CODE_SECTION = linker.code_section("")


@dataclass(frozen=True)
class Occupied:
    """One memory: the bytes from its start to the end of its last piece."""

    memory: str
    capacity: int
    used: int
    pieces: Mapping[str, int]  # bytes by what they are; without alignment


def occupied(firmware: Path, board: Board, stack_memory: str) -> tuple[Occupied, ...]:
    """Each memory of a board with a linker script.

    In `firmware` memories may overlap, and hold more than fits.
    """
    return _Sections(elf.read(firmware), board, stack_memory).memories()


class _Sections:
    def __init__(self, file: Elf, board: Board, stack_memory: str) -> None:
        self.file = file
        self.board = board
        self.where = {**linker.place(board), "stack": stack_memory}

    def memories(self) -> tuple[Occupied, ...]:
        ends = {of_board.name: of_board.base for of_board in self.board.memories}
        pieces: dict[str, dict[str, int]] = {name: {} for name in ends}
        for memory, what, start, size in self._pieces():
            if size:
                ends[memory] = max(ends[memory], start + size)
                pieces[memory][what] = pieces[memory].get(what, 0) + size
        return tuple(
            Occupied(
                of_board.name,
                of_board.size,
                ends[of_board.name] - of_board.base,
                pieces[of_board.name],
            )
            for of_board in self.board.memories
        )

    def _pieces(self) -> Iterator[tuple[str, str, int, int]]:
        """Memory, what it is, address, bytes: of the boot header, which may have no
        section, of sections and of initial values."""
        vectors = self.board.memory(self.where["vectors"])
        yield vectors.name, "boot header", vectors.base, linker.header_bytes(self.board)
        for section in self.file.sections:
            if not section.in_memory or section.name.startswith(_BOOT):
                continue
            memory, what = self._place(section)
            yield memory, what, section.address, self._size(section, memory)
            if section.name == ".data":
                yield from self._copied(section, memory, "data", "initial values")
            if section.name.startswith(_CODE_SECTION):
                yield from self._copied(section, memory, f"code_{memory}", CODE)

    def _place(self, section: Section) -> tuple[str, str]:
        if section.name in _ROLES:
            role, what = _ROLES[section.name]
            return self.where[role], what
        if section.name.startswith(_MODEL_SECTION):
            return section.name.removeprefix(_MODEL_SECTION), "the model"
        if section.name.startswith(_ARENA):
            return section.name.removeprefix(_ARENA), REGIONS
        if section.name.startswith(_CODE_SECTION):
            return section.name.removeprefix(_CODE_SECTION), CODE
        writes = section.flags & elf.SHF_WRITE
        role = "data" if writes else "rodata"
        return self.where[role], "variables" if writes else "constants of code"

    def _size(self, section: Section, memory: str) -> int:
        """Without the rest of the memory, which a process adds to its arena."""
        if self.board.port == "linux_user" and section.name.startswith(_ARENA):
            return self.file.address(f"__ember_arena_{memory}_end") - section.address
        return section.size

    def _copied(
        self, section: Section, memory: str, name: str, what: str
    ) -> Iterator[tuple[str, str, int, int]]:
        """Where a section lies until start-up copies it."""
        load = self.file.symbol(f"__ember_{name}_load")
        rodata = self.where["rodata"]
        if load is not None and rodata != memory and load.address != section.address:
            yield rodata, what, load.address, section.size


# ---- in the linker's order -----------------------------------------------------------


PURPOSE = "alignment"
MODEL = "model"
_READ = ("vectors", "code", "rodata")  # roles of what only the linker knows
_ALIGN = 16  # bytes
_NAMES = {
    ".ember_boot": "boot header",
    ".ember_vectors": "vectors",
    ".text": "code",
    ".rodata": "constants of code",
    ".ember_model": MODEL,
}


@dataclass(frozen=True)
class Piece:
    """Bytes of a memory: a section, or where its content lies until it is copied."""

    memory: str
    place: str
    purpose: str
    address: int
    size: int
    alignment: int = _ALIGN

    @property
    def end(self) -> int:
        return self.address + self.size


def gap_before(place: str) -> str:
    return f"before {place}"


def order(memory: str, *, lends: bool) -> list[str]:
    """The sections of a memory without code of the linker's, as the script has them;
    where a model lends memory, its regions follow it."""
    model, variables = f".ember_model.{memory}", [".ember_marks", ".bss"]
    rest = [*variables, model] if lends else [model, *variables]
    first = [".ember_stack", linker.code_section(memory), ".data"]
    return [*first, *rest, f".ember_arena.{memory}"]


def is_foreseen(board: Board, memory: str) -> bool:
    """Whether every section of a memory has a known size before the link."""
    where = linker.place(board)
    read = {where[role] for role in _READ if role in where}
    return board.port not in ("linux_user", "host") and memory not in read


def stacked(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """The pieces of one memory as a linker places them, in this order; `address` is
    that of the memory."""
    at = None
    for piece in pieces:
        at = piece.address if at is None else at
        start = align_up(at, max(piece.alignment, _ALIGN))
        if piece.size:
            at = start + piece.size
            yield Piece(piece.memory, piece.place, piece.purpose, start, piece.size)


def gaps(pieces: Iterable[Piece]) -> dict[tuple[str, str], int]:
    """Bytes by memory and place: what lies between two pieces."""
    ordered = sorted(pieces, key=lambda piece: (piece.memory, piece.address))
    return {
        (after.memory, gap_before(after.place)): after.address - before.end
        for before, after in pairwise(ordered)
        if after.memory == before.memory and after.address > before.end
    }


def linked(file: Elf, board: Board) -> Iterator[Piece]:
    """All that a firmware has in the memories of a board."""
    for section in file.sections:
        if section.in_memory and section.size:
            yield from _in_memory(board, section, section.address, section.name)
            load = _load_address(file, section)
            if load not in (None, section.address):
                yield from _in_memory(board, section, load, f"load of {section.name}")


def _load_address(file: Elf, section: Section) -> int | None:
    """Where the content of a section lies until start-up copies it."""
    names: Mapping[str, str] = {".data": "__ember_data_load"}
    code = section.name.removeprefix(linker.code_section(""))
    name = names.get(section.name, f"__ember_code_{code}_load")
    symbol = file.symbol(name)
    return None if symbol is None else symbol.address


def _in_memory(
    board: Board, section: Section, address: int, place: str
) -> Iterator[Piece]:
    copied = place != section.name
    for memory in board.memories:
        if memory.base <= address < memory.end:
            purpose = "copied at start" if copied else _purpose(section)
            yield Piece(memory.name, place, purpose, address, section.size)


def _purpose(section: Section) -> str:
    for start, purpose in _NAMES.items():
        if section.name.startswith(start):
            return purpose
    return "variables" if section.flags & elf.SHF_WRITE else "constants of code"


# ---- code that moves -----------------------------------------------------------------


_InputSection = tuple[Object, int]
_CODE_ALIGN = 16  # bytes; of the section that has the code
_RUN, _NODE = "ember_run_", "ember_xnnpack_"


@dataclass(frozen=True)
class Moved:
    """Sections of code that one memory gets, in the order in which they are linked,
    and what of them each kernel brought."""

    memory: str
    sections: tuple[_InputSection, ...]
    kernels: Mapping[str, int]  # bytes, without what an earlier one brought

    @property
    def patterns(self) -> list[str]:
        """Lines of a linker script."""
        lines = (
            f"*/{f'{source.archive}.a:' if source.archive else ''}"
            f"{pattern(source.name)}({source.section(index).name})"
            for source, index in self.sections
        )
        return list(dict.fromkeys(lines))


def moved_size(members: Members, kernels: Iterable[str]) -> int:
    """Bytes of all that these kernels bring to a memory, as it is linked."""
    sections = (
        section for kernel in kernels for section in code_below(members, kernel)
    )
    return size_of(members.in_order(dict.fromkeys(sections)), _CODE_ALIGN)


def moved_code(
    members: Members | None, packed: Packed, steering: Steering
) -> list[Moved]:
    """Raises SdkError if a word of `code` names no kernel of the firmware."""
    if members is None or not steering.code:
        return []
    taken: dict[_InputSection, None] = {}
    moved = []
    for memory, words in steering.code.items():
        before, brought = len(taken), {}
        for kernel in _kernels(words, packed):
            new = [
                section
                for section in code_below(members, kernel)
                if section not in taken
            ]
            taken |= dict.fromkeys(new)
            brought[kernel] = sum(source.section(index).size for source, index in new)
        sections = dict.fromkeys(list(taken)[before:])
        moved.append(Moved(memory, tuple(members.in_order(sections)), brought))
    return moved


def write_moved(script: Path, moved: Sequence[Moved]) -> None:
    """Puts the sections into a linker script that moves code to their memories."""
    if moved:
        text = script.read_text(encoding="utf-8")
        for code in moved:
            text = linker.with_code(text, code.memory, code.patterns)
        script.write_text(text, encoding="utf-8")


def _kernels(words: Iterable[str], packed: Packed) -> list[str]:
    """Those that the words name, by themselves or by their operator."""
    known = [
        (name, kernel) for name, kernels in packed.kernels.items() for kernel in kernels
    ]
    known += [(node, node) for node in sorted(packed.nodes)]
    chosen: dict[str, None] = {}
    problems = []
    for word in words:
        fits = [k for op, k in known if fnmatchcase(op, word) or fnmatchcase(k, word)]
        if not fits:
            near = get_close_matches(
                word, [name for pair in known for name in pair], n=1
            )
            problems.append(word + (f" (did you mean {near[0]}?)" if near else ""))
        chosen |= dict.fromkeys(fits)
    if problems:
        names = dict.fromkeys(kernel for _, kernel in known)
        raise SdkError(
            f"memory: code: the firmware has no kernel {', '.join(problems)}",
            hint=f"name operators or kernels, * for any letters: {', '.join(names)}",
        )
    return list(chosen)


def code_below(members: Members, kernel: str) -> Iterator[_InputSection]:
    """Code that a kernel can execute in a run, callers before what they call."""
    start = members.named(_RUN + kernel) or members.named(_NODE + kernel)
    if start is None:
        return
    seen = dict.fromkeys([(start.object, start.section)])
    waiting = list(seen)
    while waiting:
        key = waiting.pop()
        source, index = key
        if _is_code(key):
            yield key
        for relocation in source.relocations.get(index, {}).values():
            place = members.definition(source, relocation.symbol)
            if place is None:
                continue
            section = place.object, place.section
            if section not in seen and (_is_code(section) or _is_constant(section)):
                seen[section] = None
                waiting.append(section)


def _is_code(key: _InputSection) -> bool:
    return bool(key[0].section(key[1]).flags & elf.SHF_EXECINSTR)


def _is_constant(key: _InputSection) -> bool:
    section = key[0].section(key[1])
    return section.in_memory and not section.flags & elf.SHF_WRITE
