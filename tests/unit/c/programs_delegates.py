"""Programs of the C tests: delegates, of toys and of the example backend."""

from __future__ import annotations

import struct
from collections.abc import Callable

from maker import Maker, floats

from ember.program import CompileSpec, DelegateCall, Int, NamedData, Program


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


def numbered_delegate() -> Program:
    """A delegate is also given a number that is an input."""
    m = Maker()
    x, n, y = m.input(2), m.value(Int(3)), m.tensor(2)
    m.inputs.append(n)
    toy = m.delegate("ToyBackend", b"one", inline=True, compile_specs=())
    m.add(DelegateCall(toy, (x, y, n)))
    m.give(y)
    return m.program()


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
