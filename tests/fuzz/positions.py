"""The bytes of an Ember file -> where every field of its tables lies, with its path.

    execution_plan[0].values[3].val.sizes[1]      kind "scalar", 4 bytes
    execution_plan[0].values[3].val.sizes         kind "offset" of the field
    execution_plan[0].values[3].val.sizes#        kind "count" of the vector
    execution_plan[0].values[3].val?              kind "tag" of a union
    execution_plan[0].values[3]@                  kind "table": its offset to the vtable
    execution_plan[0].values[3]@size, @0          kind "vtable": sizes and slots

Used to craft files with one wrong field, and by the fuzzer to hit fields on purpose.
The file must be sound.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from ember.files import schema, xnnpack
from ember.files.flat import Enum, Scalar, Table, Text, Union, Vector

_CODES = {1: "B", 2: "H", 4: "I", 8: "Q"}


@dataclass(frozen=True)
class Position:
    path: str
    at: int
    width: int
    kind: str  # header, scalar, offset, count, tag, table, vtable, bytes


def root_of(data: bytes) -> Table:
    roots = {
        schema.PROGRAM_ID: schema.PROGRAM,
        schema.DATA_ID: schema.FLAT_TENSOR,
        schema.BUNDLE_ID: schema.BUNDLED_PROGRAM,
    }
    return roots[bytes(data[4:8])]


def walk(data: bytes) -> list[Position]:
    """Every position of a program, data file or bundle, its header first."""
    places = list(_header(data))
    places += _Walk(data).table(root_of(data), struct.unpack_from("<I", data, 0)[0], "")
    at = data.find(b"XH00")
    while at >= 0:
        places += _payload(data[at - 4 :], at - 4)
        at = data.find(b"XH00", at + 4)
    return places


def _payload(data: bytes, start: int) -> Iterator[Position]:
    """The header and FlatBuffer of an XNNPACK delegate, `start` bytes into the file."""
    path = f"$payload{start}"
    yield Position(f"{path}.magic", start + 4, 4, "header")
    yield Position(f"{path}.length", start + 8, 2, "header")
    for index, at in enumerate((10, 14, 18)):
        yield Position(f"{path}.field{index}", start + at, 4, "header")
    yield Position(f"{path}.size", start + 22, 8, "header")
    offset, size = xnnpack.flatbuffer(data)
    inside = data[offset : offset + size]
    root = struct.unpack_from("<I", inside, 0)[0]
    for position in _Walk(inside).table(xnnpack.GRAPH, root, path):
        yield replace(position, at=position.at + start + offset)


def _header(data: bytes) -> Iterator[Position]:
    yield Position("$root", 0, 4, "header")
    yield Position("$identifier", 4, 4, "header")
    if data[8:12] not in (b"eh00", b"FH01"):
        return
    yield Position("$magic", 8, 4, "header")
    yield Position("$length", 12, 4, "header")
    for index in range((struct.unpack_from("<I", data, 12)[0] - 8) // 8):
        yield Position(f"$field{index}", 16 + 8 * index, 8, "header")


class _Walk:
    def __init__(self, data: bytes) -> None:
        self._data = data

    def _read(self, at: int, width: int) -> int:
        return int(struct.unpack_from(f"<{_CODES[width]}", self._data, at)[0])

    def table(self, table: Table, at: int, path: str) -> Iterator[Position]:
        vtable = at - struct.unpack_from("<i", self._data, at)[0]
        size = self._read(vtable, 2)
        yield Position(f"{path}@", at, 4, "table")
        yield Position(f"{path}@size", vtable, 2, "vtable")
        yield Position(f"{path}@table_size", vtable + 2, 2, "vtable")
        for slot in range((size - 4) // 2):
            yield Position(f"{path}@{slot}", vtable + 4 + 2 * slot, 2, "vtable")
        for field, slot in zip(table.fields, table.slots, strict=True):
            place = self._slot(vtable, size, slot)
            name = f"{path}.{field.name}".lstrip(".")
            if isinstance(field.type, Union):
                tag = self._slot(vtable, size, slot - 1)
                yield from self._union(field.type, at, tag, place, name)
            elif place:
                yield from self._field(field.type, at + place, name)

    def _slot(self, vtable: int, size: int, slot: int) -> int:
        return self._read(vtable + 4 + 2 * slot, 2) if 4 + 2 * slot < size else 0

    def _union(
        self, kind: Union, at: int, tag: int, place: int, name: str
    ) -> Iterator[Position]:
        if tag:
            yield Position(f"{name}?", at + tag, 1, "tag")
        if tag and place:
            yield Position(name, at + place, 4, "offset")
            member = kind.tables[self._read(at + tag, 1) - 1]
            target = at + place + self._read(at + place, 4)
            yield from self.table(member, target, name)

    def _field(self, kind: Any, at: int, name: str) -> Iterator[Position]:
        if isinstance(kind, Scalar | Enum):
            base = kind.base if isinstance(kind, Enum) else kind
            yield Position(name, at, base.width, "scalar")
            return
        yield Position(name, at, 4, "offset")
        target = at + self._read(at, 4)
        if isinstance(kind, Table):
            yield from self.table(kind, target, name)
        elif isinstance(kind, Text):
            yield from self._bytes(target, name)
        elif isinstance(kind, Vector):
            yield from self._vector(kind, target, name)

    def _bytes(self, at: int, name: str) -> Iterator[Position]:
        count = self._read(at, 4)
        yield Position(f"{name}#", at, 4, "count")
        for index in range(min(count, 16)):
            yield Position(f"{name}[{index}]", at + 4 + index, 1, "bytes")

    def _vector(self, kind: Vector, at: int, name: str) -> Iterator[Position]:
        of = kind.of
        if isinstance(of, Scalar) and of.width == 1 and of.name == "uint8":
            yield from self._bytes(at, name)
            return
        yield Position(f"{name}#", at, 4, "count")
        for index in range(self._read(at, 4)):
            item = f"{name}[{index}]"
            if isinstance(of, Scalar):
                place = at + 4 + of.width * index
                yield Position(item, place, of.width, "scalar")
                continue
            place = at + 4 + 4 * index
            yield Position(item, place, 4, "offset")
            target = place + self._read(place, 4)
            if isinstance(of, Table):
                yield from self.table(of, target, item)
            else:
                yield from self._bytes(target, item)
