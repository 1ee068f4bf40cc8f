"""Records become FlatBuffer bytes."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ember.errors import SdkError
from ember.files.flat.builder import Builder, TooLongError
from ember.files.flat.tables import (
    BOOL,
    F32,
    F64,
    U8,
    Enum,
    Field,
    FlatError,
    Record,
    Scalar,
    Table,
    Text,
    Type,
    Union,
    Vector,
)

_OFFSET = 4  # bytes of a way to a part


@dataclass(frozen=True)
class Written:
    data: bytes
    align: int  # what the start of `data` must be aligned to


def write(
    record: Record,
    root: Table,
    identifier: bytes,
    *,
    aligns: dict[str, int] | None = None,
) -> Written:
    """A FlatBuffer with `record` as its root.

    `aligns` overrides the forced alignment of byte vectors, by "Table.field".
    """
    builder = Builder()
    writer = _Writer(builder, aligns or {})
    try:
        data = builder.finish(writer.table(root, record), identifier)
    except TooLongError:
        raise SdkError(
            f"cannot write the {root.name}: more than 2 GB inside the FlatBuffer",
            hint="store constants and delegates in segments",
        ) from None
    except FlatError as error:
        error.inside(root.name)
        raise SdkError(
            f"cannot write the {root.name}: {error.where}: {error.problem}"
        ) from error
    return Written(data, builder.align)


class _Writer:
    def __init__(self, builder: Builder, aligns: dict[str, int]) -> None:
        self._builder = builder
        self._aligns = aligns

    def table(self, table: Table, record: Record) -> int:
        """Write the parts of a table, then the table; its offset."""
        slots: list[tuple[int, bytes]] = []
        offsets: list[tuple[int, int]] = []
        for one, slot in zip(table.fields, table.slots, strict=True):
            value = record.get(one.name)
            if value is None:
                continue
            kind = one.type
            try:
                if isinstance(kind, Scalar | Enum):
                    packed = _scalar(one, value)
                    if packed:
                        slots.append((slot, packed))
                elif isinstance(kind, Union):
                    tag, offset = self._union(kind, value)
                    slots.append((slot - 1, U8.packer.pack(tag)))
                    offsets.append((slot, offset))
                else:
                    align = None
                    if self._aligns:
                        align = self._aligns.get(f"{table.name}.{one.name}")
                    offsets.append((slot, self._part(kind, value, align)))
            except FlatError as error:
                raise error.inside(one.name) from None
        return self._builder.table(_laid_out(slots, offsets), table.slot_count)

    def _union(self, kind: Union, value: tuple[str, Record]) -> tuple[int, int]:
        name, record = value
        for tag, table in enumerate(kind.tables, start=1):
            if table.name == name:
                return tag, self.table(table, record)
        raise FlatError(f"{name} is not a kind of {kind.name}")

    def _part(self, kind: Type | Table, value: Any, align: int | None) -> int:
        if isinstance(kind, Table):
            return self.table(kind, value)
        if isinstance(kind, Text):
            return self._builder.text(value)
        if isinstance(kind, Vector):
            return self._vector(kind, value, align or kind.align)
        raise AssertionError(f"{kind} is stored in its table")

    def _vector(self, kind: Vector, value: Any, align: int) -> int:
        of = kind.of
        if isinstance(of, Scalar):
            payload = bytes(value) if of is U8 else _packed(of, value)
            count = len(payload) // of.width
            return self._builder.vector(payload, count, max(align, of.width))
        if isinstance(of, Text):
            return self._builder.offsets([self._builder.text(item) for item in value])
        return self._builder.offsets(self._tables(of, value))

    def _tables(self, of: Table, items: Sequence[Record]) -> list[int]:
        offsets: list[int] = []
        try:
            for item in items:
                offsets.append(self.table(of, item))
        except FlatError as error:
            raise error.inside(f"[{len(offsets)}]") from None
        return offsets


def _laid_out(
    slots: Sequence[tuple[int, bytes]], offsets: Sequence[tuple[int, int]]
) -> list[tuple[int, bytes | int]]:
    """The order of a table's entries: widest first, so there is no padding between."""
    if len(slots) < 2 and not offsets:
        return list(slots)
    wide = [entry for entry in slots if len(entry[1]) > _OFFSET]
    narrow = [entry for entry in slots if len(entry[1]) <= _OFFSET]
    narrow.sort(key=lambda entry: -len(entry[1]))
    return [*wide, *offsets, *narrow]


def _scalar(one: Field, value: Any) -> bytes:
    """The bytes of a scalar; none where it is the default, and may be left out."""
    kind = one.type.base if isinstance(one.type, Enum) else one.type
    assert isinstance(kind, Scalar)
    if isinstance(one.type, Enum) and value not in one.type.members:
        raise FlatError(f"{value} is not a {one.type.name}")
    try:
        packed = kind.packer.pack(value)
    except struct.error:
        packed = b""
    if not packed or (kind is BOOL and value not in (0, 1)):
        raise FlatError(f"{value} does not fit a {kind.name}")
    if kind in (F32, F64):
        # -0.0 equals the default 0.0, but must not vanish.
        return b"" if packed == kind.packer.pack(one.default) else packed
    return b"" if value == one.default else packed


def _packed(kind: Scalar, values: Sequence[Any]) -> bytes:
    try:
        return struct.pack(f"<{len(values)}{kind.code}", *values)
    except struct.error:
        raise FlatError(f"an item does not fit a {kind.name}") from None
