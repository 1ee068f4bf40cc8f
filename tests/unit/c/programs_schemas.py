"""Programs of the C tests: calls with argument lists of several versions."""

from __future__ import annotations

import struct
from collections.abc import Callable

import positions
from crafting import CALL, PLAN, patched
from maker import Maker

from ember import program
from ember.program import IntList, Program

FORGED = 1 << 31  # what stands for an argument, or a constant, while it is prepared
CONSTANT = 3 << 30 | 2 << 8 | 9


def _call(
    *, more_arguments: bool = False, first: str = "x", dynamic: bool = False
) -> Program:
    """A call of scaled.out: (x, list, y), or with the operator's own arguments."""
    m = Maker()
    x = m.input(4, dynamic=True) if dynamic else m.tensor(4)
    y, three = m.tensor(4, dynamic=dynamic), m.integer(3)
    listed = m.value(IntList((three,)))
    args = {"x": x, "three": three}[first], listed
    more = (three, x, three) if more_arguments else ()
    m.exact_call("scaled.out", *args, *more, y, y)
    m.give(y)
    return m.program()


def _with(place: str, number: int) -> Callable[[], bytes]:
    """The call with another number as the first item of the vector at `place`."""

    def make() -> bytes:
        data = bytearray(program.write(_call()))
        places = {
            position.path: position.at for position in positions.walk(bytes(data))
        }
        struct.pack_into("<I", data, places[place] + 4, number)
        return bytes(data)

    return make


def _too_many() -> Program:
    m = Maker()
    y = m.tensor(4)
    m.exact_call("scaled.out", y, y, y, y, y)
    m.give(y)
    return m.program()


def _image(
    *sizes: int,
    dynamic: bool = False,
    order: tuple[int, ...] | None = None,
    beside: bool = False,
) -> Program:
    """A call of turned.out, whose output has the shape of its image.

    beside -- whether it has another tensor besides
    """
    m = Maker()
    x = m.input(*sizes, dynamic=dynamic, order=order)
    y, three = m.tensor(*sizes, dynamic=dynamic, order=order), m.integer(3)
    others = (m.tensor(8, dynamic=dynamic),) if beside else ()
    m.exact_call("turned.out", x, three, *others, y, y)
    m.give(y)
    return m.program()


SCHEMAS = {
    "schema_image": lambda: _image(2, 5, 3, 4),
    "schema_image_dynamic": lambda: _image(2, 5, 3, 4, dynamic=True),
    "schema_image_beside": lambda: _image(2, 5, 3, 4, dynamic=True, beside=True),
    "schema_image_order": lambda: _image(2, 5, 3, 4, order=(0, 2, 3, 1)),
    "schema_image_rank": lambda: _image(5, 3, 4),
    "schema_earlier": _call,
    "schema_own": lambda: _call(more_arguments=True),
    "schema_dynamic": lambda: _call(dynamic=True),
    "schema_wrong_kind": lambda: _call(first="three"),
    "schema_wrong_count": _too_many,
}
SCHEMA_FILES = {
    "schema_image_forged": lambda: patched(
        program.write(_image(2, 5, 3, 4)), (f"{PLAN}.values[1].val.scalar_type", 99)
    ),
    "schema_forged_argument": _with(f"{CALL}[0].instr_args.args#", FORGED),
    "schema_forged_constant": _with(f"{CALL}[0].instr_args.args#", CONSTANT),
    "schema_forged_item": _with(f"{PLAN}.values[3].val.items#", CONSTANT),
    "schema_forged_name": _with(f"{PLAN}.values[3].val.items#", FORGED),
}
