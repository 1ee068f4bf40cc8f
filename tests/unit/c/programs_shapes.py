"""Programs of the C tests: shapes that change, views, and memory of the caller."""

from __future__ import annotations

from maker import Maker, floats

from ember.program import Bool, Double, Int, IntList, JumpFalseCall, Program


def dynamic() -> Program:
    """z = x + x for x of [<= 4]; n = its size; head = the first n - 0 of z."""
    m = Maker()
    x = m.input(4, dynamic=True)
    z, n, head = m.tensor(4, dynamic=True), m.integer(0), m.tensor(4, dynamic=True)
    fixed = m.tensor(2)
    m.call("add.out", x, x, z)
    m.exact_call("size.int", z, m.integer(0), n)
    m.call("narrow.out", z, n, head)
    m.call("fill.out", m.integer(1), fixed)
    m.give(z, n, head)
    return m.program()


def too_dynamic() -> Program:
    """The output's bound is below the input's."""
    m = Maker()
    x, y = m.input(4, dynamic=True), m.tensor(3, dynamic=True)
    m.call("copy.out", x, y)
    m.give(y)
    return m.program()


def positive() -> Program:
    """A data-dependent shape and a consumer of it."""
    m = Maker()
    x = m.input(4)
    p, y = m.tensor(4, dynamic=True), m.tensor(4, dynamic=True)
    m.call("positive.out", x, p)
    m.call("add.out", p, p, y)
    m.give(y, p)
    return m.program()


def bounded_scratch() -> Program:
    """Scratch of a dynamic node is sized for its bound."""
    m = Maker()
    x, y = m.input(64, dynamic=True), m.tensor(64, dynamic=True)
    m.call("copy.out", x, y)
    m.give(y)
    return m.program()


def bound_by_caller() -> Program:
    """Inputs and output without planned memory."""
    m = Maker()
    a, b = m.input(2, memory=None), m.input(2, memory=None)
    y, t = m.tensor(2, memory=None), m.tensor(2)
    m.call("add.out", a, b, t)
    m.call("add.out", t, b, y)
    m.give(y)
    return m.program()


def bound_dynamic() -> Program:
    m = Maker()
    x, y = m.input(4, memory=None, dynamic=True), m.tensor(4, dynamic=True)
    m.call("copy.out", x, y)
    m.give(y)
    return m.program()


def views() -> Program:
    """v = x.view(s, 2) of caller-bound x, used before and after it is made."""
    m = Maker()
    x = m.input(4, memory=None, dynamic=True)
    v = m.tensor(2, 2, memory=None, dynamic=True)
    y, early = m.tensor(2, 2, dynamic=True), m.tensor(2, 2, dynamic=True)
    rows, two = m.value(Int(2)), m.integer(2)
    first = m.value(Bool(False))
    m.inputs += [rows, first]
    m.add(JumpFalseCall(first, 2))
    m.call("copy.out", v, early)
    m.call("view.out", x, m.value(IntList((rows, two))), v)
    m.call("copy.out", v, y)
    m.give(y, early)
    return m.program()


def view_constant() -> Program:
    """A view of a constant may not be written."""
    m = Maker()
    c = m.tensor(4, memory=None, data=1)
    v = m.tensor(2, 2, memory=None)
    two = m.integer(2)
    m.call("view.out", c, m.value(IntList((two, two))), v)
    m.call("fill.out", two, v)
    m.give(v)
    return m.program(constants=(b"", floats(1, 2, 3, 4)))


def copy_index() -> Program:
    """Row `index`, an input, of a list of up to four rows."""
    m = Maker()
    rows, row = m.tensor(4, 2, dynamic=True), m.input(2)
    index = m.value(Int(3))
    m.inputs.append(index)
    m.exact_call("executorch_prim::et_copy_index.tensor", rows, row, index, rows)
    m.give(rows)
    return m.program()


def pad() -> Program:
    """Three numbers and pads, both inputs, become five."""
    m = Maker()
    x, before, after = m.input(3), m.value(Int(1)), m.value(Int(1))
    m.inputs += [before, after]
    y, value = m.tensor(5), m.value(Double(9.0))
    pads = m.value(IntList((before, after)))
    m.exact_call("aten::constant_pad_nd.out", x, pads, value, y, y)
    m.give(y)
    return m.program()
