"""cortex_m::quantized_avg_pool2d.out and quantized_max_pool2d.out of few channels,
whose windows vectors compute together; running this file writes the cases again.

NumPy computes what is expected, in float32 as the dialect's Python does, window by
window.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ember.cases import one_call

HERE = Path(__file__).parent
OUT = "*, Tensor(a!) out) -> Tensor(a!)"
GEOMETRY = "(Tensor input, int[] kernel_size, int[] stride, int[] padding, "
AVERAGE = f"{GEOMETRY}int zero_point, int multiplier, int shift, Tensor scratch, {OUT}"
LARGEST = (
    f"{GEOMETRY}int[] dilation, bool ceil_mode, int input_zero_point,"
    f" int output_zero_point, int activation_min, int activation_max, {OUT}"
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

    @property
    def lists(self) -> list[list[int]]:
        return [list(self.kernel), list(self.stride), list(self.padding)]

    def out(self, axis: int) -> int:
        size = (self.height, self.width)[axis]
        room = size + 2 * self.padding[axis] - self.kernel[axis]
        return room // self.stride[axis] + 1

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
            [image, *self.lists, [1, 1], False, 0, 0, -100, 90],
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
    return np.clip(steps, -128, 127).astype(np.int8)


POOLS = (
    Pool("one", 1, 9, 40, (3, 3), (1, 1), (1, 1)),
    Pool("three", 3, 5, 31, (2, 2), (2, 2)),
    Pool("stride", 5, 6, 29, (3, 3), (3, 3), (0, 1)),
    Pool("even", 4, 7, 24, (2, 3), (2, 2), (1, 1)),
    Pool("half", 64, 4, 5, (2, 2), (2, 2)),
    Pool("more", 65, 4, 5, (3, 2), (1, 2), (1, 0)),
    Pool("far", 17, 3, 30, (3, 3), (1, 9), (1, 1)),
    Pool("row", 12, 2, 26, (2, 26), (1, 1), (0, 4)),
)

for number, pool in enumerate(POOLS):
    pool.write(number)
