"""Programs of the C tests: kinds of values and tensors, and calls that fail."""

from __future__ import annotations

from collections.abc import Callable

from maker import S64, Maker

from ember.program import (
    Bool,
    BoolList,
    Double,
    DoubleList,
    ExtraInfo,
    Int,
    IntList,
    Null,
    OptionalTensorList,
    Program,
    String,
    TensorList,
    Value,
)


def kinds() -> Program:
    """Every kind of value, seen by the probe."""
    m = Maker()
    x, y = m.input(2), m.tensor(2)
    three, minus, tensor_two = m.integer(3), m.integer(-(2**40)), m.tensor(1)
    args = [
        m.value(Null()),
        three,
        m.value(Bool(True)),
        m.value(Double(-2.5)),
        x,
        m.value(String("nearest")),
        m.value(IntList((three, minus))),
        m.value(DoubleList((0.5, -0.25))),
        m.value(BoolList((True, False, True))),
        m.value(TensorList((x, tensor_two))),
        m.value(OptionalTensorList((x, -1))),
        minus,
        y,
    ]
    m.call("probe.out", *args)
    m.give(y)
    return m.program()


def fixed_chain() -> Program:
    """Candidates, scratch, lists, a failing index: all nodes fixed."""
    m = Maker()
    x = m.input(2)
    index = m.input(2, dtype=S64)
    chosen, copied, picked = m.tensor(2), m.tensor(2), m.tensor(2)
    first, second, total = m.tensor(1), m.tensor(1), m.tensor(2)
    m.call("choose.out", x, chosen)
    m.call("copy.out", chosen, copied)
    m.call("gather.out", copied, index, picked)
    m.exact_call(
        "split.out",
        picked,
        m.value(TensorList((first, second))),
        m.value(TensorList((first, second))),
    )
    listed = m.value(OptionalTensorList((x, -1, picked)))
    m.call("sum.out", listed, total)
    m.call("fill.out", m.value(Double(7.5)), first)
    m.give(picked, total, first, second)
    return m.program()


def scalars() -> Program:
    """Scalar inputs of each kind, read by a kernel, and a None."""
    m = Maker()
    values: list[Value] = [Int(1), Double(0.5), Bool(True), Null(), String("tanh")]
    m.inputs += [m.value(value) for value in values]
    y = m.tensor(1)
    m.call("fill.out", m.inputs[1], y)
    m.call("probe.out", *m.inputs, y)
    m.give(y, *m.inputs)
    return m.program()


def empty() -> Program:
    """No instructions; empty and 0-d tensors."""
    m = Maker()
    x, z = m.input(0, 3), m.input()
    m.give(x, z)
    return m.program()


def empty_tensors() -> Program:
    """Kernels on tensors without elements: constant, planned, with initial state."""
    m = Maker()
    c = m.tensor(0, memory=None, data=1)
    s = m.tensor(0, data=1, extra=ExtraInfo(name="s"))
    y = m.tensor(0)
    m.call("add.out", c, s, y)
    m.give(y)
    return m.program(constants=(b"", b""), mutable_data=((b"", b""),))


def memories() -> Program:
    """Three memories, the second unused."""
    m = Maker()
    x, t, y = m.input(2), m.tensor(2, memory=3), m.tensor(2, memory=3)
    m.call("add.out", x, x, t)
    m.call("add.out", t, x, y)
    m.give(y)
    return m.program()


def layouts() -> Program:
    m = Maker()
    x = m.input(1, 2, 3, 4, order=(0, 2, 3, 1))
    y = m.tensor(1, 2, 3, 4, order=(0, 2, 3, 1))
    m.call("copy.out", x, y)
    m.give(y)
    return m.program()


def ambiguous() -> Program:
    """An image of one or two channels: with one, its order has other names."""
    m = Maker()
    x = m.input(1, 2, 2, 3, order=(0, 2, 1, 3), dynamic=True)
    y = m.tensor(1, 2, 2, 3, order=(0, 2, 1, 3), dynamic=True)
    m.call("copy.out", x, y)
    m.give(y)
    return m.program()


def failing(name: str) -> Callable[[], Program]:
    def build() -> Program:
        m = Maker()
        x, y = m.input(2), m.tensor(2)
        m.exact_call("none")
        m.call("copy.out", x, y)
        m.call(name, x, y)
        m.give(y)
        return m.program()

    return build


def unknown_operator() -> Program:
    m = Maker()
    x, y = m.input(2), m.tensor(2)
    m.call("copy.out", x, y)
    m.call("nowhere.out", x, y)
    return m.program()


def arguments() -> Program:
    """A call with one argument too few."""
    m = Maker()
    x, y = m.input(2), m.tensor(2)
    m.exact_call("add.out", x, x, y)
    m.give(y)
    return m.program()


def stale_error() -> Program:
    """A volatile node that fails at load, then a fixed one that fails silently."""
    m = Maker()
    x = m.input(4, dynamic=True)
    small, y = m.tensor(3, dynamic=True), m.tensor(2)
    m.call("copy.out", x, small)
    m.call("fail.silent", y, y)
    return m.program()
