"""Programs of the C tests: jumps, loops and moves."""

from __future__ import annotations

from maker import B1, Maker, floats

from ember.program import Bool, FreeCall, Int, JumpFalseCall, MoveCall, Program


def cond(memory: int | None = None, conditions: int = 1) -> Program:
    """if yes: r = x + x else: r = x; y = r + x, as the exporter lowers torch.cond;
    yes is all of several conditions."""
    m = Maker()
    x, yes = m.input(2), m.input(conditions, dtype=B1)
    r, doubled, y = m.tensor(2, memory=memory), m.tensor(2), m.tensor(2)
    false = m.value(Bool(False))
    m.add(JumpFalseCall(yes, 4))
    m.call("add.out", x, x, doubled)
    m.add(MoveCall(doubled, r))
    m.add(JumpFalseCall(false, 5))
    m.add(MoveCall(x, r))
    m.call("add.out", r, x, y)
    m.give(y, r)
    return m.program()


def bool_input() -> Program:
    """A bool input decides; an int input counts."""
    m = Maker()
    yes = m.value(Bool(True))
    count = m.value(Int(1))
    unread = m.value(Int(5))
    m.inputs += [yes, count, unread]
    y = m.tensor(2)
    m.add(JumpFalseCall(yes, 2))
    m.exact_call("inc.int", count, count)
    m.call("fill.out", count, y)
    m.give(y, count)
    return m.program()


def loop() -> Program:
    """for i in range(n): y += x."""
    m = Maker()
    n = m.value(Int(3))
    m.inputs.append(n)
    x, y = m.input(2), m.tensor(2)
    i, zero, more, false = (
        m.integer(0),
        m.integer(0),
        m.value(Bool(False)),
        m.value(Bool(False)),
    )
    m.add(MoveCall(zero, i))
    m.call("fill.out", zero, y)
    m.exact_call("less.int", i, n, more)
    m.add(JumpFalseCall(more, 7))
    m.call("add.out", y, x, y)
    m.exact_call("inc.int", i, i)
    m.add(JumpFalseCall(false, 2))
    m.give(y, i)
    return m.program()


def costly_loop() -> Program:
    """for i in range(n): a call that depends on i."""
    m = Maker()
    n = m.value(Int(3))
    m.inputs.append(n)
    y = m.tensor(2)
    i, zero, more, false = (
        m.integer(0),
        m.integer(0),
        m.value(Bool(False)),
        m.value(Bool(False)),
    )
    m.add(MoveCall(zero, i))
    m.exact_call("less.int", i, n, more)
    m.add(JumpFalseCall(more, 6))
    m.call("probe.out", i, y)
    m.exact_call("inc.int", i, i)
    m.add(JumpFalseCall(false, 1))
    m.give(y)
    return m.program()


def swap_loop(memory: int | None = None) -> Program:
    """for i in range(n): t, a, b = a, b, t; y = a."""
    m = Maker()
    n = m.value(Int(3))
    m.inputs.append(n)
    a, b = m.input(2, memory=memory), m.input(2, memory=memory)
    t = m.tensor(2, memory=memory)
    y = m.tensor(2)
    i, zero, more, false = (
        m.integer(0),
        m.integer(0),
        m.value(Bool(False)),
        m.value(Bool(False)),
    )
    m.add(MoveCall(zero, i))
    m.exact_call("less.int", i, n, more)
    m.add(JumpFalseCall(more, 8))
    m.add(MoveCall(a, t))
    m.add(MoveCall(b, a))
    m.add(MoveCall(t, b))
    m.exact_call("inc.int", i, i)
    m.add(JumpFalseCall(false, 1))
    m.call("copy.out", a, y)
    m.give(y)
    return m.program()


def endless() -> Program:
    m = Maker()
    false = m.value(Bool(False))
    m.exact_call("none")
    m.add(JumpFalseCall(false, 0))
    return m.program()


def moves() -> Program:
    """r <- a; s <- r; r <- b; y = s + r: s still stands for a."""
    m = Maker()
    a, b = m.input(2), m.input(2)
    r, s = m.tensor(2, memory=None), m.tensor(2, memory=None)
    y = m.tensor(2)
    count, copy = m.value(Int(4)), m.integer(0)
    m.add(MoveCall(a, r))
    m.add(MoveCall(r, s))
    m.add(MoveCall(b, r))
    m.call("add.out", s, r, y)
    m.add(MoveCall(count, copy))
    m.exact_call("inc.int", count, count)
    m.add(FreeCall(r))
    m.give(y, s, r, copy, count)
    return m.program()


def shared_branches() -> Program:
    """r <- t; t = b; y = r + t: r has memory of its own, so it keeps what t was."""
    m = Maker()
    a, b = m.input(2), m.input(2)
    t, r, y = m.tensor(2), m.tensor(2), m.tensor(2)
    m.call("copy.out", a, t)
    m.add(MoveCall(t, r))
    m.call("copy.out", b, t)
    m.call("add.out", r, t, y)
    m.give(y, r)
    return m.program()


def dynamic_move() -> Program:
    """r <- x takes x's shape."""
    m = Maker()
    x, r, y = (
        m.input(4, dynamic=True),
        m.tensor(4, dynamic=True),
        m.tensor(4, dynamic=True),
    )
    m.add(MoveCall(x, r))
    m.call("copy.out", r, y)
    m.give(y, r)
    return m.program()


def move_input() -> Program:
    """x <- c, a constant: the next set_input must not write to it."""
    m = Maker()
    x, y = m.input(2), m.tensor(2)
    c = m.tensor(2, memory=None, data=1)
    m.call("copy.out", x, y)
    m.add(MoveCall(c, x))
    m.give(y, x)
    return m.program(constants=(b"", floats(8, 9)))
