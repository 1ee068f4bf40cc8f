"""Programs of the C tests: moves between values that are unlike."""

from __future__ import annotations

from dataclasses import replace

from maker import B1, S32, Maker, floats

from ember.files.tensors import DType
from ember.program import (
    Allocation,
    Int,
    IntList,
    JumpFalseCall,
    MoveCall,
    Program,
    String,
    Tensor,
    TensorList,
)


def kinds_moved() -> Program:
    """Tensors where scalars were, scalars where tensors were, and a string."""
    m = Maker()
    x, r = m.input(2), m.tensor(2)
    number, three = m.value(Int(3)), m.integer(3)
    text, other = m.value(String("one")), m.value(String("other"))
    m.add(MoveCall(x, number))
    m.add(MoveCall(three, number))
    m.add(MoveCall(three, r))
    m.add(MoveCall(x, r))
    m.add(MoveCall(text, other))
    m.give(r, number, other)
    return m.program()


def scalar_for_tensor(*, written: bool) -> Program:
    """A number where a call reads, or writes, a tensor."""
    m = Maker()
    x, r, y = m.input(2), m.tensor(2), m.tensor(2)
    m.add(MoveCall(m.integer(3), r))
    m.call("copy.out", *((x, r) if written else (r, y)))
    m.give(y)
    return m.program()


def unlike() -> Program:
    """Tensors of another type, rank, order and shape: handles are moved."""
    m = Maker()
    x, image = m.input(2), m.input(1, 2, 3, 4)
    targets = [
        m.tensor(2, dtype=S32),
        m.tensor(1, 2),
        m.tensor(3),
        m.tensor(1, 2, 3, 4, order=(0, 2, 3, 1)),
    ]
    for source, target in zip((x, x, x, image), targets, strict=True):
        m.add(MoveCall(source, target))
    m.give(*targets)
    return m.program()


def overlapping() -> Program:
    """x of 32 bytes moves to where it is, and to places half over it."""
    m = Maker()
    m.tensor(4)  # 16 bytes before x
    x = m.input(8)
    targets = [m.tensor(8) for _ in range(3)]
    for target, offset in zip(targets, (0, 16, 32), strict=True):
        stated = m.values[target]
        assert isinstance(stated, Tensor)
        m.values[target] = replace(stated, allocation=Allocation(1, offset))
    for target in targets:
        m.add(MoveCall(x, target))
    m.give(*targets)
    return m.program()


def neighbours() -> Program:
    """x of 16 bytes moves to those before it and behind it."""
    m = Maker()
    before, x, behind = m.tensor(4), m.input(4), m.tensor(4)
    m.add(MoveCall(x, before))
    m.add(MoveCall(x, behind))
    m.give(before, behind)
    return m.program()


def lent_and_moved() -> Program:
    """y is x, which is the caller's; then x stands for z."""
    m = Maker()
    x, z, y = m.input(2, memory=None), m.input(2), m.tensor(2)
    m.call("copy.out", x, y)
    m.add(MoveCall(z, x))
    m.give(y)
    return m.program()


def dynamic_sum() -> Program:
    """The sum of a list goes to a tensor whose shape can change."""
    m = Maker()
    x, y = m.input(2), m.tensor(2, dynamic=True)
    m.call("sum.out", m.value(TensorList((x, x))), y)
    m.give(y)
    return m.program()


def moved_number() -> Program:
    """A number that is given, and only moved."""
    m = Maker()
    number, other = m.value(Int(3)), m.value(Int(4))
    m.inputs.append(number)
    m.add(MoveCall(number, other))
    m.give(other)
    return m.program()


def unbound() -> Program:
    """An input that was not given is moved to a planned tensor."""
    m = Maker()
    x, r = m.input(2, memory=None), m.tensor(2)
    m.add(MoveCall(x, r))
    m.give(r)
    return m.program()


def over_a_view() -> Program:
    """v is a view of a constant, then stands for x."""
    m = Maker()
    x, c = m.input(2), m.tensor(2, memory=None, data=1)
    v, first, second = m.tensor(2, memory=None), m.tensor(2), m.tensor(2)
    m.call("view.out", c, m.value(IntList((m.integer(2),))), v)
    m.call("copy.out", v, first)
    m.add(MoveCall(x, v))
    m.call("copy.out", v, second)
    m.give(first, second)
    return m.program(constants=(b"", floats(8, 9)))


