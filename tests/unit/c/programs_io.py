"""Programs of the C tests: inputs and outputs that a caller may not have, and calls
whose arguments change."""

from __future__ import annotations

from maker import Maker, floats

from ember.program import (
    Bool,
    BoolList,
    Int,
    IntList,
    Null,
    Program,
    String,
    TensorList,
)


def constant_edges() -> Program:
    """The input, and the second output, is a constant."""
    m = Maker()
    c, y = m.tensor(2, memory=None, data=1), m.tensor(2)
    m.inputs.append(c)
    m.call("copy.out", c, y)
    m.give(y, c)
    return m.program(constants=(b"", floats(8, 9)))


def viewed_input() -> Program:
    """The input x, which has memory, becomes a view of y."""
    m = Maker()
    x, y, z = m.input(2), m.tensor(2), m.tensor(2)
    m.call("copy.out", x, z)
    m.call("view.out", y, m.value(IntList((m.integer(2),))), x)
    m.give(z)
    return m.program()


def two_views() -> Program:
    """Views of two inputs in memory of the caller's."""
    m = Maker()
    a, b = m.input(2, memory=None), m.input(2, memory=None)
    v, w, y = m.tensor(2, memory=None), m.tensor(2, memory=None), m.tensor(2)
    sizes = m.value(IntList((m.integer(2),)))
    m.call("view.out", a, sizes, v)
    m.call("view.out", b, sizes, w)
    m.call("add.out", v, w, y)
    m.give(y)
    return m.program()


def changing() -> Program:
    """Arguments of every kind, of which a run may change the first three."""
    m = Maker()
    x = m.input(4, dynamic=True)
    number, yes = m.value(Int(3)), m.value(Bool(False))
    m.inputs += [number, yes]
    y = m.tensor(4, dynamic=True)
    arguments = [
        *(x, number, yes, m.value(Null()), m.value(String("nearest"))),
        m.value(IntList((number, m.integer(5)))),
        m.value(BoolList((True, False))),
        m.value(TensorList((x, m.tensor(2)))),
    ]
    m.call("probe.out", *arguments, y)
    m.give(y)
    return m.program()


def chosen_later() -> Program:
    """The kernel for a tensor whose shape changes is the second candidate."""
    m = Maker()
    x, y = m.input(4, dynamic=True), m.tensor(4, dynamic=True)
    m.call("choose.out", x, y)
    m.give(y)
    return m.program()


def refused_later() -> Program:
    """No candidate takes a tensor whose shape changes."""
    m = Maker()
    x, y = m.input(4, dynamic=True), m.tensor(4, dynamic=True)
    m.call("refuse.out", x, y)
    m.give(y)
    return m.program()


def long_lists(calls: int, *, items: int) -> Program:
    """Calls that share a list, in a program in which something changes."""
    m = Maker()
    x, y = m.input(4, dynamic=True), m.tensor(4, dynamic=True)
    listed = m.value(TensorList((m.tensor(1),) * items))
    for _ in range(calls):
        m.exact_call("none", listed, listed)
    m.call("copy.out", x, y)
    m.give(y)
    return m.program()


IO = {
    "changing": changing,
    "chosen_later": chosen_later,
    "constant_edges": constant_edges,
    "long_lists": lambda: long_lists(60, items=2000),
    "refused_later": refused_later,
    "two_views": two_views,
    "viewed_input": viewed_input,
}
