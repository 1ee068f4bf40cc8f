"""A folder -> the programs that the C tests load, made of the toys of toys.h.

python tests/unit/c/programs.py FOLDER
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from ember import program
from ember.files import tensor_data
from ember.files.tensors import DType
from ember.program import (
    Allocation,
    Bool,
    BoolList,
    Chain,
    CompileSpec,
    Delegate,
    DelegateCall,
    Double,
    DoubleList,
    ExtraInfo,
    FreeCall,
    Instruction,
    Int,
    IntList,
    JumpFalseCall,
    KernelCall,
    Method,
    MoveCall,
    NamedData,
    Null,
    Operator,
    OptionalTensorList,
    Program,
    String,
    Tensor,
    TensorList,
    Value,
    bundle,
)

F32, S32, S64, B1 = DType.FLOAT32, DType.INT32, DType.INT64, DType.BOOL


def floats(*numbers: float) -> bytes:
    return struct.pack(f"<{len(numbers)}f", *numbers)


class Maker:
    """A method under construction; values are numbered in the order they are made."""

    def __init__(self, name: str = "forward") -> None:
        self.name = name
        self.values: list[Value] = []
        self.inputs: list[int] = []
        self.outputs: list[int] = []
        self.instructions: list[Instruction] = []
        self.operators: list[Operator] = []
        self.delegates: list[Delegate] = []
        self.planned = [0]

    def value(self, value: Value) -> int:
        self.values.append(value)
        return len(self.values) - 1

    def integer(self, number: int) -> int:
        return self.value(Int(number))

    def tensor(
        self,
        *sizes: int,
        dtype: DType = F32,
        memory: int | None = 1,
        dynamic: bool = False,
        data: int = 0,
        extra: ExtraInfo | None = None,
        order: Sequence[int] | None = None,
    ) -> int:
        """A tensor in planned memory of its own, or in none."""
        one = Tensor(
            dtype,
            tuple(sizes),
            tuple(range(len(sizes)) if order is None else order),
            data_index=data,
            dynamism="bounded" if dynamic else "static",
            extra=extra,
        )
        allocation = None
        if memory is not None:
            while len(self.planned) <= memory:
                self.planned.append(0)
            allocation = Allocation(memory, self.planned[memory])
            self.planned[memory] += -(-one.nbytes // 16) * 16
        return self.value(Tensor(**{**vars(one), "allocation": allocation}))

    def input(self, *sizes: int, **options: object) -> int:
        self.inputs.append(self.tensor(*sizes, **options))  # type: ignore[arg-type]
        return self.inputs[-1]

    def give(self, *values: int) -> None:
        self.outputs += values

    def operator(self, name: str) -> int:
        base, _, overload = name.partition(".")
        one = Operator(base, overload)
        if one not in self.operators:
            self.operators.append(one)
        return self.operators.index(one)

    def call(self, name: str, *args: int) -> int:
        """A kernel call whose last argument is also its return value."""
        return self.exact_call(name, *args, args[-1])

    def exact_call(self, name: str, *args: int) -> int:
        full = name if "::" in name else f"toy::{name}"
        self.instructions.append(KernelCall(self.operator(full), args))
        return len(self.instructions) - 1

    def add(self, instruction: Instruction) -> int:
        self.instructions.append(instruction)
        return len(self.instructions) - 1

    def delegate(self, name: str, data: bytes, **options: object) -> int:
        self.delegates.append(Delegate(name, data, **options))  # type: ignore[arg-type]
        return len(self.delegates) - 1

    def method(self) -> Method:
        return Method(
            name=self.name,
            values=tuple(self.values),
            inputs=tuple(self.inputs),
            outputs=tuple(self.outputs),
            chains=(Chain(tuple(self.instructions), (), ()),),
            operators=tuple(self.operators),
            delegates=tuple(self.delegates),
            planned_sizes=tuple(self.planned),
            planned_devices=(),
            containers=None,
        )

    def program(self, **options: object) -> Program:
        return Program(methods=(self.method(),), **options)  # type: ignore[arg-type]


def add() -> Program:
    """y = a + b, all planned."""
    m = Maker()
    a, b, y = m.input(2, 3), m.input(2, 3), m.tensor(2, 3)
    m.call("add.out", a, b, y)
    m.give(y)
    return m.program()


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


def cond(memory: int | None = None) -> Program:
    """if yes: r = x + x else: r = x; y = r + x, as the exporter lowers torch.cond."""
    m = Maker()
    x, yes = m.input(2), m.input(1, dtype=B1)
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


def counter() -> Program:
    """state += 1, from an initial state of (3, 4); another from named segment 1."""
    m = Maker()
    state = m.tensor(2, data=1, extra=ExtraInfo(name="state"))
    other = m.tensor(2, data=1, extra=ExtraInfo(mutable_segment=1, name="other"))
    odd = m.tensor(2, data=2, extra=ExtraInfo(mutable_segment=1, name="odd"))
    one = m.tensor(2, memory=None, data=1)
    m.call("add.out", state, one, state)
    m.call("add.out", other, one, other)
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


def external_data(shape: tuple[int, ...] = (2,)) -> bytes:
    layout = tensor_data.TensorLayout(F32, shape, tuple(range(len(shape))))
    entries = (
        tensor_data.Entry("other", b"blob"),
        tensor_data.Entry("w", floats(100, 200), layout),
        tensor_data.Entry("s", floats(5, 6), None),
    )
    return tensor_data.write(tensor_data.TensorData(entries))


def named() -> Program:
    m = Maker()
    return m.program(
        named_data=(NamedData("key", b"value"), NamedData("key2", b"other")),
    )


def methods() -> Program:
    """Two methods that share a state in memory 2."""
    first, second = Maker("increase"), Maker("read")
    for m in (first, second):
        m.tensor(2)  # so that memory 1 exists
        state = m.tensor(2, memory=2)
        y = m.tensor(2)
        one = m.value(Tensor(F32, (2,), (0,), data_index=1))
        if m is first:
            m.call("add.out", state, one, state)
        m.call("copy.out", state, y)
        m.give(y)
    return Program(
        methods=(first.method(), second.method()), constants=(b"", floats(1, 1))
    )


def delegates() -> Program:
    """Two delegates; the first is called twice and both see specs and blobs."""
    m = Maker()
    x, y, z = m.input(2), m.tensor(2), m.tensor(2)
    first = m.delegate(
        "ToyBackend",
        b"first blob",
        inline=True,
        compile_specs=(CompileSpec("key", b"value"), CompileSpec("empty", b"")),
    )
    second = m.delegate("ToyBackend", b"second", inline=False, compile_specs=())
    m.delegate("NotCalled", b"x", inline=True, compile_specs=())
    m.add(DelegateCall(second, (x, y)))
    m.add(DelegateCall(first, (y, z)))
    m.add(DelegateCall(first, (z, y)))
    m.give(y)
    return m.program(named_data=(NamedData("weights", floats(2.5)),))


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


def example(first: bytes, *more: bytes) -> Callable[[], Program]:
    """Delegates of EmberExampleBackend in a row; the last adds the input."""

    def build() -> Program:
        m = Maker()
        x = m.input(3)
        last = x
        for blob in (first, *more):
            y = m.tensor(3)
            index = m.delegate(
                "EmberExampleBackend", blob, inline=True, compile_specs=()
            )
            both = blob[4:5] == b"\x02"
            m.add(DelegateCall(index, (last, x, y) if both else (last, y)))
            last = y
        m.give(last)
        return m.program(named_data=(NamedData("half", floats(0.5)),))

    return build


def blob(operator: int, where: int, n: int, count: int, rest: bytes = b"") -> bytes:
    return struct.pack("<4sBBHII", b"EXB0", operator, where, 0, n, count) + rest


EXAMPLE = example(
    blob(0, 1, 3, 3, floats(1, 2, 3)),
    blob(1, 2, 3, 1, struct.pack("<I", 4) + b"half"),
    blob(2, 0, 3, 0),
)
BAD_EXAMPLES = (
    b"",
    b"EXB0",
    b"EXB1" + blob(2, 0, 3, 0)[4:],
    blob(3, 0, 3, 0),
    blob(0, 0, 3, 0),
    blob(0, 3, 3, 1, floats(1)),
    blob(0, 1, 3, 2, floats(1, 2, 3)),
    blob(0, 1, 3, 3, floats(1, 2)),
    blob(0, 1, 2**30, 2**30, floats(1, 2)),
    blob(2, 0, 3, 1, floats(1)),
    blob(1, 2, 3, 1, b"\xff\xff\xff\xff"),
    blob(1, 2, 3, 1, struct.pack("<I", 5) + b"other"),
    blob(1, 2, 3, 3, struct.pack("<I", 4) + b"half"),
    blob(1, 2, 3, 1, b"\x01\x00"),
)


def missing_backend() -> Program:
    m = Maker()
    x, y = m.input(2), m.tensor(2)
    toy = m.delegate("ToyBackend", b"one", inline=True, compile_specs=())
    m.add(DelegateCall(toy, (x, y)))
    bad = m.delegate("NoSuchBackend", b"", inline=True, compile_specs=())
    m.add(DelegateCall(bad, (x, y)))
    return m.program()


def unbound_delegate() -> Program:
    m = Maker()
    x, y = m.input(2, memory=None), m.tensor(2)
    toy = m.delegate("ToyBackend", b"one", inline=True, compile_specs=())
    m.add(DelegateCall(toy, (x, y)))
    m.give(y)
    return m.program()


def scalars() -> Program:
    """Scalar inputs of each kind, read by a kernel, and a None."""
    m = Maker()
    values: list[Value] = [Int(1), Double(0.5), Bool(True), Null(), String("tanh")]
    m.inputs += [m.value(one) for one in values]
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


def stale_error() -> Program:
    """A volatile node that fails at load, then a fixed one that fails silently."""
    m = Maker()
    x = m.input(4, dynamic=True)
    small, y = m.tensor(3, dynamic=True), m.tensor(2)
    m.call("copy.out", x, small)
    m.call("fail.silent", y, y)
    return m.program()


def bounded_scratch() -> Program:
    """Scratch of a dynamic node is sized for its bound."""
    m = Maker()
    x, y = m.input(64, dynamic=True), m.tensor(64, dynamic=True)
    m.call("copy.out", x, y)
    m.give(y)
    return m.program()


PROGRAMS: dict[str, Callable[[], Program]] = {
    "attribute": attribute,
    "add": add,
    "ambiguous": ambiguous,
    "arguments": arguments,
    "bool_input": bool_input,
    "bound_by_caller": bound_by_caller,
    "bound_dynamic": bound_dynamic,
    "bounded_scratch": bounded_scratch,
    "cond": cond,
    "cond_planned": lambda: cond(1),
    "constants": constants,
    "copy_index": copy_index,
    "counter": counter,
    "delegates": delegates,
    "dynamic": dynamic,
    "dynamic_move": dynamic_move,
    "empty": empty,
    "empty_tensors": empty_tensors,
    "endless": endless,
    "example": EXAMPLE,
    "example_other_size": example(blob(0, 1, 4, 1, floats(2))),
    **{f"example_bad_{n}": example(bad) for n, bad in enumerate(BAD_EXAMPLES)},
    "external": external,
    "fail_prepare": failing("fail.prepare"),
    "fail_run": failing("fail.run"),
    "fail_silent": failing("fail.silent"),
    "fixed_chain": fixed_chain,
    "kinds": kinds,
    "layouts": layouts,
    "loop": loop,
    "memories": memories,
    "methods": methods,
    "missing_backend": missing_backend,
    "move_input": move_input,
    "moves": moves,
    "named": named,
    "pad": pad,
    "positive": positive,
    "refuse": failing("refuse.out"),
    "scalars": scalars,
    "stale_error": stale_error,
    "shared_branches": shared_branches,
    "swap_handles": swap_loop,
    "swap_loop": lambda: swap_loop(1),
    "too_dynamic": too_dynamic,
    "unbound_delegate": unbound_delegate,
    "unknown_operator": unknown_operator,
    "view_constant": view_constant,
    "views": views,
}


def bundled() -> bytes:
    """toys.bpte: add with the test cases that test_bundle.c numbers."""
    a = np.arange(6, dtype="float32").reshape(2, 3)
    special = np.array([[np.nan, np.inf, -np.inf], [0, 1, 2]], "float32")
    changed = a * 2 + np.array([[0, 0, 0], [0, 0, 0.5]], "float32")
    near = (a * 2 * 1.0005).astype("float32")

    def tensor(array: np.ndarray, dtype: DType = F32, *order: int) -> bundle.Tensor:
        return bundle.Tensor.of(array, dtype, order or None)

    def case(x: np.ndarray, *outputs: bundle.Tensor) -> bundle.Case:
        return bundle.Case((tensor(x), tensor(x)), outputs)

    cases = (
        case(a, tensor(a * 2)),
        case(a, tensor(changed)),
        case(a, tensor(near)),
        case(special, tensor(special * 2)),
        case(a, tensor((a * 2).reshape(3, 2))),
        case(a, tensor(a.astype("int32") * 2, S32)),
        bundle.Case((tensor(a),), (tensor(a * 2),)),
        case(a, tensor(a * 2, F32, 1, 0)),
    )
    suites = (bundle.Suite("forward", cases),)
    return bundle.write(bundle.Bundle(program.write(add()), suites))


def write_all(folder: Path) -> None:
    for name, build in PROGRAMS.items():
        (folder / f"{name}.pte").write_bytes(program.write(build()))
    inline = program.write(constants(), inline_constants=True)
    (folder / "constants_inline.pte").write_bytes(inline)
    (folder / "toys.bpte").write_bytes(bundled())
    (folder / "external.ptd").write_bytes(external_data())
    (folder / "external_other.ptd").write_bytes(external_data((1, 2)))


if __name__ == "__main__":
    write_all(Path(sys.argv[1]))