def view_or_not() -> Program:
    """v is a view of a constant and, if `yes`, then stands for x; y is v."""
    m = Maker()
    yes, x = m.input(1, dtype=B1), m.input(2)
    c, v = m.tensor(2, memory=None, data=1), m.tensor(2, memory=None)
    y = m.tensor(2)
    m.call("view.out", c, m.value(IntList((m.integer(2),))), v)
    m.add(JumpFalseCall(yes, 3))
    m.add(MoveCall(x, v))
    m.call("copy.out", v, y)
    m.give(y)
    return m.program(constants=(b"", floats(8, 9)))


def view_of_either(*, written: bool = False) -> Program:
    """v is a view of the constant c, or of x, as `yes` says; it may be written then."""
    m = Maker()
    yes, x = m.input(1, dtype=B1), m.input(2, memory=None)
    c = m.tensor(2, memory=None, data=1)
    t, v = m.tensor(2, memory=None), m.tensor(2, memory=None)
    m.add(MoveCall(c, t))
    m.add(JumpFalseCall(yes, 3))
    m.add(MoveCall(x, t))
    m.call("view.out", t, m.value(IntList((m.integer(2),))), v)
    m.give(v, c)
    if written:
        m.call("fill.out", m.integer(7), v)
    return m.program(constants=(b"", floats(8, 9)))


def either_copied() -> Program:
    """y is a view of x or of z, as `yes` says."""
    m = Maker()
    yes, x, z = m.input(1, dtype=B1), m.input(2), m.input(2)
    t, v = m.tensor(2, memory=None), m.tensor(2, memory=None)
    y = m.tensor(2)
    m.add(MoveCall(z, t))
    m.add(JumpFalseCall(yes, 3))
    m.add(MoveCall(x, t))
    m.call("view.out", t, m.value(IntList((m.integer(2),))), v)
    m.call("copy.out", v, y)
    m.give(y)
    return m.program()


def condition(size: int) -> Program:
    """`yes`, of so many elements, has memory only of the caller's."""
    m = Maker()
    yes, y = m.input(size, dtype=B1, memory=None), m.tensor(2)
    m.add(JumpFalseCall(yes, 2))
    m.call("fill.out", m.integer(7), y)
    m.give(y)
    return m.program()


def moved_list() -> Program:
    """The sum of what a list stands for that a move has changed."""
    m = Maker()
    a, b, y = m.input(2), m.input(2), m.tensor(2)
    first, second = m.value(TensorList((a, a))), m.value(TensorList((b, b)))
    m.add(MoveCall(first, second))
    m.call("sum.out", second, y)
    m.give(y)
    return m.program()


def handle() -> Program:
    """r stands for x, whose shape changes."""
    m = Maker()
    x = m.input(4, dynamic=True)
    r, y = m.tensor(4, memory=None, dynamic=True), m.tensor(4, dynamic=True)
    m.add(MoveCall(x, r))
    m.call("copy.out", r, y)
    m.give(y)
    return m.program()


def asked_handle() -> Program:
    """r stands for x, whose shape changes; a call that has no other asks for r."""
    m = Maker()
    x, r = m.input(4, dynamic=True), m.tensor(4, memory=None, dynamic=True)
    m.add(MoveCall(x, r))
    m.call("probe.out", r, m.tensor(2))
    return m.program()


def wider_view() -> Program:
    """A view of eight bytes as sixteen."""
    m = Maker()
    x, v = m.input(2), m.tensor(2, dtype=DType.FLOAT64, memory=None)
    m.call("view.out", x, m.value(IntList((m.integer(2),))), v)
    m.give(v)
    return m.program()


def odd_view() -> Program:
    """A view of bytes, which may lie anywhere, as numbers of two."""
    m = Maker()
    x = m.input(4, dtype=DType.UINT8, memory=None)
    v = m.tensor(2, dtype=DType.INT16, memory=None)
    m.call("view.out", x, m.value(IntList((m.integer(2),))), v)
    m.give(v)
    return m.program()


MOVES = {
    "asked_handle": asked_handle,
    "condition_empty": lambda: condition(0),
    "condition_unbound": lambda: condition(1),
    "dynamic_sum": dynamic_sum,
    "either_copied": either_copied,
    "either_written": lambda: view_of_either(written=True),
    "handle": handle,
    "kinds_moved": kinds_moved,
    "lent_and_moved": lent_and_moved,
    "moved_list": moved_list,
    "moved_number": moved_number,
    "neighbours": neighbours,
    "odd_view": odd_view,
    "over_a_view": over_a_view,
    "overlapping": overlapping,
    "scalar_for_output": lambda: scalar_for_tensor(written=True),
    "scalar_for_tensor": lambda: scalar_for_tensor(written=False),
    "unbound_move": unbound,
    "unlike": unlike,
    "view_of_either": view_of_either,
    "view_or_not": view_or_not,
    "wider_view": wider_view,
}
