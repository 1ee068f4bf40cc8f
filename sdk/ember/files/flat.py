"""FlatBuffer bytes -> plain records, driven by a description of the tables.

A record is a dict from field name to value: numbers, str, bytes (byte vectors), tuples
(other vectors), records (tables), `(table name, record)` (unions), None (absent).

Bytes are untrusted: every offset, length, tag and enum value is checked before use,
and reading is bounded by the size of the input, so that no file crashes, hangs or
exhausts the memory. A failure names its field: `Program.execution_plan[0].values[3]`.
"""

from __future__ import annotations

import functools
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ember.errors import SdkError

Record = dict[str, Any]


class FlatError(Exception):
    """A malformed place; the readers it passes on its way up add where it is.

    With a remedy, the place is sound but says what Ember does not support.
    """

    def __init__(self, problem: str, remedy: str = "") -> None:
        super().__init__(problem)
        self.problem = problem
        self.remedy = remedy
        self.where = ""

    def inside(self, name: str) -> FlatError:
        joint = "" if not self.where or self.where.startswith("[") else "."
        self.where = f"{name}{joint}{self.where}"
        return self


@dataclass(frozen=True)
class Scalar:
    name: str
    code: str  # the letter of the struct module

    @functools.cached_property
    def packer(self) -> struct.Struct:
        return struct.Struct(f"<{self.code}")

    @functools.cached_property
    def width(self) -> int:
        return self.packer.size

    @functools.cached_property
    def flags(self) -> Any:
        """What the package flatbuffers, which only writing needs, says of the kind."""
        from flatbuffers import number_types

        name = {"float": "float32", "double": "float64"}.get(self.name, self.name)
        return getattr(number_types, f"{name.capitalize()}Flags")


@dataclass(frozen=True)
class Enum:
    """Numbers with names; a number without a name is refused."""

    name: str
    base: Scalar
    members: dict[int, str]
    # Numbers that files may have and Ember refuses, and what to do about them.
    unsupported: dict[int, str] = field(default_factory=dict)
    remedy: str = ""


@dataclass(frozen=True)
class Text:
    """UTF-8 with a terminating zero."""


@dataclass(frozen=True)
class Vector:
    of: Scalar | Text | Table
    align: int = 1  # of the first item, in bytes, where the schema forces it
    shared: bool = False  # equal ones are written once, if they are short


@dataclass(frozen=True)
class Union:
    """One of several tables; tags count from 1, 0 is "none"."""

    name: str
    tables: tuple[Table, ...]


Type = Scalar | Enum | Text | Vector | Union


@dataclass(frozen=True)
class Field:
    name: str
    type: Type | Table
    default: int | float | bool = 0


@dataclass(frozen=True, eq=False)
class Table:
    name: str
    fields: tuple[Field, ...]
    # Scalars are written though they are the default: then tables of the kind share one
    # vtable, which the device reads once.
    whole: bool = False
    slots: tuple[int, ...] = field(init=False)  # vtable slot of each field
    slot_count: int = field(init=False)

    def __post_init__(self) -> None:
        slots, next_slot = [], 0
        for each in self.fields:
            # A union takes two slots: its tag, then its value.
            next_slot += 1 if isinstance(each.type, Union) else 0
            slots.append(next_slot)
            next_slot += 1
        object.__setattr__(self, "slots", tuple(slots))
        object.__setattr__(self, "slot_count", next_slot)


BOOL = Scalar("bool", "?")
I8 = Scalar("int8", "b")
U8 = Scalar("uint8", "B")
I16 = Scalar("int16", "h")
I32 = Scalar("int32", "i")
U32 = Scalar("uint32", "I")
I64 = Scalar("int64", "q")
U64 = Scalar("uint64", "Q")
F32 = Scalar("float", "f")
F64 = Scalar("double", "d")
TEXT = Text()


# ---- reader --------------------------------------------------------------------------


_U16 = struct.Struct("<H")
_U32 = struct.Struct("<I")
_I32 = struct.Struct("<i")
_HEAD = 4  # of a table: the way to its vtable
_MIN_VTABLE = 4
_SLOT = 2

