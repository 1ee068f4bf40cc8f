"""What layers of int16 and of int4 share: how sums are scaled, and what is under the
taps of a convolution."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import SupportsInt

import numpy as np

from ember.files.tensors import Array


def scaled(total: SupportsInt, multiplier: SupportsInt, shift: int) -> int:
    """total * multiplier * 2^(shift - 31), rounded twice: ties up, then from zero."""
    high = ((int(total) << max(shift, 0)) * int(multiplier) + (1 << 30)) >> 31
    if shift < 0:
        high = (high + (1 << (-shift - 1)) - (high < 0)) >> -shift
    return high


@dataclass(frozen=True)
class Window:
    kernel: tuple[int, int]
    steps: tuple[int, int] = (1, 1)
    padding: tuple[int, int] = (0, 0)
    dilation: tuple[int, int] = (1, 1)

    def views(self, x: Array) -> Iterator[tuple[tuple[int, int], list[int], Array]]:
        """(n, h, w, c) with zeros around it -> what is under each output's taps."""
        wide = np.pad(x, [(0, 0), *((each, each) for each in self.padding), (0, 0)])
        pairs = zip(self.dilation, self.kernel, strict=True)
        reach = [step * (size - 1) + 1 for step, size in pairs]
        size = [(wide.shape[1 + i] - reach[i]) // self.steps[i] + 1 for i in range(2)]
        for oy, ox in np.ndindex(*size):
            top, left = oy * self.steps[0], ox * self.steps[1]
            rows = slice(top, top + reach[0], self.dilation[0])
            columns = slice(left, left + reach[1], self.dilation[1])
            yield (oy, ox), size, wide[:, rows, columns]

    def sums(self, x: Array, weights: Array, groups: int) -> Array:
        """By (filters, h, w, c / groups)."""
        each, depth = len(weights) // groups, weights.shape[3]
        sums: Array | None = None
        for (oy, ox), size, under in self.views(x):
            if sums is None:
                sums = np.zeros((len(x), *size, len(weights)), np.int64)
            for f, filter in enumerate(weights):
                group = f // each * depth
                part = under[..., group : group + depth]
                sums[:, oy, ox, f] = np.einsum("nhwc,hwc->n", part, filter)
        assert sums is not None
        return sums
