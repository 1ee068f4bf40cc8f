"""Programs of the C tests: what exporters never write, and the loader must survive."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from maker import Maker, floats

from ember import program
from ember.files.tensors import DType
from ember.program import (
    Allocation,
    DelegateCall,
    FreeCall,
    IntList,
    MoveCall,
    NamedData,
    PlannedDevice,
    Program,
    Tensor,
    TensorList,
)

_ITEMS_PER_BYTE = 2  # of lists that calls share, for each byte of a file of no segments


def empty_nowhere() -> Program:
    """A tensor without elements in a memory that there is not."""
    m = Maker()
    x, y = m.tensor(0), m.input(2)
    stated = m.values[x]
    assert isinstance(stated, Tensor)
    m.values[x] = replace(stated, allocation=Allocation(7, 0))
    m.call("copy.out", x, x)
    m.give(y)
    return m.program()


def empty_move() -> Program:
    """A tensor without elements moves to one in a memory that there is not."""
    m = Maker()
    x, y = m.input(0, dynamic=True), m.tensor(0, dynamic=True)
    stated = m.values[y]
    assert isinstance(stated, Tensor)
    m.values[y] = replace(stated, allocation=Allocation(7, 0))
    m.add(MoveCall(x, y))
    m.give(y)
    return m.program()


def deepest() -> Program:
    """As many dimensions and as large sizes as there may be."""
    m = Maker()
    m.input(*(1,) * 16)
    m.input(2**31 - 1, 0)
    bytes_ = m.input(2**31 - 1, dtype=DType.UINT8, memory=None)
    m.give(bytes_)
    return m.program()


def second_on_device() -> Program:
    m = Maker()
    x, y = m.input(2), m.tensor(2)
    m.call("copy.out", x, y)
    m.give(y)
    devices = (PlannedDevice(1, 0, 0), PlannedDevice(1, 1, 0))
    return Program(methods=(replace(m.method(), planned_devices=devices),))


def matrix() -> Program:
    """A dynamic input of two dimensions."""
    m = Maker()
    x, y = m.input(2, 3, dynamic=True), m.tensor(2, 3, dynamic=True)
    m.call("copy.out", x, y)
    m.give(y)
    return m.program()


def only_dynamic() -> Program:
    """A dynamic tensor is all that there is."""
    m = Maker()
    m.give(m.input(2, 3, dynamic=True))
    return m.program()


def plain_state() -> Program:
    """A state whose tensor says nothing more, and a dynamic tensor without shape."""
    m = Maker()
    state, y = m.tensor(2, data=1), m.tensor(2)
    number = m.input(dynamic=True)
    m.call("copy.out", state, y)
    m.call("copy.out", number, number)
    m.give(y)
    return m.program(mutable_data=((b"", floats(3, 4)),))


def nul_in_a_name() -> Program:
    m = Maker()
    y = m.tensor(2)
    m.call("fill.out\0", m.integer(1), y)
    return m.program()


def on_the_cpu() -> Program:
    """A memory on a device, which is the CPU."""
    m = Maker()
    x, y = m.input(2), m.tensor(2)
    m.call("copy.out", x, y)
    m.give(y)
    method = replace(m.method(), planned_devices=(PlannedDevice(1, 0, 0),))
    return Program(methods=(method,))


def nowhere_in_a_list() -> Program:
    """An integer of a list is a value that there is not."""
    m = Maker()
    y = m.tensor(2)
    m.call("probe.out", m.value(IntList((-1,))), y)
    m.give(y)
    return m.program()


def fixed_lists(calls: int) -> Program:
    """Calls that share a long list, and nothing that changes."""
    m = Maker()
    y = m.tensor(1)
    listed = m.value(TensorList((m.tensor(1),) * 2000))
    for _ in range(calls):
        m.call("probe.out", listed, y)
    m.add(FreeCall(y))  # so it is loaded as a method in which something may change
    m.give(y)
    return m.program()


def spent(kind: str, needs: range) -> Callable[[], Program]:
    """Calls use up what lists may cost, but for what is in `needs`. The last call needs
    200 for its arguments, or its list twice."""

    def build() -> Program:
        for calls in range(1, 60):
            for items in range(200, 260):
                content = _calls(kind, calls, items)
                if _left(content, calls * (2 + 2 * items)) in needs:
                    return content
        raise AssertionError("no such program")

    return build


def _calls(kind: str, calls: int, items: int) -> Program:
    m = Maker()
    x, y = m.input(4, dynamic=True), m.tensor(4, dynamic=True)
    fixed = m.tensor(1)
    listed = m.value(TensorList((fixed,) * items))
    for _ in range(calls):
        m.exact_call("none", listed, listed)
    if kind == "arguments":
        m.exact_call("none", *([fixed] * 200))
    else:
        m.exact_call("none", x, m.value(TensorList((fixed,) * 300)))
    m.give(y)
    return m.program()


def _left(content: Program, used: int) -> int:
    return _ITEMS_PER_BYTE * len(program.write(content)) - used


def released() -> Program:
    """Delegates whose blobs are in segments, or empty, beside all other segments."""
    m = Maker()
    x, y = m.input(2), m.tensor(2)
    c = m.tensor(2, memory=None, data=1)
    state = m.tensor(2, data=1)
    m.call("add.out", c, state, state)
    for blob in (b"first", b"second", b""):
        index = m.delegate("ToyBackend", blob, inline=not blob, compile_specs=())
        m.add(DelegateCall(index, (x, y)))
    m.give(y)
    return m.program(
        constants=(b"", floats(1, 1)),
        mutable_data=((b"", floats(3, 4)), (b"", floats(5, 6))),
        named_data=(NamedData("other", floats(1)), NamedData("weights", floats(2.5))),
    )


RARE = {
    "deepest": deepest,
    "empty_move": empty_move,
    "empty_nowhere": empty_nowhere,
    "few_fixed_lists": lambda: fixed_lists(6),
    "fixed_lists": lambda: fixed_lists(12),
    "matrix": matrix,
    "nowhere_in_a_list": nowhere_in_a_list,
    "nul_in_a_name": nul_in_a_name,
    "on_the_cpu": on_the_cpu,
    "only_dynamic": only_dynamic,
    "plain_state": plain_state,
    "released": released,
    "second_on_device": second_on_device,
    "all_for_arguments": spent("arguments", range(200, 201)),
    "spent_on_arguments": spent("arguments", range(20, 200)),
    "spent_on_lists": spent("lists", range(320, 560)),
}
