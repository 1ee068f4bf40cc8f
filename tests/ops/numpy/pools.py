"""cortex_m::quantized_avg_pool2d.out and quantized_max_pool2d.out of few channels,
whose windows vectors compute together, and ATen's max pools without indices; running
this file writes the cases again.

NumPy computes what is expected, in float32 as the dialect's Python does, window by
window.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ember.cases import one_call

HERE = Path()
OUT = "*, Tensor(a!) out) -> Tensor(a!)"
GEOMETRY = "(Tensor input, int[] kernel_size, int[] stride, int[] padding, "
AVERAGE = f"{GEOMETRY}int zero_point, int multiplier, int shift, Tensor scratch, {OUT}"
LARGEST = (
    f"{GEOMETRY}int[] dilation, bool ceil_mode, int input_zero_point,"
    f" int output_zero_point, int activation_min, int activation_max, {OUT}"
)
UNREAD = (
    "(Tensor self, int[{dims}] kernel_size, int[{dims}] stride=[],"
    " int[{dims}] padding=0, int[{dims}] dilation=1, bool ceil_mode=False, *,"
    " Tensor(a!) out, Tensor(b!) indices) -> (Tensor(a!), Tensor(b!))"
)
ZERO, MULTIPLIER, SHIFT = -7, 1_500_000_001, -4


@dataclass(frozen=True)
class Pool:
    name: str
    channels: int
    height: int
    width: int
    kernel: tuple[int, int]
    stride: tuple[int, int]
    padding: tuple[int, int] = (0, 0)
    ceil: bool = False

    @property
    def lists(self) -> list[list[int]]:
        return [list(self.kernel), list(self.stride), list(self.padding)]

    def out(self, axis: int) -> int:
        size = (self.height, self.width)[axis]
        padding, stride = self.padding[axis], self.stride[axis]
        room = size + 2 * padding - self.kernel[axis]
        if not self.ceil:
            return room // stride + 1
        starts = range(-padding, size, stride)
        return min(len(starts), -(-room // stride) + 1)

    def windows(self, x: np.ndarray) -> Iterator[tuple[int, int, np.ndarray]]:
        """The part of each window inside the image, as (channels, rows, columns)."""
        for i in range(self.out(0)):
            for j in range(self.out(1)):
                rows, columns = (
                    slice(max(first, 0), first + self.kernel[axis])
                    for axis, first in enumerate(
                        at * self.stride[axis] - self.padding[axis]
                        for axis, at in enumerate((i, j))
                    )
                )
                yield i, j, x[0, :, rows, columns]

    def write(self, number: int) -> None:
        random = np.random.default_rng(number)
        sizes = (1, self.channels, self.height, self.width)
        x = random.integers(-128, 128, sizes).astype(np.int8)
        out = np.zeros((1, self.channels, self.out(0), self.out(1)), np.int8)
        largest = out.copy()
        for i, j, window in self.windows(x):
            out[0, :, i, j] = mean(window)
            largest[0, :, i, j] = np.clip(window.max(axis=(1, 2)), -100, 90)
        image = one_call.ChannelsLast(x)
        scratch = one_call.Constant(np.zeros(16, np.uint8))
        average = [image, *self.lists, ZERO, MULTIPLIER, SHIFT, scratch]
        if not self.ceil:
            one_call.write(
                HERE / f"average_{self.name}",
                "cortex_m::quantized_avg_pool2d.out",
                AVERAGE,
                average,
                [one_call.ChannelsLast(out)],
            )
        one_call.write(
            HERE / f"largest_{self.name}",
            "cortex_m::quantized_max_pool2d.out",
            LARGEST,
            [image, *self.lists, [1, 1], self.ceil, 0, 0, -100, 90],
            [one_call.ChannelsLast(largest)],
        )


def mean(window: np.ndarray) -> np.ndarray:
    """Sums element by element, each rounded to float32."""
    scale = np.float32(MULTIPLIER) * np.float32(2.0) ** np.float32(SHIFT - 31)
    items = window.reshape(len(window), -1).astype(np.int32) - ZERO
    total = np.zeros(len(window), np.float32)
    for item in items.T:
        total = (total + item.astype(np.float32) * scale).astype(np.float32)
    steps = np.rint(total / np.float32(items.shape[1]) / scale) + ZERO
    means: np.ndarray = np.clip(steps, -128, 127).astype(np.int8)
    return means


POOLS = (
    Pool("one", 1, 9, 40, (3, 3), (1, 1), (1, 1)),
    Pool("three", 3, 5, 31, (2, 2), (2, 2)),
    Pool("stride", 5, 6, 29, (3, 3), (3, 3), (0, 1)),
    Pool("even", 4, 7, 24, (2, 3), (2, 2), (1, 1)),
    Pool("half", 64, 4, 5, (2, 2), (2, 2)),
    Pool("more", 65, 4, 5, (3, 2), (1, 2), (1, 0)),
    Pool("far", 17, 3, 30, (3, 3), (1, 9), (1, 1)),
    Pool("row", 12, 2, 26, (2, 26), (1, 1), (0, 4)),
    Pool("ceil", 5, 6, 30, (3, 3), (2, 2), ceil=True),
    Pool("ceil_padded", 19, 7, 8, (3, 2), (3, 3), (1, 1), ceil=True),
    Pool("ceil_wide", 33, 2, 5, (3, 6), (2, 3), ceil=True),
    Pool("ceil_left_out", 3, 4, 9, (2, 2), (3, 4), (1, 1), ceil=True),
)

for number, pool in enumerate(POOLS):
    pool.write(number)


@dataclass(frozen=True)
class Unread:
    """A max pool whose indices nobody reads."""

    name: str
    sizes: tuple[int, ...]
    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]
    out: tuple[int, ...]
    dtype: str = "float32"
    last: bool = False
    ceil: bool = False

    def write(self, number: int) -> None:
        random = np.random.default_rng(number)
        x = (100 * random.standard_normal(self.sizes)).astype(self.dtype)
        if x.dtype.kind == "f":  # NaN, and windows of nothing but -infinity
            x[random.random(self.sizes) < 0.02] = np.nan
            x[random.random(self.sizes) < 0.5] = -np.inf
        y = np.zeros((*self.sizes[:2], *self.out), self.dtype)
        for at in np.ndindex(*self.out):
            y[:, :, *at] = self.window(x, at).max(axis=(2, 3, 4)[: len(self.out)])
        given = [list(each) for each in (self.kernel, self.stride, self.padding)]
        arrays = [one_call.ChannelsLast(each) if self.last else each for each in (x, y)]
        dims = len(self.out)
        one_call.write(
            HERE / f"unread_{self.name}",
            f"aten::max_pool{dims}d_with_indices.out",
            UNREAD.format(dims=dims),
            [arrays[0], *given, list(self.dilation), self.ceil],
            [arrays[1], None],
        )

    def window(self, x: np.ndarray, at: tuple[int, ...]) -> np.ndarray:
        for axis, place in enumerate(at):
            first = place * self.stride[axis] - self.padding[axis]
            past = first + self.kernel[axis] * self.dilation[axis]
            taps = range(first, past, self.dilation[axis])
            inside = [tap for tap in taps if 0 <= tap < self.sizes[2 + axis]]
            x = x.take(inside, axis=2 + axis)
        return x


UNREADS = (
    Unread("rows", (2, 3, 9, 23), (3, 3), (2, 2), (1, 1), (1, 1), (5, 12)),
    Unread("ceil", (1, 2, 8, 19), (3, 2), (3, 3), (0, 1), (1, 1), (3, 7), ceil=True),
    Unread("dilated", (1, 2, 9, 14), (2, 3), (1, 2), (0, 0), (2, 3), (7, 4)),
    Unread("padded", (1, 1, 9, 14), (3, 3), (2, 2), (1, 1), (2, 2), (4, 6)),
    Unread("last", (1, 5, 6, 7), (2, 2), (2, 2), (0, 0), (1, 1), (3, 3), last=True),
    Unread("f64", (1, 2, 6, 7), (2, 2), (2, 2), (1, 1), (1, 1), (4, 4), "float64"),
    Unread("s16", (1, 2, 6, 7), (2, 2), (2, 2), (0, 0), (1, 1), (3, 3), "int16"),
    Unread("3d", (1, 2, 4, 5, 6), (2,) * 3, (2,) * 3, (0,) * 3, (1,) * 3, (2, 2, 3)),
)

for number, unread in enumerate(UNREADS):
    unread.write(100 + number)
