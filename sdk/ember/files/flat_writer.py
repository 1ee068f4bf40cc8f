"""Records become FlatBuffer bytes."""

from __future__ import annotations

import functools
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ember.errors import SdkError
from ember.files.flat import (
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

# Longer vectors are not shared: readers give up on a file whose parts they read more
# than twice on average.
_MOST_SHARED = 24  # bytes


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
    prefixed: bool = False,
) -> Written:
    """A FlatBuffer with `record` as its root.

    `aligns` overrides the forced alignment of byte vectors, by "Table.field". With
    `prefixed`, it begins with 4 bytes that state the size of the rest.
    """
    import flatbuffers

    builder = flatbuffers.Builder(1024)
    writer = _Writer(builder, aligns or {})
    try:
        finish = builder.FinishSizePrefixed if prefixed else builder.Finish
        finish(writer.table(root, record), identifier)
    except flatbuffers.builder.BuilderSizeError:
        raise SdkError(
            f"cannot write the {root.name}: more than 2 GB inside the FlatBuffer",
            hint="store constants and delegates in segments",
        ) from None
    except FlatError as error:
        error.inside(root.name)
        raise SdkError(
            f"cannot write the {root.name}: {error.where}: {error.problem}"
        ) from error
    return Written(bytes(builder.Output()), int(builder.minalign))


class _Writer:
    def __init__(self, builder: Any, aligns: dict[str, int]) -> None:
        self._builder = builder
        self._aligns = aligns
        self._vtables: dict[int, dict[Any, int]] = {}  # by the size of their tables
        self._vectors: dict[tuple[bytes, int], int] = {}  # short ones, by their items

    def table(self, table: Table, record: Record) -> int:
        """Write the parts of a table, then the table; its offset."""
        slots: list[tuple[int, Scalar, Any, Any]] = []  # slot, kind, value, default
        offsets: list[tuple[int, int]] = []
        for field, slot in zip(table.fields, table.slots, strict=True):
            value = record.get(field.name)
            if value is None:
                continue
            try:
                if isinstance(field.type, Scalar | Enum):
                    slots.append((slot, *_checked(field, value)))
                elif isinstance(field.type, Union):
                    tag, offset = self._union(field.type, value)
                    slots.append((slot - 1, U8, tag, 0))
                    offsets.append((slot, offset))
                else:
                    align = self._aligns.get(f"{table.name}.{field.name}")
                    offsets.append((slot, self._part(field.type, value, align)))
            except FlatError as error:
                raise error.inside(field.name) from None
        return self._close(table, slots, offsets)

    def _close(
        self,
        table: Table,
        slots: Sequence[tuple[int, Scalar, Any, Any]],
        offsets: Sequence[tuple[int, int]],
    ) -> int:
        """Lay the table out, widest fields first: no padding between them."""
        builder = self._builder
        builder.StartObject(table.slot_count)
        builder.ForceDefaults(table.whole)
        wide = [entry for entry in slots if entry[1].width > 4]
        narrow = [entry for entry in slots if entry[1].width <= 4]
        for slot, kind, value, default in wide:
            builder.PrependSlot(kind.flags, slot, value, default)
        for slot, offset in offsets:
            builder.PrependUOffsetTRelativeSlot(slot, offset, 0)
        for slot, kind, value, default in sorted(narrow, key=lambda e: -e[1].width):
            builder.PrependSlot(kind.flags, slot, value, default)
        # Builders before 25.12.19 share a vtable between tables of different sizes,
        # though it states the size: they are shown only those of this size.
        builder.vtables = self._vtables.setdefault(_object_size(builder), {})
        return int(builder.EndObject())

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
            return int(self._builder.CreateString(value))
        if isinstance(kind, Vector):
            return self._vector(kind, value, align or kind.align)
        raise AssertionError(f"{kind} is stored in its table")

    def _vector(self, kind: Vector, value: Any, align: int) -> int:
        of = kind.of
        if isinstance(of, Scalar):
            payload = bytes(value) if of is U8 else _packed(of, value)
            if not kind.shared or len(payload) > _MOST_SHARED:
                return self._bytes(payload, of.width, max(align, of.width))
            key = payload, of.width
            if key not in self._vectors:
                self._vectors[key] = self._bytes(payload, of.width, of.width)
            return self._vectors[key]
        if isinstance(of, Text):
            offsets = [int(self._builder.CreateString(item)) for item in value]
        else:
            offsets = self._tables(of, value)
        self._builder.StartVector(4, len(offsets), 4)
        for offset in reversed(offsets):
            self._builder.PrependUOffsetTRelative(offset)
        return int(self._builder.EndVector())

    def _tables(self, of: Table, items: Sequence[Record]) -> list[int]:
        offsets: list[int] = []
        try:
            for item in items:
                offsets.append(self.table(of, item))
        except FlatError as error:
            raise error.inside(f"[{len(offsets)}]") from None
        return offsets

    def _bytes(self, payload: bytes, width: int, align: int) -> int:
        builder = self._builder
        builder.StartVector(width, len(payload) // width, align)
        builder.head -= len(payload)
        builder.Bytes[builder.head : builder.head + len(payload)] = payload
        return int(builder.EndVector())


def _object_size(builder: Any) -> int:
    """Of the table that is about to end: its fields and the way to its vtable."""
    offset = int(builder.Offset())
    return offset + -offset % 4 + 4 - int(builder.objectEnd)


def _checked(field: Field, value: Any) -> tuple[Scalar, Any, Any]:
    """The scalar kind, the value that fits it, the default that may be left out."""
    kind = field.type.base if isinstance(field.type, Enum) else field.type
    assert isinstance(kind, Scalar)
    if isinstance(field.type, Enum) and value not in field.type.members:
        raise FlatError(f"{value} is not a {field.type.name}")
    if not _fits(value, kind):
        raise FlatError(f"{value} does not fit a {kind.name}")
    if kind in (F32, F64):
        # -0.0 equals the default 0.0, but must not vanish.
        same = kind.packer.pack(value) == kind.packer.pack(field.default)
        return kind, value, value if same else None
    return kind, value, field.default


def _fits(value: Any, kind: Scalar) -> bool:
    return bool(_valid_number()(value, kind.flags))


@functools.cache
def _valid_number() -> Any:
    from flatbuffers import number_types

    return number_types.valid_number


def _packed(kind: Scalar, values: Sequence[Any]) -> bytes:
    try:
        return struct.pack(f"<{len(values)}{kind.code}", *values)
    except struct.error:
        raise FlatError(f"an item does not fit a {kind.name}") from None
