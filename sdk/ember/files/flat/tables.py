"""The description of tables: what their fields are, and how wide."""

from __future__ import annotations

import functools
import struct
from dataclasses import dataclass, field
from typing import Any

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
