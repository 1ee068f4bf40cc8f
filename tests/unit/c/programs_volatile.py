"""Programs of the C tests: calls that are prepared again, and what they watch."""

from __future__ import annotations

import struct

import positions
from crafting import CALL, PLAN, of
from maker import Maker

from ember import program
from ember.program import FreeCall, MoveCall, Program, String, TensorList


def watched_list() -> Program:
    """A call with a list of a fixed tensor, and of one that a shorter list leaves
    out."""
    m = Maker()
    x, fixed, y = m.input(4, dynamic=True), m.tensor(1), m.tensor(4, dynamic=True)
    m.exact_call("probe.out", m.value(TensorList((fixed, x))))
    m.call("copy.out", x, y)
    m.give(y)
    return m.program()


def moved_string() -> Program:
    """A call with a string that another stands for."""
    m = Maker()
    y = m.tensor(1)
    text, other = m.value(String("one")), m.value(String("other"))
    m.add(MoveCall(text, other))
    m.exact_call("probe.out", other)
    m.give(y)
    return m.program()


def stateless() -> Program:
    """A call of a kernel that may have no state, whose argument can change."""
    m = Maker()
    x = m.input(4, dynamic=True)
    m.exact_call("none", x)
    m.give(x)
    return m.program()


def freed() -> Program:
    m = Maker()
    x, y = m.input(2), m.tensor(2)
    m.add(FreeCall(y))
    m.call("copy.out", x, y)
    m.give(y)
    return m.program()


def freed_with_more() -> bytes:
    """A FreeCall of a later format: it has a second field, of two bytes."""
    data = bytearray(program.write(freed()))
    places = {position.path: position.at for position in positions.walk(bytes(data))}
    table = places[f"{CALL}[0].instr_args@"]
    struct.pack_into("<i", data, table, table - len(data))
    return bytes(data + struct.pack("<4H", 8, 8, 4, 6))


def shorter_list() -> bytes:
    """What follows the list in the file is the index of a value that can change."""
    listed = next(
        index
        for index, value in enumerate(watched_list().methods[0].values)
        if isinstance(value, TensorList)
    )
    return of(watched_list, (f"{PLAN}.values[{listed}].val.items#", 1))


VOLATILE = {"moved_string": moved_string, "stateless": stateless}
FILES = {"freed_with_more": freed_with_more, "shorter_list": shorter_list}
