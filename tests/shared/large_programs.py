"""Numbers become programs of that many calls, of shapes on which each stage has work.

Offsets are those of a planner that never uses a byte twice, so that packing, passes
and the check of the plan all have something to do.
"""

from __future__ import annotations

import math
import random
import struct
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from ember import program
from ember.files.tensors import DType
from ember.program import types

_ALIGN = 16


class _Writer:
    """A method under way: values, and calls of operators."""

    def __init__(self) -> None:
        self.values: list[types.Value] = []
        self.constants: list[bytes] = [b""]
        self.operators: dict[str, int] = {}
        self.calls: list[types.Instruction] = []
        self.inputs: list[int] = []
        self.initial: list[bytes] = [b""]  # of states
        self.delegates: list[types.Delegate] = []
        self.end = 0

    def add(self, value: types.Value) -> int:
        self.values.append(value)
        return len(self.values) - 1

    def tensor(self, *sizes: int) -> int:
        place = types.Allocation(1, self.end)
        self.end += -(-math.prod(sizes) * 4 // _ALIGN) * _ALIGN
        order = tuple(range(len(sizes)))
        return self.add(types.Tensor(DType.FLOAT32, sizes, order, 0, place))

    def input(self, *sizes: int) -> int:
        self.inputs.append(self.tensor(*sizes))
        return self.inputs[-1]

    def constant(self, content: bytes, *sizes: int) -> int:
        self.constants.append(content)
        order = tuple(range(len(sizes)))
        index = len(self.constants) - 1
        return self.add(types.Tensor(DType.FLOAT32, sizes, order, index))

    def call(self, name: str, *args: int) -> int:
        """The result, which is the last argument."""
        index = self.operators.setdefault(name, len(self.operators))
        self.calls.append(types.KernelCall(index, (*args, args[-1])))
        return args[-1]

    def add_of(self, value: int, other: int, *sizes: int) -> int:
        alpha = self.add(types.Int(1))
        return self.call("aten::add.out", value, other, alpha, self.tensor(*sizes))

    def relu(self, value: int, *sizes: int) -> int:
        return self.call("aten::relu.out", value, self.tensor(*sizes))

    def mean(self, value: int, *sizes: int) -> int:
        """Over the first dimension."""
        zero = self.add(types.Int(0))
        where, keep = self.add(types.IntList((zero,))), self.add(types.Bool(True))
        dtype = self.add(types.Null())
        return self.call(
            "aten::mean.out", value, where, keep, dtype, self.tensor(*sizes)
        )

    def cat(self, parts: list[int], dim: int, *sizes: int) -> int:
        tensors = self.add(types.TensorList(tuple(parts)))
        where = self.add(types.Int(dim))
        return self.call("aten::cat.out", tensors, where, self.tensor(*sizes))

    def view(self, value: int, *sizes: int) -> int:
        numbers = tuple(self.add(types.Int(size)) for size in sizes)
        shape = self.add(types.IntList(numbers))
        return self.call("aten::view_copy.out", value, shape, self.tensor(*sizes))

    def alias(self, value: int, *sizes: int) -> int:
        """The same bytes as another value."""
        tensor = self.values[value]
        assert isinstance(tensor, types.Tensor)
        order = tuple(range(len(sizes)))
        return self.add(replace(tensor, sizes=sizes, dim_order=order))

    def state(self, *sizes: int) -> int:
        """A buffer that is zero when the method is loaded."""
        self.initial.append(bytes(math.prod(sizes) * 4))
        index = self.tensor(*sizes)
        extra = types.ExtraInfo(name=f"buffer{index}")
        value = self.values[index]
        assert isinstance(value, types.Tensor)
        number = len(self.initial) - 1
        self.values[index] = replace(value, data_index=number, extra=extra)
        return index

    def keep(self, value: int, buffer: int) -> None:
        """Write a result into a buffer."""
        index = self.operators.setdefault("aten::copy_", len(self.operators))
        now = self.add(types.Bool(False))
        self.calls.append(types.KernelCall(index, (buffer, value, now, buffer)))

    def delegate(self, number: int, value: int, *sizes: int) -> int:
        """The input times a number of its own, by the example backend."""
        while len(self.delegates) <= number:
            factor = struct.pack("<f", 1 + len(self.delegates) / 1024)
            head = struct.pack("<4sBBHII", b"EXB0", 0, 1, 0, math.prod(sizes), 1)
            self.delegates.append(types.Delegate("EmberExampleBackend", head + factor))
        result = self.tensor(*sizes)
        self.calls.append(types.DelegateCall(number, (value, result)))
        return result

    def program(self, outputs: list[int]) -> types.Program:
        names = (name.partition(".") for name in self.operators)
        method = types.Method(
            name="forward",
            values=tuple(self.values),
            inputs=tuple(self.inputs),
            outputs=tuple(outputs),
            chains=(types.Chain(tuple(self.calls)),),
            operators=tuple(types.Operator(name, over) for name, _, over in names),
            delegates=tuple(self.delegates),
            planned_sizes=(0, self.end),
        )
        mutable = (tuple(self.initial),) if len(self.initial) > 1 else ()
        return types.Program((method,), tuple(self.constants), mutable)


def chain(count: int) -> types.Program:
    """Each call reads what the one before it wrote."""
    writer = _Writer()
    now = writer.input(1, 16)
    for _ in range(count):
        now = writer.relu(now, 1, 16)
    return writer.program([now])


def images(count: int) -> types.Program:
    """Images that can be made row by row, and sums with those around three calls."""
    writer, shape = _Writer(), (1, 2, 8, 8)
    now = writer.input(*shape)
    while len(writer.calls) < count:
        around = now
        for _ in range(3):
            now = writer.relu(now, *shape)
        now = writer.add_of(now, around, *shape)
    return writer.program([now])


def residual(count: int) -> types.Program:
    """Blocks of views, sums with what went around them, and constants."""
    writer, numbers = _Writer(), random.Random(20)
    now = writer.input(1, 16)
    while len(writer.calls) < count:
        around = now
        bias = writer.constant(numbers.randbytes(63) + b"\0", 1, 16)
        now = writer.relu(writer.add_of(now, bias, 1, 16), 1, 16)
        now = writer.view(writer.view(now, 4, 4), 1, 16)
        now = writer.add_of(now, around, 1, 16)
    return writer.program([now])


def dense(count: int) -> types.Program:
    """Blocks in which each call reads all results before it, joined."""
    writer, depth = _Writer(), 12
    now = writer.input(1, 16)
    while len(writer.calls) < count:
        seen = [now]
        for step in range(2, depth):
            joined = writer.cat(seen, 0, step - 1, 16)
            seen.append(writer.mean(joined, 1, 16))
        now = seen[-1]
    return writer.program([now])


def stack(count: int) -> types.Program:
    """Half of the results wait for the second half, the first one longest."""
    writer = _Writer()
    kept = [writer.input(1, 16)]
    for _ in range(count // 2):
        kept.append(writer.relu(kept[-1], 1, 16))
    now = kept.pop()
    while kept:
        now = writer.add_of(now, kept.pop(), 1, 16)
    return writer.program([now])


def many(count: int) -> types.Program:
    """An input and a constant for each pair of calls, and as many outputs."""
    writer = _Writer()
    outputs = []
    for number in range(count // 2):
        bias = writer.constant(number.to_bytes(4, "little") * 16, 1, 16)
        total = writer.add_of(writer.input(1, 16), bias, 1, 16)
        outputs.append(writer.relu(total, 1, 16))
    return writer.program(outputs)


def unet(count: int) -> types.Program:
    """The results of the first half, each joined to one of the second: long skips."""
    writer = _Writer()
    kept = [writer.input(1, 16)]
    for _ in range(count // 3):
        kept.append(writer.relu(kept[-1], 1, 16))
    now = kept.pop()
    while kept:
        now = writer.mean(writer.cat([now, kept.pop()], 0, 2, 16), 1, 16)
    return writer.program([now])


def fan(count: int) -> types.Program:
    """Blocks of many results of one input, joined by one call each."""
    writer, wide = _Writer(), 48
    source = now = writer.input(1, 16)
    while len(writer.calls) < count:
        parts = [writer.relu(source, 1, 16) for _ in range(wide)]
        joined = writer.mean(writer.cat(parts, 0, wide, 16), 1, 16)
        now = writer.add_of(now, joined, 1, 16)
    return writer.program([now])


def aliases(count: int) -> types.Program:
    """Each result is read through a view, for which there is no call."""
    writer = _Writer()
    now = writer.input(1, 16)
    for _ in range(count // 2):
        result = writer.relu(now, 1, 16)
        seen = writer.alias(result, 16)
        now = writer.add_of(result, writer.alias(seen, 1, 16), 1, 16)
    return writer.program([now])


def states(count: int) -> types.Program:
    """Pairs of calls that read a buffer, and write what is new into it."""
    writer = _Writer()
    now = writer.input(1, 16)
    for _ in range(count // 2):
        buffer = writer.state(1, 16)
        now = writer.add_of(now, buffer, 1, 16)
        writer.keep(now, buffer)
    return writer.program([now])


def methods(count: int) -> types.Program:
    """Ten methods, each a residual network."""
    networks = [residual(count // 10) for _ in range(10)]
    return types.Program(
        tuple(
            replace(network.methods[0], name="forward" if number == 0 else f"m{number}")
            for number, network in enumerate(networks)
        ),
        networks[0].constants,
    )


def delegates(count: int) -> types.Program:
    """Calls of kernels and of delegates in turn."""
    writer = _Writer()
    now = writer.input(1, 16)
    for number in range(count // 2):
        now = writer.delegate(number % 100, writer.relu(now, 1, 16), 1, 16)
    return writer.program([now])


def weights(size: int, width: int = 1024) -> types.Program:
    """Linear layers with `size` bytes of constants, none of them equal."""
    writer, numbers = _Writer(), random.Random(20)
    none = writer.add(types.Null())
    now = writer.input(1, width)
    for _ in range(max(1, size // (4 * width * width))):
        matrix = writer.constant(_floats(numbers, width * width), width, width)
        out = writer.tensor(1, width)
        now = writer.relu(
            writer.call("aten::linear.out", now, matrix, none, out), 1, width
        )
    return writer.program([now])


def _floats(numbers: random.Random, count: int) -> bytes:
    """Small floats, all different from one call to the next."""
    pieces = [struct.pack("<f", numbers.uniform(-0.1, 0.1)) for _ in range(256)]
    return (b"".join(pieces) * (count // 256 + 1))[: 4 * count]


SHAPES: Mapping[str, Callable[[int], types.Program]] = {
    "chain": chain,
    "images": images,
    "residual": residual,
    "dense": dense,
    "stack": stack,
    "many": many,
    "unet": unet,
    "fan": fan,
    "aliases": aliases,
    "states": states,
    "methods": methods,
    "delegates": delegates,
}


def write(path: Path, shape: str, count: int) -> None:
    """A program of a shape; of the shape `weights` with that many bytes of them."""
    content = weights(count) if shape == "weights" else SHAPES[shape](count)
    path.write_bytes(program.write(content))


if __name__ == "__main__":
    write(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
