"""FlatBuffer bytes -> plain records and back, driven by a description of the tables.

A record is a dict from field name to value: numbers, str, bytes (byte vectors), tuples
(other vectors), records (tables), `(table name, record)` (unions), None (absent).

Bytes are untrusted: every offset, length, tag and enum value is checked before use,
and what is read is bounded by the size of the input, so that nothing crashes, hangs
or fills the memory. A failure names its field: `Program.execution_plan[0].values[3]`.
"""

from __future__ import annotations

import functools
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ember.errors import SdkError

Record = dict[str, Any]

# ---- the description of tables -----------------------------------------------------


@dataclass(frozen=True)
class Scalar:
    name: str
    code: str  # the letter of the struct module

    @functools.cached_property
    def packer(self) -> struct.Struct:
        return struct.Struct(f"<{self.code}")

    @property
    def width(self) -> int:
        return self.packer.size

    @property
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
    # Numbers that files may have and Ember does not take, and what to do about them.
    unsupported: dict[int, str] = field(default_factory=dict)
    remedy: str = ""


@dataclass(frozen=True)
class Text:
    """UTF-8 with a terminating zero."""


@dataclass(frozen=True)
class Vector:
    of: Scalar | Text | Table
    align: int = 1  # of the first item, in bytes, where the schema forces it


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
    slots: tuple[int, ...] = field(init=False)  # vtable slot of each field
    slot_count: int = field(init=False)

    def __post_init__(self) -> None:
        slots, next_slot = [], 0
        for one in self.fields:
            # A union takes two slots: its tag, then its value.
            next_slot += 1 if isinstance(one.type, Union) else 0
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

# ---- reading -----------------------------------------------------------------------

_U16 = struct.Struct("<H")
_U32 = struct.Struct("<I")
_I32 = struct.Struct("<i")
_MIN_VTABLE = 4
_SLOT = 2


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


def read(data: bytes | memoryview, root: Table, what: str) -> Record:
    """The root table of a FlatBuffer; `what` names the input in an SdkError."""
    reader = _Reader(memoryview(data))
    try:
        return reader.root(root)
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
    def __init__(self, data: memoryview) -> None:
        self._data = data
        self._size = len(data)
        # Parts that overlap or are used twice are read again and again, which could
        # blow a small file up. Honest files read each byte once.
        self._budget = 2 * self._size + 1024

    def root(self, table: Table) -> Record:
        if self._size < 8:
            raise FlatError(f"{self._size} bytes are too few for a FlatBuffer")
        return self._table(table, self._follow(0))

    def _follow(self, at: int) -> int:
        """The place that the offset stored at `at` points to."""
        self._need(at, 4, 4, "an offset")
        target: int = at + _U32.unpack_from(self._data, at)[0]
        if target == at or target + 4 > self._size:
            raise FlatError(f"an offset at byte {at} leaves the buffer")
        if target % 4:
            raise FlatError(f"an offset at byte {at} is not aligned")
        return target

    def _need(self, at: int, size: int, align: int, what: str) -> None:
        if at < 0 or size > self._size or at > self._size - size:
            raise FlatError(f"{what} at byte {at} leaves the buffer")
        if at % align:
            raise FlatError(f"{what} at byte {at} is not aligned")

    def _spend(self, size: int) -> None:
        self._budget -= size
        if self._budget < 0:
            raise FlatError("its parts overlap")

    def _table(self, table: Table, at: int) -> Record:
        vtable, vtable_size, size = self._vtable(at)
        self._spend(size)
        record: Record = {}
        for one, slot in zip(table.fields, table.slots, strict=True):
            try:
                offset = self._slot(vtable, vtable_size, size, slot)
                if isinstance(one.type, Union):
                    tag = self._slot(vtable, vtable_size, size, slot - 1)
                    record[one.name] = self._union(one.type, at, tag, offset)
                elif offset == 0:
                    record[one.name] = _absent(one)
                else:
                    record[one.name] = self._field(one.type, at + offset, at + size)
            except FlatError as error:
                raise error.inside(one.name) from None
        return record

    def _vtable(self, at: int) -> tuple[int, int, int]:
        """Where the vtable of the table at `at` is, its size, the table's size."""
        self._need(at, 4, 4, "a table")
        vtable = at - _I32.unpack_from(self._data, at)[0]
        self._need(vtable, _MIN_VTABLE, 2, "a vtable")
        vtable_size = _U16.unpack_from(self._data, vtable)[0]
        size = _U16.unpack_from(self._data, vtable + 2)[0]
        if vtable_size < _MIN_VTABLE or vtable_size % 2:
            raise FlatError(f"a vtable at byte {vtable} has a wrong size")
        self._need(vtable, vtable_size, 2, "a vtable")
        if size < 4:
            raise FlatError(f"a table at byte {at} has a wrong size")
        self._need(at, size, 4, "a table")
        return vtable, vtable_size, size

    def _slot(self, vtable: int, vtable_size: int, size: int, slot: int) -> int:
        """The offset of a field inside its table; 0 when it is absent."""
        at = _MIN_VTABLE + _SLOT * slot
        if at + _SLOT > vtable_size:
            return 0
        offset: int = _U16.unpack_from(self._data, vtable + at)[0]
        if offset != 0 and not 4 <= offset < size:
            raise FlatError("it leaves its table")
        return offset

    def _field(self, kind: Type | Table, at: int, table_end: int) -> Any:
        if isinstance(kind, Scalar | Enum):
            base = kind.base if isinstance(kind, Enum) else kind
            if at + base.width > table_end:
                raise FlatError("it leaves its table")
            value = self._scalar(base, at)
            if isinstance(kind, Enum) and value not in kind.members:
                name = kind.unsupported.get(int(value))
                if name is not None:
                    raise FlatError(f"{name} is not supported", kind.remedy)
                raise FlatError(f"{value} is not a {kind.name}")
            return value
        if at + 4 > table_end:
            raise FlatError("it leaves its table")
        target = self._follow(at)
        if isinstance(kind, Table):
            return self._table(kind, target)
        if isinstance(kind, Text):
            return self._text(target)
        if isinstance(kind, Vector):
            return self._vector(kind, target)
        raise AssertionError(f"{kind} is read with its tag")

    def _scalar(self, kind: Scalar, at: int) -> int | float | bool:
        self._need(at, kind.width, kind.width, f"a {kind.name}")
        value: int | float | bool = kind.packer.unpack_from(self._data, at)[0]
        return value

    def _union(self, kind: Union, at: int, tag_at: int, offset: int) -> Any:
        tag = self._data[at + tag_at] if tag_at else 0
        if tag == 0:
            if offset:
                raise FlatError("it has a value but no kind")
            return None
        if tag > len(kind.tables):
            raise FlatError(f"{tag} is not a kind of {kind.name}")
        if offset == 0:
            raise FlatError("it has a kind but no value")
        table = kind.tables[tag - 1]
        try:
            return table.name, self._table(table, self._follow(at + offset))
        except FlatError as error:
            raise error.inside(f"({table.name})") from None

    def _length(self, at: int, width: int) -> int:
        """The length of the vector at `at`, whose items lie inside the buffer."""
        self._need(at, 4, 4, "a vector")
        count: int = _U32.unpack_from(self._data, at)[0]
        if count * width > self._size - at - 4:
            raise FlatError(f"a vector at byte {at} leaves the buffer ({count} items)")
        self._spend(4 + count * width)
        return count

    def _text(self, at: int) -> str:
        count = self._length(at, 1)
        end = at + 4 + count
        if end >= self._size or self._data[end] != 0:
            raise FlatError(f"a string at byte {at} has no end")
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
                raise FlatError(f"a vector at byte {at} is not aligned")
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


