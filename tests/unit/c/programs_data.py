"""Programs of the C tests: constants, states and data files."""

from __future__ import annotations

from math import prod

from maker import F32, Maker, floats

from ember.files import tensor_data
from ember.program import ExtraInfo, NamedData, Program, Tensor


def constants() -> Program:
    """y = (x + c) + d; constants of a segment, a duplicate and an unused one."""
    m = Maker()
    x = m.input(2)
    c = m.tensor(2, memory=None, data=1)
    d = m.tensor(2, memory=None, data=2)
    t, y = m.tensor(2), m.tensor(2)
    m.call("add.out", x, c, t)
    m.call("add.out", t, d, y)
    m.give(y)
    return m.program(
        constants=(b"", floats(1, 2), floats(10, 20), b"unused" * 3),
    )


def attribute() -> Program:
    """total += x; y = total: nothing plans memory for `total`."""
    m = Maker()
    x = m.input(2)
    total = m.tensor(2, memory=None, extra=ExtraInfo(name="count.total"))
    y = m.tensor(2, extra=ExtraInfo(name="y"))
    m.call("add.out", total, x, total)
    m.call("copy.out", total, y)
    m.give(y)
    return m.program()


def counter() -> Program:
    """state += 1, from an initial state of (3, 4); another from named segment 1."""
    m = Maker()
    state = m.tensor(2, data=1, extra=ExtraInfo(name="state"))
    other = m.tensor(2, data=1, extra=ExtraInfo(mutable_segment=1, name="other"))
    odd = m.tensor(2, data=2, extra=ExtraInfo(mutable_segment=1, name="odd"))
    step = m.tensor(2, memory=None, data=1)
    m.call("add.out", state, step, state)
    m.call("add.out", other, step, other)
    m.give(state, other, odd)
    return m.program(
        constants=(b"", floats(1, 1)),
        mutable_data=(
            (b"", floats(3, 4)),
            (b"", floats(30, 40) + b"?", floats(50, 60)),  # the last is misaligned
        ),
    )


def external() -> Program:
    """w from a .ptd, and a buffer with its initial state there."""
    m = Maker()
    x, y = m.input(2), m.tensor(2)
    w = m.tensor(2, memory=None, extra=ExtraInfo(name="w", external=True))
    s = m.tensor(2, extra=ExtraInfo(name="s", external=True))
    m.call("add.out", x, w, y)
    m.call("add.out", y, s, s)
    m.give(y, s)
    return m.program()


def external_square() -> Program:
    """w of two dimensions from a .ptd."""
    m = Maker()
    w = m.tensor(2, 2, memory=None, extra=ExtraInfo(name="w", external=True))
    y = m.tensor(2, 2)
    m.call("copy.out", w, y)
    m.give(y)
    return m.program()


def external_data(
    shape: tuple[int, ...] = (2,), order: tuple[int, ...] | None = None
) -> bytes:
    layout = tensor_data.TensorLayout(F32, shape, order or tuple(range(len(shape))))
    entries = (
        tensor_data.Entry("other", b"blob"),
        tensor_data.Entry("w", floats(*range(100, 100 * prod(shape) + 1, 100)), layout),
        tensor_data.Entry("s", floats(5, 6), None),
    )
    return tensor_data.write(tensor_data.TensorData(entries))


def more_data() -> bytes:
    """more.ptd: one key that external.ptd has not."""
    more = tensor_data.Entry("more", b"bytes")
    return tensor_data.write(tensor_data.TensorData((more,)))


def named() -> Program:
    m = Maker()
    return m.program(
        named_data=(NamedData("key", b"value"), NamedData("key2", b"other")),
    )


def named_three() -> Program:
    """The key in the middle is the start of the last."""
    m = Maker()
    entries = ("first", "key", "key2")
    return m.program(named_data=tuple(NamedData(key, key.encode()) for key in entries))


def named_unsorted() -> Program:
    m = Maker()
    return m.program(named_data=tuple(NamedData(key, key.encode()) for key in "ceadb"))


def named_twice() -> Program:
    """A key that is there twice."""
    entries = (("key", b"first"), ("key", b"second"), ("last", b"third"))
    m = Maker()
    return m.program(named_data=tuple(NamedData(*entry) for entry in entries))


def methods() -> Program:
    """Two methods that share a state in memory 2."""
    first, second = Maker("increase"), Maker("read")
    for m in (first, second):
        m.tensor(2)  # so that memory 1 exists
        state = m.tensor(2, memory=2)
        y = m.tensor(2)
        step = m.value(Tensor(F32, (2,), (0,), data_index=1))
        if m is first:
            m.call("add.out", state, step, state)
        m.call("copy.out", state, y)
        m.give(y)
    return Program(
        methods=(first.method(), second.method()), constants=(b"", floats(1, 1))
    )
