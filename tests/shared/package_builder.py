"""Records become FlatBuffers through the package flatbuffers, whichever is installed.

    python package_builder.py VERSION [--as-ember] PROGRAM... FOLDER

writes the same programs into the folder, if that is the package's version: as exporters
write them, or as the SDK does.

What exporters write depends on it: before 25.12.19 it shares vtables between tables of
different sizes.
"""

from __future__ import annotations

import struct
import sys
from pathlib import Path
from typing import Any
from unittest import mock

import flatbuffers
from flatbuffers import number_types

from ember import program
from ember.files import flat, flat_writer
from ember.files.flat import U8, Enum, Scalar, Table, Text, Union, Vector

MOST_SHARED = 24  # bytes
_NAMES = {"float": "float32", "double": "float64"}


def write(
    record: flat.Record,
    root: Table,
    identifier: bytes,
    *,
    aligns: dict[str, int] | None = None,
) -> flat_writer.Written:
    """What ember.files.flat_writer.write() is, by the package."""
    builder = flatbuffers.Builder(1024)
    builder.Finish(_Records(builder, aligns or {}).table(root, record), identifier)
    return flat_writer.Written(bytes(builder.Output()), int(builder.minalign))


class _Records:
    def __init__(self, builder: Any, aligns: dict[str, int]) -> None:
        self._builder = builder
        self._aligns = aligns
        self._shared: dict[tuple[str, bytes], int] = {}

    def table(self, table: Table, record: flat.Record) -> int:
        scalars: list[tuple[int, Scalar, Any]] = []
        offsets: list[tuple[int, int]] = []
        for field, slot in zip(table.fields, table.slots, strict=True):
            value = record.get(field.name)
            kind = field.type.base if isinstance(field.type, Enum) else field.type
            if value is None:
                continue
            if isinstance(kind, Scalar):
                default = kind.packer.pack(field.default)
                if table.whole or kind.packer.pack(value) != default:
                    scalars.append((slot, kind, value))
            elif isinstance(kind, Union):
                tags = [member.name for member in kind.tables]
                scalars.append((slot - 1, U8, tags.index(value[0]) + 1))
                member = kind.tables[tags.index(value[0])]
                offsets.append((slot, self.table(member, value[1])))
            else:
                align = self._aligns.get(f"{table.name}.{field.name}", 1)
                offsets.append((slot, self._part(kind, value, align)))
        return self._close(table.slot_count, scalars, offsets)

    def _close(self, count: int, scalars: list[Any], offsets: list[Any]) -> int:
        """The widest fields first, from the end of the table."""
        self._builder.StartObject(count)
        for slot, kind, value in scalars:
            if kind.width > 4:
                self._builder.PrependSlot(_flags(kind), slot, value, None)
        for slot, offset in offsets:
            self._builder.PrependUOffsetTRelativeSlot(slot, offset, 0)
        for slot, kind, value in sorted(scalars, key=lambda s: -s[1].width):
            if kind.width <= 4:
                self._builder.PrependSlot(_flags(kind), slot, value, None)
        return int(self._builder.EndObject())

    def _part(self, kind: Any, value: Any, align: int) -> int:
        if isinstance(kind, Table):
            return self.table(kind, value)
        if isinstance(kind, Text):
            return int(self._builder.CreateString(value))
        assert isinstance(kind, Vector)
        if isinstance(kind.of, Scalar):
            align = max(align, kind.align, kind.of.width)
            if not kind.shared or len(value) * kind.of.width > MOST_SHARED:
                return self._scalars(kind.of, value, align)
            key = kind.of.code, struct.pack(f"<{len(value)}{kind.of.code}", *value)
            if key not in self._shared:
                self._shared[key] = self._scalars(kind.of, value, align)
            return self._shared[key]
        parts = [self._part(kind.of, item, 1) for item in value]
        self._builder.StartVector(4, len(parts), 4)
        for part in reversed(parts):
            self._builder.PrependUOffsetTRelative(part)
        return int(self._builder.EndVector())

    def _scalars(self, kind: Scalar, values: Any, align: int) -> int:
        packed = struct.pack(f"<{len(values)}{kind.code}", *values)
        self._builder.StartVector(kind.width, len(values), align)
        self._builder.head -= len(packed)
        self._builder.Bytes[self._builder.head : self._builder.head + len(packed)] = (
            packed
        )
        return int(self._builder.EndVector())


def _flags(kind: Scalar) -> Any:
    name = _NAMES.get(kind.name, kind.name).capitalize()
    return getattr(number_types, f"{name}Flags")


def rewritten(path: Path) -> bytes:
    """A program, written by the package."""
    content = program.read(path)
    with mock.patch.object(flat_writer, "write", write):
        return program.write(content)


def main(version: str, *words: str) -> None:
    assert flatbuffers.__version__ == version
    as_ember = words[0] == "--as-ember"
    *names, folder = words[as_ember:]
    for name in names:
        path = Path(name)
        content = program.write(program.read(path)) if as_ember else rewritten(path)
        (Path(folder) / path.name).write_bytes(content)


if __name__ == "__main__":
    main(*sys.argv[1:])
