"""A linked firmware becomes the bytes that it takes of each memory, piece by piece."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ember.boards import Board, Role
from ember.toolchain import elf, linker
from ember.toolchain.elf import Elf, Section

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
_BOOT, _MODEL, _ARENA = ".ember_boot", ".ember_model.", ".ember_arena."
_CODE = linker.code_section("")


@dataclass(frozen=True)
class Occupied:
    """One memory: the bytes from its start to the end of its last piece."""

    memory: str
    capacity: int
    used: int
    pieces: Mapping[str, int]  # bytes by what they are; without alignment


def of(firmware: Path, board: Board, stack_memory: str) -> tuple[Occupied, ...]:
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
            if section.name.startswith(_CODE):
                yield from self._copied(section, memory, f"code_{memory}", CODE)

    def _place(self, section: Section) -> tuple[str, str]:
        if section.name in _ROLES:
            role, what = _ROLES[section.name]
            return self.where[role], what
        if section.name.startswith(_MODEL):
            return section.name.removeprefix(_MODEL), "the model"
        if section.name.startswith(_ARENA):
            return section.name.removeprefix(_ARENA), REGIONS
        if section.name.startswith(_CODE):
            return section.name.removeprefix(_CODE), CODE
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
