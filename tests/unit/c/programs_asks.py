"""Programs of the C tests: arguments that test_asks.c asks for by their edges."""

from __future__ import annotations

from collections.abc import Callable

from maker import Maker

from ember.program import (
    BoolList,
    Double,
    DoubleList,
    IntList,
    Null,
    Program,
    String,
)


def asks(most: int) -> Callable[[], Program]:
    """Numbers at the ends of ranges, and lists; with `most`, two calls."""

    def build() -> Program:
        m = Maker()
        x, y = m.input(2), m.tensor(2)
        numbers = [m.integer(number) for number in (0, -1, -2, 2)]
        args = [
            *numbers,
            m.value(Null()),
            m.value(String("abc")),
            m.value(IntList((numbers[0], numbers[1]))),
            m.value(DoubleList((0.5,))),
            m.value(BoolList((True,))),
            x,
            y,
        ]
        for _ in range(most):
            m.call("probe.out", *args)
        m.give(y)
        return m.program()

    return build


def unbound() -> Program:
    """A call reads what has no memory until it is given some."""
    m = Maker()
    x, y = m.input(2, memory=None), m.tensor(2)
    m.call("probe.out", x, y)
    m.give(y)
    return m.program()


def doubled() -> Program:
    """A double that is an input, whose place in the file is unaligned."""
    m = Maker()
    m.inputs += [m.value(Double(0.75)), m.value(Double(-3.5))]
    y = m.tensor(1)
    m.call("fill.out", m.inputs[1], y)
    m.give(y, *m.inputs)
    return m.program()


ASKS = {
    "asks": asks(1),
    "asks_twice": asks(2),
    "asks_unbound": unbound,
    "doubled": doubled,
}
