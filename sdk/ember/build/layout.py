"""Sections of a firmware, at their addresses, become the gaps that alignment leaves.

Before the link their places follow from their sizes and alignments, in memories that
hold no code: there each section of the script begins where the one before has ended.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from ember.boards import Board
from ember.files.segments import align_up
from ember.toolchain import elf, linker
from ember.toolchain.elf import Elf, Section

PURPOSE = "alignment"
MODEL = "model"
_READ = ("vectors", "code", "rodata")  # roles of what the linker alone knows
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