def _absent(one: Field) -> Any:
    return one.default if isinstance(one.type, Scalar | Enum) else None


# ---- writing -----------------------------------------------------------------------


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
    import flatbuffers

    builder = flatbuffers.Builder(1024)
    writer = _Writer(builder, aligns or {})
    try:
        builder.Finish(writer.table(root, record), identifier)
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

    def table(self, table: Table, record: Record) -> int:
        """Write the parts of a table, then the table; its offset."""
        slots: list[tuple[int, Scalar, Any, Any]] = []  # slot, kind, value, default
        offsets: list[tuple[int, int]] = []
        for one, slot in zip(table.fields, table.slots, strict=True):
            value = record.get(one.name)
            if value is None:
                continue
            try:
                if isinstance(one.type, Scalar | Enum):
                    slots.append((slot, *_checked(one, value)))
                elif isinstance(one.type, Union):
                    tag, offset = self._union(one.type, value)
                    slots.append((slot - 1, U8, tag, 0))
                    offsets.append((slot, offset))
                else:
                    align = self._aligns.get(f"{table.name}.{one.name}")
                    offsets.append((slot, self._part(one.type, value, align)))
            except FlatError as error:
                raise error.inside(one.name) from None
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
        wide = [entry for entry in slots if entry[1].width > 4]
        narrow = [entry for entry in slots if entry[1].width <= 4]
        for slot, kind, value, default in wide:
            builder.PrependSlot(kind.flags, slot, value, default)
        for slot, offset in offsets:
            builder.PrependUOffsetTRelativeSlot(slot, offset, 0)
        for slot, kind, value, default in sorted(narrow, key=lambda e: -e[1].width):
            builder.PrependSlot(kind.flags, slot, value, default)
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
            return self._bytes(payload, of.width, max(align, of.width))
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


def _checked(one: Field, value: Any) -> tuple[Scalar, Any, Any]:
    """The scalar kind, the value that fits it, the default that may be left out."""
    kind = one.type.base if isinstance(one.type, Enum) else one.type
    assert isinstance(kind, Scalar)
    if isinstance(one.type, Enum) and value not in one.type.members:
        raise FlatError(f"{value} is not a {one.type.name}")
    if not _fits(value, kind):
        raise FlatError(f"{value} does not fit a {kind.name}")
    if kind in (F32, F64):
        # -0.0 equals the default 0.0, but must not vanish.
        same = kind.packer.pack(value) == kind.packer.pack(one.default)
        return kind, value, value if same else None
    return kind, value, one.default


def _fits(value: Any, kind: Scalar) -> bool:
    from flatbuffers import number_types

    return bool(number_types.valid_number(value, kind.flags))


def _packed(kind: Scalar, values: Sequence[Any]) -> bytes:
    try:
        return struct.pack(f"<{len(values)}{kind.code}", *values)
    except struct.error:
        raise FlatError(f"an item does not fit a {kind.name}") from None
