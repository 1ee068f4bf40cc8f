"""What one instruction does to the stack pointer, and where it goes on.

A decoder (thumb.py, a64.py, hexagon.py) gives a Step for the bytes at an offset; it
knows nothing of relocations. `sets` are registers and what they hold afterwards, of the
values before:

    ("add", register, n)        ("sum", register, register)   ("diff", ...)
    ("const", n)                ("high", register, n)  its upper half is replaced
    ("literal", offset)         the word at `offset` of the section
    ("here", offset)            the address of that word
    ("load", register, n)       a pointer in memory, n bytes behind the register's value
    ("entry", register, register)  a word of the table at one of them
    ("item", register)          somewhere behind what the register points to
    ("placed", offset, n)       what the word at `offset` refers to, or the number n
    ("add_placed", offset, n, register)  that number, added to the register's value
    ("load_placed", offset, n)  the word at the address
    ("entry_at", offset, n)     a word of the table at that address
    ("place", target, inside)   where a branch that lies `inside` the packet would lead
    ("align", register, n)      rounded down to a multiple of n
    ("shift", register, n)      to the left
    ("popped",)                 from the stack; a jump to it returns
    ("computed",)               by arithmetic that is not followed
    None                        unknown

`stores` are the addresses of the words that it writes, where these can be known.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import Any, NamedTuple

Expression = tuple[Any, ...] | None


class ControlFlow(Enum):
    NEXT = auto()
    JUMP = auto()  # to `target`
    BRANCH = auto()  # to `target`, or on
    CALL = auto()  # of `target`
    POINTER_CALL = auto()
    POINTER_JUMP = auto()  # by register `target`; None: to an address in memory
    ENTRY_JUMP = auto()  # by register `target`, an entry of a table
    TABLE = auto()  # a jump over a table that follows; entries of `target` bytes
    WORD_TABLE = auto()  # by an address in the table of words at register `target`
    RETURN = auto()
    IT = auto()  # which of the next instructions are executed: `target`, or the others
    LOOP = auto()  # to the place in register `target`
    STOP = auto()


class Decoded(NamedTuple):
    size: int
    sets: tuple[tuple[int, Expression], ...] = ()
    flow: ControlFlow = ControlFlow.NEXT
    target: Any = None
    conditional: bool = False  # may also do nothing
    stores: tuple[Expression, ...] = ()
    also: tuple[Decoded, ...] = ()  # other ways on, of a packet with several branches
    inside: int = 0  # bytes of its packet before the branch
