# SPDX-License-Identifier: Apache-2.0
"""Small int8 networks of the cortex_m dialect with random weights, made here."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from small_programs import here

from ember import program
from ember.files.tensors import Array, DType
from ember.model import Model
from ember.plan.passes import rows
from ember.program import Method, Program, edit, types

ORDER = (0, 2, 3, 1)


class Network:
    """Layers are added one after the other; each returns the value that it makes."""

    order: tuple[int, ...] = ORDER

    def __init__(self, seed: int, sizes: Sequence[int], dtype: DType = DType.INT8):
        self.random = np.random.default_rng(seed)
        self.values: list[types.Value] = []
        self.constants: list[bytes] = [b""]
        self.operators: list[types.Operator] = []
        self.calls: list[types.Instruction] = []
        self.zeros: dict[int, int] = {}
        self.end = 0
        self.input = self.image(sizes, dtype)

    def model(self, *outputs: int) -> Model:
        method = Method(
            "forward",
            tuple(self.values),
            (self.input,),
            outputs,
            (types.Chain(tuple(self.calls)),),
            tuple(self.operators),
            planned_sizes=(0, self.end),
        )
        content = Program((method,), tuple(self.constants))
        assert program.problems(content) == []
        return Model("made", Path("made.pte"), program.write(content), (), content)

    # ---- values ------------------------------------------------------------------

    def add(self, value: types.Value) -> int:
        self.values.append(value)
        return len(self.values) - 1

    def ints(self, *items: int) -> int:
        return self.add(types.IntList(tuple(self.add(types.Int(n)) for n in items)))

    def image(self, sizes: Sequence[int], dtype: DType = DType.INT8) -> int:
        place = types.Allocation(1, self.end)
        tensor = types.Tensor(dtype, tuple(sizes), self.order, allocation=place)
        self.end += -(-max(tensor.nbytes, 1) // 16) * 16
        value = self.add(tensor)
        self.zeros[value] = int(self.random.integers(-30, 30))
        return value

    def scratch(self, size: int) -> int:
        place = types.Allocation(1, self.end)
        self.end += -(-size // 16) * 16
        return self.add(types.Tensor(DType.UINT8, (size,), (0,), allocation=place))

    def constant(self, array: Array) -> int:
        self.constants.append(array.tobytes())
        integers = {1: DType.INT8, 4: DType.INT32}
        dtype = DType.FLOAT32 if array.dtype.kind == "f" else integers[array.itemsize]
        order = tuple(range(array.ndim))
        data = len(self.constants) - 1
        return self.add(types.Tensor(dtype, array.shape, order, data_index=data))

    def sizes(self, value: int) -> tuple[int, ...]:
        tensor = self.values[value]
        assert isinstance(tensor, types.Tensor)
        return tensor.sizes

    def call(self, name: str, *args: int) -> int:
        full = name if "::" in name else f"cortex_m::{name}"
        operator = types.Operator(full, "out")
        if operator not in self.operators:
            self.operators.append(operator)
        number = self.operators.index(operator)
        self.calls.append(types.KernelCall(number, (*args, args[-1])))
        return args[-1]

    def number(self, value: int) -> int:
        return self.add(types.Int(value))

    # ---- layers ------------------------------------------------------------------

    def conv(
        self, x: int, filters: int, kernel: int = 3, stride: int = 1,
        padding: int | None = None, dilation: int = 1, depthwise: bool = False,
    ) -> int:  # fmt: skip
        _, channels, height, width = self.sizes(x)
        padding = dilation * (kernel - 1) // 2 if padding is None else padding
        reach = dilation * (kernel - 1) + 1
        out = [(side + 2 * padding - reach) // stride + 1 for side in (height, width)]
        filters = channels if depthwise else filters
        shape = (1, kernel, kernel, channels) if depthwise else (
            filters, kernel, kernel, channels)  # fmt: skip
        y = self.image((1, filters, *out))
        depth = (self.number(1),) if depthwise else ()
        return self.call(
            "quantized_depthwise_conv2d" if depthwise else "quantized_conv2d",
            x,
            self.constant(self.random.integers(-127, 128, shape, np.int8)),
            self.constant(self.random.integers(-2000, 2000, filters, np.int32)),
            self.ints(stride, stride),
            self.ints(padding, padding),
            self.ints(dilation, dilation),
            *depth,
            self.number(-self.zeros[x]),
            self.number(self.zeros[y]),
            self.constant(self.random.integers(1 << 30, 1 << 31, filters, np.int64)
                          .astype(np.int32)),
            self.constant(self.random.integers(-9, -6, filters, np.int32)),
            self.number(-128),
            self.number(int(self.random.integers(90, 128))),
            self.scratch(32),
            y,
        )  # fmt: skip

    def turned(
        self, x: int, filters: int, kernel: int = 2, stride: int = 2, padding: int = 0,
        added: int = 0,
    ) -> int:  # fmt: skip
        """A transposed convolution."""
        _, channels, *sides = self.sizes(x)
        out = [(n - 1) * stride - 2 * padding + kernel + added for n in sides]
        y = self.image((1, filters, *out))
        shape = (filters, kernel, kernel, channels)
        return self.call(
            "quantized_transpose_conv2d",
            x,
            self.constant(self.random.integers(-127, 128, shape, np.int8)),
            self.constant(self.random.integers(-2000, 2000, filters, np.int32)),
            self.ints(stride, stride),
            self.ints(padding, padding),
            self.ints(added, added),
            self.ints(1, 1),
            self.number(-self.zeros[x]),
            self.number(self.zeros[y]),
            self.constant(self.random.integers(1 << 30, 1 << 31, filters, np.int64)
                          .astype(np.int32)),
            self.constant(self.random.integers(-9, -6, filters, np.int32)),
            self.number(-128),
            self.number(int(self.random.integers(90, 128))),
            self.scratch(32),
            self.scratch(32),
            y,
        )  # fmt: skip

    def plus(self, a: int, b: int) -> int:
        y = self.image(self.sizes(a))
        scale = [self.number(1 << 30), self.number(0)]
        return self.call(
            "quantized_add",
            a, self.number(self.zeros[a]), *scale,
            b, self.number(self.zeros[b]), *scale,
            self.number(self.zeros[y]), self.number(1 << 30), self.number(-19),
            self.number(-128), self.number(127), y,
        )  # fmt: skip

    def largest(self, a: int, b: int) -> int:
        y = self.image(self.sizes(a))
        return self.call("maximum", a, b, y)

    def quantize(self, x: int) -> int:
        y = self.image(self.sizes(x))
        scale = self.add(types.Double(0.03))
        return self.call("quantize_per_tensor", x, scale, *self._range(y), y)

    def dequantize(self, x: int) -> int:
        y = self.image(self.sizes(x), DType.FLOAT32)
        scale = self.add(types.Double(0.03))
        return self.call("dequantize_per_tensor", x, scale, *self._range(x), y)

    def _range(self, value: int) -> list[int]:
        return [
            self.number(self.zeros[value]),
            self.number(-128),
            self.number(127),
            self.number(1),
        ]

    def max_pool(
        self,
        x: int,
        kernel: int = 2,
        stride: int = 2,
        padding: int = 0,
        *,
        ceil: bool = False,
    ) -> int:
        y = self.image(self.pooled(x, kernel, stride, padding, ceil=ceil))
        zero = self.zeros[y] = self.zeros[x]
        return self.call(
            "quantized_max_pool2d", x, *self._window(kernel, stride, padding),
            self.ints(1, 1), self.add(types.Bool(ceil)), self.number(zero),
            self.number(zero), self.number(-128), self.number(127), y,
        )  # fmt: skip

    def avg_pool(self, x: int, kernel: int = 2, stride: int = 2) -> int:
        y = self.image(self.pooled(x, kernel, stride))
        return self.call(
            "quantized_avg_pool2d", x, *self._window(kernel, stride),
            self.add(types.Bool(False)), self.number(self.zeros[x]),
            self.number(1 << 30), self.number(1), self.scratch(16), y,
        )  # fmt: skip

    def cat(self, *images: int) -> int:
        n, _, *sides = self.sizes(images[0])
        channels = sum(self.sizes(image)[1] for image in images)
        y = self.image((n, channels, *sides))
        return self.call(
            "aten::cat", self.add(types.TensorList(images)), self.number(1), y
        )

    def pooled(
        self, x: int, kernel: int, stride: int, padding: int = 0, *, ceil: bool = False
    ) -> tuple[int, ...]:
        """The shape of a pool's result."""
        n, c, *sides = self.sizes(x)
        rooms = [side + 2 * padding - kernel for side in sides]
        floors = [room // stride + 1 for room in rooms]
        if not ceil:
            return (n, c, *floors)
        starts = (len(range(-padding, side, stride)) for side in sides)
        ceils = (-(-room // stride) + 1 for room in rooms)
        return (n, c, *map(min, starts, ceils))

    def _window(self, kernel: int, stride: int, padding: int = 0) -> list[int]:
        return [
            self.ints(kernel, kernel),
            self.ints(stride, stride),
            self.ints(padding, padding),
        ]


# Kernel, stride, padding and what is added to the output of transposed convolutions.
TURNS = ((2, 2, 0, 0), (3, 2, 1, 1), (4, 2, 1, 0), (5, 2, 2, 1), (3, 1, 1, 0),
         (3, 3, 0, 0), (1, 2, 0, 1), (2, 1, 0, 0))  # fmt: skip


def random_network(seed: int) -> Model:
    """A chain of a few layers with branches that come together again."""
    random = np.random.default_rng(seed)
    side = int(random.integers(9, 20))
    channels = int(random.choice([1, 3, 4, 8]))
    floats = bool(random.integers(2))
    size = (1, channels, side, side + int(random.integers(4)))
    net = Network(seed, size, DType.FLOAT32 if floats else DType.INT8)
    x = net.quantize(net.input) if floats else net.input
    for _ in range(int(random.integers(3, 8))):
        x = _layer(net, random, x)
    return net.model(net.dequantize(x) if floats else x)


def _layer(net: Network, random: np.random.Generator, x: int) -> int:
    _, _, height, width = net.sizes(x)
    kinds = ["conv", "point", "depthwise", "block", "pool", "wide", "inception", "turn"]
    kind = random.choice(kinds)
    filters = int(random.choice([2, 4, 8, 12]))
    if kind == "pool" and min(height, width) >= 4:
        pool = net.max_pool if random.integers(2) else net.avg_pool
        return pool(x, int(random.choice([2, 3])), int(random.choice([1, 2])))
    if kind == "inception":
        return _inception(net, random, x, filters)
    if kind in ("depthwise", "point"):
        return _plain(net, random, x, 0 if kind == "depthwise" else filters)
    if kind == "block":
        return _block(net, random, x, filters)
    if kind == "turn" and height * width < 400:
        return net.turned(x, filters, *np.asarray(random.choice(TURNS)).tolist())
    dilation = 2 if kind == "wide" else 1
    return net.conv(x, filters, 3, int(random.choice([1, 2])), dilation=dilation)


def _plain(net: Network, random: np.random.Generator, x: int, filters: int) -> int:
    """A convolution of each channel by itself, where no filters are asked for, or of
    points."""
    if filters:
        return net.conv(x, filters, 1)
    return net.conv(x, 0, 3, int(random.choice([1, 2])), depthwise=True)


def _block(net: Network, random: np.random.Generator, x: int, filters: int) -> int:
    channels, stride = net.sizes(x)[1], int(random.choice([1, 2]))
    y = net.conv(x, filters, 3, stride)
    y = net.conv(y, channels, int(random.choice([1, 3])))
    other = x if stride == 1 else net.conv(x, channels, 1, stride)
    return net.plus(y, other)


def _inception(net: Network, random: np.random.Generator, x: int, filters: int) -> int:
    parts = [net.conv(x, filters, 1), net.conv(net.conv(x, 4, 1), filters, 3)]
    pooled = net.max_pool(x, 3, 1, 1)
    return net.cat(*parts, net.conv(pooled, 2, 1) if random.integers(2) else pooled)


def u_network(seed: int, kernel: int, padding: int, added: int) -> Model:
    """Down twice and up again by transposed convolutions, joined with what was on the
    way."""
    net = Network(seed, (1, 2, 16, 12))
    first = net.conv(net.conv(net.input, 4), 4)
    second = net.conv(net.max_pool(first), 8)
    x = net.conv(net.max_pool(second), 8)
    x = net.conv(net.cat(net.turned(x, 8, kernel, 2, padding, added), second), 8)
    x = net.conv(net.cat(net.turned(x, 4, kernel, 2, padding, added), first), 4)
    return net.model(net.conv(x, 1, 1))


def over_network() -> Model:
    """Layers of one shape after the other: each may be written over its input. Images
    have 35 pixels, two more than a multiple of three, and more channels than Helium
    multiplies at a time."""
    net = Network(11, (1, 48, 7, 5))
    x = net.conv(net.input, 48, 1)
    for _ in range(2):
        x = net.conv(x, 0, 3, depthwise=True)
        x = net.conv(x, 48, 1)
    return net.model(net.avg_pool(x, 5, 1))


def apart(model: Model) -> Method:
    draft = edit.draft(model.program)
    return rows.separated(draft.program.methods[0], here(), frozenset())