Makers = Mapping[Table, Callable[[Record], Any]]


def read(
    data: bytes | memoryview,
    root: Table,
    what: str,
    *,
    prefixed: bool = False,
    makers: Makers | None = None,
) -> Record:
    """The root table of a FlatBuffer; `what` names the input in an SdkError.

    prefixed -- it begins with 4 bytes that state its size, which are not looked at
    makers -- what to make of a table at once, in place of a record that lasts until all
              is read: a large file has many
    """
    reader = _Reader(memoryview(data), makers or {})
    try:
        return reader.root(root, 4 if prefixed else 0)
    except FlatError as error:
        error.inside(root.name)
        if error.remedy:
            raise SdkError(
                f"{what}: {error.where}: {error.problem}", hint=error.remedy
            ) from error
        raise SdkError(
            f"{what} is malformed: {error.where}: {error.problem}",
            hint="the file is damaged or truncated: export or copy it again",
        ) from error


class _Reader:
    def __init__(self, data: memoryview, makers: Makers) -> None:
        self._data = data
        self._makers = makers
        self._size = len(data)
        # Parts that overlap or are used twice are read again and again, which could
        # blow a small file up. Honest files read each byte once.
        self._budget = 2 * self._size + 1024
        self._vtable_sizes: dict[int, int] = {}  # of those that were checked, by place

    def root(self, table: Table, at: int) -> Record:
        if self._size < at + 8:
            raise FlatError(f"{self._size} bytes are too short for a FlatBuffer")
        return self._record(table, self._follow(at))

    def _follow(self, at: int) -> int:
        """The place that the offset stored at `at` points to."""
        self._need(at, 4, 4, "an offset")
        target: int = at + _U32.unpack_from(self._data, at)[0]
        if target == at or target + 4 > self._size:
            raise FlatError(f"an offset at byte {at} points outside the buffer")
        if target % 4:
            raise FlatError(f"an offset at byte {at} is unaligned")
        return target

    def _need(self, at: int, size: int, align: int, what: str) -> None:
        if at < 0 or size > self._size or at > self._size - size:
            raise FlatError(f"{what} at byte {at} is outside the buffer")
        if at % align:
            raise FlatError(f"{what} at byte {at} is unaligned")

    def _spend(self, size: int) -> None:
        self._budget -= size
        if self._budget < 0:
            raise FlatError("its parts overlap")

    def _table(self, table: Table, at: int) -> Any:
        """Its record, or what its maker makes of it."""
        make = self._makers.get(table)
        record = self._record(table, at)
        return record if make is None else make(record)

    def _record(self, table: Table, at: int) -> Record:
        vtable, vtable_size = self._vtable(at)
        self._spend(_HEAD)
        record: Record = {}
        for stated, slot in zip(table.fields, table.slots, strict=True):
            try:
                place = self._place(at, vtable, vtable_size, slot)
                if isinstance(stated.type, Union):
                    tag = self._place(at, vtable, vtable_size, slot - 1)
                    record[stated.name] = self._union(stated.type, tag, place)
                elif place == 0:
                    record[stated.name] = _absent(stated)
                else:
                    record[stated.name] = self._field(stated.type, place)
            except FlatError as error:
                raise error.inside(stated.name) from None
        return record

    def _vtable(self, at: int) -> tuple[int, int]:
        """Where the vtable of the table at `at` is, and its size.

        The size of the table that it also states is not looked at: writers share a
        vtable between tables of different sizes.
        """
        self._need(at, _HEAD, 4, "a table")
        vtable = at - _I32.unpack_from(self._data, at)[0]
        if vtable in self._vtable_sizes:
            return vtable, self._vtable_sizes[vtable]
        self._need(vtable, _MIN_VTABLE, 2, "a vtable")
        vtable_size = _U16.unpack_from(self._data, vtable)[0]
        if vtable_size < _MIN_VTABLE or vtable_size % 2:
            raise FlatError(f"a vtable at byte {vtable} has the wrong size")
        self._need(vtable, vtable_size, 2, "a vtable")
        self._vtable_sizes[vtable] = vtable_size
        return vtable, vtable_size

    def _place(self, at: int, vtable: int, vtable_size: int, slot: int) -> int:
        """Where a field of the table at `at` starts; 0 when it is absent."""
        entry = _MIN_VTABLE + _SLOT * slot
        if entry + _SLOT > vtable_size:
            return 0
        offset: int = _U16.unpack_from(self._data, vtable + entry)[0]
        return at + offset if offset != 0 else 0

    def _field(self, kind: Type | Table, at: int) -> Any:
        if isinstance(kind, Scalar | Enum):
            base = kind.base if isinstance(kind, Enum) else kind
            value = self._scalar(base, at)
            if isinstance(kind, Enum) and value not in kind.members:
                name = kind.unsupported.get(int(value))
                if name is not None:
                    raise FlatError(f"{name} is not supported", kind.remedy)
                raise FlatError(f"{value} is not a {kind.name}")
            return value
        self._spend(4)
        target = self._follow(at)
        if isinstance(kind, Table):
            return self._table(kind, target)
        if isinstance(kind, Text):
            return self._text(target)
        if isinstance(kind, Vector):
            return self._vector(kind, target)
        raise AssertionError(f"{kind} is read with its tag")

    def _scalar(self, kind: Scalar, at: int) -> int | float | bool:
        self._spend(kind.width)
        self._need(at, kind.width, kind.width, f"a {kind.name}")
        value: int | float | bool = kind.packer.unpack_from(self._data, at)[0]
        return value

    def _union(self, kind: Union, tag_at: int, at: int) -> Any:
        tag = int(self._scalar(U8, tag_at)) if tag_at else 0
        if tag == 0:
            if at:
                raise FlatError("it has a value but no type")
            return None
        if tag > len(kind.tables):
            raise FlatError(f"{tag} is not a kind of {kind.name}")
        if at == 0:
            raise FlatError("it has a type but no value")
        table = kind.tables[tag - 1]
        try:
            return table.name, self._table(table, self._follow(at))
        except FlatError as error:
            raise error.inside(f"({table.name})") from None

    def _length(self, at: int, width: int) -> int:
        """The length of the vector at `at`, whose items lie inside the buffer."""
        self._need(at, 4, 4, "a vector")
        count: int = _U32.unpack_from(self._data, at)[0]
        if count * width > self._size - at - 4:
            raise FlatError(
                f"a vector at byte {at} extends past the buffer ({count} items)"
            )
        self._spend(4 + count * width)
        return count

    def _text(self, at: int) -> str:
        count = self._length(at, 1)
        end = at + 4 + count
        if end >= self._size or self._data[end] != 0:
            raise FlatError(f"a string at byte {at} is not terminated")
        try:
            return str(self._data[at + 4 : end], "utf-8")
        except UnicodeDecodeError:
            raise FlatError(f"a string at byte {at} is not UTF-8") from None

    def _vector(self, kind: Vector, at: int) -> Any:
        of = kind.of
        if of is U8:
            count = self._length(at, 1)
            return bytes(self._data[at + 4 : at + 4 + count])
        if isinstance(of, Scalar):
            count = self._length(at, of.width)
            if count and (at + 4) % of.width:
                raise FlatError(f"a vector at byte {at} is unaligned")
            return struct.unpack_from(f"<{count}{of.code}", self._data, at + 4)
        count = self._length(at, 4)
        items: list[Any] = []
        try:
            for place in range(at + 4, at + 4 + 4 * count, 4):
                target = self._follow(place)
                items.append(
                    self._text(target)
                    if isinstance(of, Text)
                    else self._table(of, target)
                )
        except FlatError as error:
            raise error.inside(f"[{len(items)}]") from None
        return tuple(items)


def _absent(field: Field) -> Any:
    return field.default if isinstance(field.type, Scalar | Enum) else None
