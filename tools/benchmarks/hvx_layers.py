# SPDX-License-Identifier: Apache-2.0
"""Sizes become programs of one int8 layer each, with random weights."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ember import program
from ember.files.tensors import DType
from ember.program import types

_ALIGN = 128
_SEED = 7
_CHANNELS_LAST = (0, 2, 3, 1)


@dataclass(frozen=True)
class Linear:
    rows: int
    inner: int
    columns: int

    @property
    def title(self) -> str:
        return f"linear {self.rows}x{self.inner}x{self.columns}"

    @property
    def macs(self) -> int:
        return self.rows * self.inner * self.columns


@dataclass(frozen=True)
class Convolution:
    channels: int
    filters: int
    height: int
    width: int
    kernel: int = 3
    stride: int = 1
    dilation: int = 1
    depthwise: bool = False
    groups: int = 1
    transposed: bool = False
    out_padding: int = 0  # of transposed ones

    @property
    def padding(self) -> int:
        return self.dilation * (self.kernel - 1) // 2

    @property
    def out(self) -> tuple[int, int]:
        return (self._out(self.height), self._out(self.width))

    def _out(self, size: int) -> int:
        reach = self.dilation * (self.kernel - 1) + 1
        if self.transposed:
            inside = (size - 1) * self.stride - 2 * self.padding
            return inside + reach + self.out_padding
        return (size + 2 * self.padding - reach) // self.stride + 1

    @property
    def title(self) -> str:
        kind = "depthwise" if self.depthwise else "conv"
        kind = "transposed" if self.transposed else kind
        shape = f"{self.kernel}x{self.kernel} {self.channels}->{self.filters}"
        rest = f" stride {self.stride}" if self.stride > 1 else ""
        rest += f" dilation {self.dilation}" if self.dilation > 1 else ""
        rest += f" groups {self.groups}" if self.groups > 1 else ""
        return f"{kind} {shape} on {self.height}x{self.width}{rest}"

    @property
    def macs(self) -> int:
        depth = 1 if self.depthwise else self.channels // self.groups
        pixels = self.height * self.width if self.transposed else math.prod(self.out)
        return pixels * self.filters * self.kernel**2 * depth


Layer = Linear | Convolution

# What Hexagon's vectors are measured by, then sizes that do not fit them.
LAYERS: tuple[Layer, ...] = (
    Linear(128, 1024, 1024),
    Linear(1, 768, 768),
    Convolution(16, 16, 32, 32),
    Convolution(32, 32, 16, 16),
    Convolution(64, 64, 8, 8),
    Convolution(256, 256, 8, 8, kernel=1),
    Convolution(128, 128, 24, 24, depthwise=True),
    Linear(3, 33, 17),
    Linear(7, 100, 200),
    Convolution(3, 16, 32, 32),
    Convolution(3, 8, 20, 20, stride=2),
    Convolution(20, 24, 9, 11, dilation=2),
    Convolution(5, 7, 6, 5),
    Convolution(24, 24, 12, 12, depthwise=True),
    Convolution(40, 40, 9, 9, kernel=5, stride=2, depthwise=True),
    Convolution(24, 48, 12, 12, depthwise=True),
    Convolution(24, 36, 12, 12, groups=3),
    Convolution(16, 8, 9, 9, stride=2, transposed=True, out_padding=1),
    Convolution(12, 3, 6, 5, kernel=1, transposed=True, out_padding=1),
)


class Writer:
    """Values of a method with one call, and its constants."""

    def __init__(self) -> None:
        self.values: list[types.Value] = []
        self.constants: list[bytes] = [b""]
        self.end = 0
        self.random = np.random.default_rng(_SEED)

    def add(self, value: types.Value) -> int:
        self.values.append(value)
        return len(self.values) - 1

    def numbers(self, *items: int) -> list[int]:
        return [self.add(types.Int(item)) for item in items]

    def pair(self, item: int) -> int:
        return self.add(types.IntList(tuple(self.numbers(item, item))))

    def planned(
        self, dtype: DType, sizes: tuple[int, ...], channels_last: bool = True
    ) -> int:
        place = types.Allocation(1, self.end)
        self.end += -(-math.prod(sizes) * dtype.itemsize // _ALIGN) * _ALIGN
        is_image = len(sizes) == 4 and channels_last
        order = _CHANNELS_LAST if is_image else tuple(range(len(sizes)))
        return self.add(types.Tensor(dtype, sizes, order, 0, place))

    def constant(self, dtype: DType, array: np.ndarray, *sizes: int) -> int:
        self.constants.append(array.tobytes())
        index = len(self.constants) - 1
        order = tuple(range(len(sizes)))
        return self.add(types.Tensor(dtype, sizes, order, index))

    def int8(self, *sizes: int) -> int:
        items = self.random.integers(-127, 128, math.prod(sizes), np.int8)
        return self.constant(DType.INT8, items, *sizes)

    def int32(self, low: int, high: int, count: int) -> int:
        items = self.random.integers(low, high, count, np.int32)
        return self.constant(DType.INT32, items, count)


def written(layer: Layer) -> bytes:
    """The program: an input, the layer, its output."""
    if isinstance(layer, Convolution):
        return chained([layer])
    writer = Writer()
    operator = types.Operator("cortex_m::quantized_linear", "out")
    args = _linear(writer, layer)
    return Calls(args[0], [(operator, args)]).program(writer)


def chained(layers: Sequence[Convolution]) -> bytes:
    """The same of convolutions one after the other."""
    writer = Writer()
    first = layers[0]
    x = writer.planned(DType.INT8, (1, first.channels, first.height, first.width))
    calls = Calls(x)
    for layer in layers:
        calls.add(*convolution(writer, layer, calls.last))
    return calls.program(writer)


@dataclass
class Calls:
    """Calls one after the other, each of what the one before it gives."""

    input: int
    calls: list[tuple[types.Operator, list[int]]] = field(default_factory=list)

    @property
    def last(self) -> int:
        """The last output, which is the last argument of a call."""
        return self.calls[-1][1][-1] if self.calls else self.input

    def add(self, operator: types.Operator, args: list[int]) -> None:
        self.calls.append((operator, args))

    def program(self, writer: Writer) -> bytes:
        operators = tuple(dict.fromkeys(operator for operator, _ in self.calls))
        calls = [
            types.KernelCall(operators.index(operator), (*args, args[-1]))
            for operator, args in self.calls
        ]
        method = types.Method(
            name="forward",
            values=tuple(writer.values),
            inputs=(self.input,),
            outputs=(self.last,),
            chains=(types.Chain(tuple(calls)),),
            operators=operators,
            planned_sizes=(0, writer.end),
        )
        constants = tuple(writer.constants)
        return program.write(types.Program(methods=(method,), constants=constants))


def shift_of(products: int) -> int:
    """To the right, such that sums of so many products fill int8."""
    return -(products.bit_length() // 2 + 5)


def _linear(writer: Writer, layer: Linear) -> list[int]:
    x = writer.planned(DType.INT8, (layer.rows, layer.inner))
    by = [
        writer.add(types.IntList(tuple(writer.numbers(item))))
        for item in (1_500_000_000, shift_of(layer.inner))
    ]
    return [
        x,
        writer.int8(layer.columns, layer.inner),
        writer.int32(-9999, 9999, layer.columns),
        writer.add(types.Null()),
        *writer.numbers(3, 0, -5),
        *by,
        *writer.numbers(127, -128),
        writer.planned(DType.INT8, (layer.rows, layer.columns)),
    ]


def convolution(
    writer: Writer, layer: Convolution, x: int
) -> tuple[types.Operator, list[int]]:
    """A call with the image `x`; the last of its arguments is its output."""
    kind = "depthwise_conv2d" if layer.depthwise else "conv2d"
    kind = "transpose_conv2d" if layer.transposed else kind
    taps = (layer.kernel, layer.kernel)
    plain = (layer.filters, *taps, layer.channels // layer.groups)
    shift = shift_of(layer.kernel**2 * (1 if layer.depthwise else plain[-1]))
    multiplier = [layer.filters // layer.channels] if layer.depthwise else []
    pairs = [layer.stride, layer.padding]
    pairs += [layer.out_padding] if layer.transposed else []
    args = [
        x,
        writer.int8(*((1, *taps, layer.filters) if layer.depthwise else plain)),
        writer.int32(-9999, 9999, layer.filters),
        *(writer.pair(n) for n in (*pairs, layer.dilation)),
        *writer.numbers(*multiplier, 3, -5),
        writer.int32(1 << 30, (1 << 31) - 1, layer.filters),
        writer.int32(shift - 1, shift + 1, layer.filters),
        *writer.numbers(-128, 127),
        *(
            writer.planned(DType.UINT8, (1,))
            for _ in range(2 if layer.transposed else 1)
        ),
        writer.planned(DType.INT8, (1, layer.filters, *layer.out)),
    ]
    return types.Operator(f"cortex_m::quantized_{kind}", "out"), args
