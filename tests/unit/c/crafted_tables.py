"""Tables that share vtables, at the end of a file -> what the readers must answer.

A field is valid when it is in the file. The size of the table that a vtable states
says nothing: writers share a vtable between tables of different sizes.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

import positions
import programs

from ember import program

PLAN = "execution_plan[0]"


@dataclass(frozen=True)
class TableCase:
    name: str
    data: bytes
    stage: str  # where reading it ends: open, load, or execute when it is sound

    @property
    def sound(self) -> bool:
        return self.stage == "execute"


class _File:
    """A file under change; places are those of its first state."""

    def __init__(self, data: bytes) -> None:
        self.data = bytearray(data)
        self._places = {position.path: position.at for position in positions.walk(data)}

    def word(self, path: str) -> int:
        return int(struct.unpack_from("<I", self.data, self._places[path])[0])

    def vtable(self, table: str) -> int:
        return self._places[f"{table}@size"]

    def state_sizes(self, size: int) -> None:
        for path, at in self._places.items():
            if path.endswith("@table_size"):
                struct.pack_into("<H", self.data, at, size)

    def set_slot(self, table: str, slot: int, offset: int) -> None:
        struct.pack_into("<H", self.data, self._places[f"{table}@{slot}"], offset)

    def move_table(self, table: str, kept: int) -> None:
        """The offset to a table leads to a copy of its first bytes, which end the file.
        They have the vtable that the table had."""
        old = self._places[f"{table}@"]
        new = len(self.data) + -len(self.data) % 8 + (old & 4)
        copy = bytearray(self.data[old : old + kept])
        struct.pack_into("<i", copy, 0, new - self.vtable(table))
        self.data[len(self.data) :] = bytes(new - len(self.data)) + copy
        where = self._places[table]
        struct.pack_into("<I", self.data, where, new - where)

    def move_vtable(self, table: str, cut: int) -> None:
        """A copy of the vtable ends the file, without its last bytes."""
        old, table_at = self.vtable(table), self._places[f"{table}@"]
        size = struct.unpack_from("<H", self.data, old)[0]
        struct.pack_into("<i", self.data, table_at, table_at - len(self.data))
        self.data += self.data[old : old + size - cut]


def _file(build: str) -> _File:
    return _File(program.write(programs.PROGRAMS[build]()))


def collect() -> Iterator[TableCase]:
    yield from _stated_sizes()
    yield from _ends()
    yield from _cut_short()
    yield from _vtables_at_the_end()
    yield _past_16_bits()


def _stated_sizes() -> Iterator[TableCase]:
    for build in ("add", "kinds", "constants", "named"):
        for size in (0, 3, 4, 5, 8, 0xFFFF):
            file = _file(build)
            file.state_sizes(size)
            yield TableCase(f"stated_{build}_{size}", bytes(file.data), "execute")


# Tables of scalars only, so that a copy is as good; and how wide the last of them is.
_SCALARS = {
    "allocation": ("add", f"{PLAN}.values[2].val.allocation_info", 4),
    "int": ("scalars", f"{PLAN}.values[0].val", 8),
    "bool": ("scalars", f"{PLAN}.values[2].val", 1),
    "double": ("scalars", f"{PLAN}.values[1].val", 8),
}


def _ends() -> Iterator[TableCase]:
    """The last field ends with the file, or a byte or more behind it."""
    for name, (build, table, width) in _SCALARS.items():
        file = _file(build)
        slots = struct.unpack_from("<H", file.data, file.vtable(table))[0] // 2
        vtable = struct.unpack_from(f"<{slots}H", file.data, file.vtable(table))
        end = max(vtable[2:]) + width
        for cut in sorted({0, 1, width // 2, width}):
            file = _file(build)
            file.move_table(table, end - cut)
            yield TableCase(
                f"end_{name}_{cut}", bytes(file.data), "load" if cut else "execute"
            )


def _cut_short() -> Iterator[TableCase]:
    """Nothing but the head of a table, whose vtable others of its kind have shown."""
    for name, table in (
        ("value", f"{PLAN}.values[2]"),
        ("tensor", f"{PLAN}.values[2].val"),
        ("call", f"{PLAN}.chains[0].instructions[0].instr_args"),
        ("instruction", f"{PLAN}.chains[0].instructions[0]"),
        ("operator", f"{PLAN}.operators[0]"),
    ):
        file = _file("add")
        file.move_table(table, 4)
        yield TableCase(f"head_of_{name}", bytes(file.data), "load")


def _vtables_at_the_end() -> Iterator[TableCase]:
    for name, table in (
        ("tensor", f"{PLAN}.values[2].val"),
        ("allocation", f"{PLAN}.values[2].val.allocation_info"),
        ("plan", PLAN),
    ):
        for cut in (0, 1, 2):
            file = _file("add")
            file.state_sizes(4)
            file.move_vtable(table, cut)
            ends = "load" if cut else "execute"
            yield TableCase(f"vtable_end_{name}_{cut}", bytes(file.data), ends)


def _past_16_bits() -> TableCase:
    """A number that starts 65,532 bytes into its table: its end does not fit
    16 bits, and is 4 bytes behind the file."""
    file = _file("scalars")
    table = f"{PLAN}.values[1].val"
    file.move_table(table, 4)
    file.data += bytes(65532)
    file.set_slot(table, 0, 65532)
    return TableCase("past_16_bits", bytes(file.data), "load")
