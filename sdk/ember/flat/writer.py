"""Records become FlatBuffer bytes."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ember.errors import SdkError
from ember.flat.builder import Builder, Slot
from ember.flat.tables import (
    BOOL,
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
    except FlatError as error:
        error.inside(root.name)
        raise SdkError(
            f"cannot write the {root.name}: {error.where}: {error.problem}",
            hint=error.remedy or None,
        ) from error
    return Written(data, builder.align)


class _Writer:
    def __init__(self, builder: Builder, aligns: dict[str, int]) -> None:
        self._builder = builder
        self._aligns = aligns

    def table(self, table: Table, record: Record) -> int:
        """Write the parts of a table, then the table; its offset."""
        scalars: list[Slot] = []
        offsets: list[Slot] = []
        for one, slot in zip(table.fields, table.slots, strict=True):
            value = record.get(one.name)
            if value is None:
                continue
            try:
                if isinstance(one.type, Scalar | Enum):
                    content, default = _scalar(one, value)
                    scalars += [Slot(slot, content)] if content != default else []
                elif isinstance(one.type, Union):
                    tag, offset = self._union(one.type, value)
                    scalars.append(Slot(slot - 1, bytes([tag])))
                    offsets.append(Slot(slot, offset))
                else:
                    align = self._aligns.get(f"{table.name}.{one.name}")
                    offsets.append(Slot(slot, self._part(one.type, value, align)))
            except FlatError as error:
                raise error.inside(one.name) from None
        return self._builder.table(_widest_first(scalars, offsets))

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


def _widest_first(scalars: list[Slot], offsets: list[Slot]) -> list[Slot]:
    """From the end of the table: no padding is needed between the fields."""

    def width(slot: Slot) -> int:
        assert isinstance(slot.content, bytes)
        return len(slot.content)

    wide = [slot for slot in scalars if width(slot) > 4]
    narrow = [slot for slot in scalars if width(slot) <= 4]
    return [*wide, *offsets, *sorted(narrow, key=width, reverse=True)]


def _scalar(one: Field, value: Any) -> tuple[bytes, bytes]:
    """The bytes of a scalar, and those of the default, which are left out."""
    kind = one.type.base if isinstance(one.type, Enum) else one.type
    assert isinstance(kind, Scalar)
    if isinstance(one.type, Enum) and value not in one.type.members:
        raise FlatError(f"{value} is not a {one.type.name}")
    if kind is BOOL and value not in (False, True):
        raise FlatError(f"{value} does not fit a {kind.name}")
    try:
        # -0.0 equals the default 0.0, but its bytes do not, so that it does not vanish.
        content = kind.packer.pack(value)
    except (struct.error, OverflowError):
        raise FlatError(f"{value} does not fit a {kind.name}") from None
    return content, kind.packer.pack(one.default)


def _packed(kind: Scalar, values: Sequence[Any]) -> bytes:
    try:
        return struct.pack(f"<{len(values)}{kind.code}", *values)
    except struct.error:
        raise FlatError(f"an item does not fit a {kind.name}") from None
