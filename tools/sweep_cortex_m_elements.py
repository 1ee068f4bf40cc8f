# SPDX-License-Identifier: Apache-2.0
"""Calls of the cortex_m dialect with random shapes become cases for `ember test`.

Like sweep_cortex_m.py, for what is no product: 500 programs per operator. The dialect's
own Python says what they must give, bit by bit.

    python tools/sweep_cortex_m_elements.py FOLDER [-k TEXT]
"""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Callable, Iterator
from typing import Any

import torch
from sweep_cortex_m import COUNT, dialect, pick, scratch
from sweep_kernels import Sweep, main

S8 = torch.int8
LAST = torch.channels_last


def image(*shape: int, last: bool | None = None) -> torch.Tensor:
    """int8, mostly in channels_last order."""
    x = torch.randint(-128, 128, shape, dtype=S8)
    wanted = pick(True, True, True, False) if last is None else last
    return x.contiguous(memory_format=LAST) if wanted else x


def shape() -> list[int]:
    """Of any rank."""
    rank = pick(1, 2, 2, 3, 4, 4, 4)
    if rank == 4:
        channels = pick(1, 3, 4, 7, 8, 16, 17, 33)
        return [pick(1, 1, 2), channels, random.randint(1, 9), random.randint(1, 9)]
    return [random.randint(1, pick(5, 20, 70)) for _ in range(rank)]


def tensor(sizes: list[int]) -> torch.Tensor:
    return image(*sizes, last=None if len(sizes) == 4 else False)


def zero() -> int:
    return pick(0, -128, 127, random.randint(-128, 127))


def wide_zero() -> int:
    """That of an operand plus a constant, which the flow writes into it."""
    return pick(-1, 1) * int(2.0 ** random.uniform(7, math.log2(32512)))


def scaled(real: float) -> tuple[int, int]:
    """A scale as multiplier * 2^(shift - 31)."""
    mantissa, shift = math.frexp(real)
    multiplier = round(mantissa * 2**31)
    return (multiplier // 2, shift + 1) if multiplier == 2**31 else (multiplier, shift)


def limits(point: int) -> tuple[int, int]:
    """The whole range, that of a ReLU, or any."""
    low, high = sorted((zero(), zero()))
    return pick((-128, 127), (point, 127), (low, high))


# ---- element by element --------------------------------------------------------------


def quantize() -> Sweep:
    x = torch.randn(shape()) * 10 ** random.uniform(-2, 2)
    for special in (math.nan, math.inf, -math.inf, 1e30):
        if pick(True, False, False, False):
            x.view(-1)[random.randrange(x.numel())] = special
    scale = 10 ** random.uniform(-3, 1)
    if pick(True, False, False, False):  # halves
        scale, x = 0.25, (x * 8).round() / 8
    x = x.contiguous(memory_format=LAST) if x.dim() == 4 else x
    point = zero()
    if pick(True, False, False, False, False):
        return dialect("quantize_per_tensor", [x, scale, point * 3, -32768, 32767, 2])
    low, high = pick((-128, 127), (-128, 127), (-127, 127), (-20, 100))
    return dialect("quantize_per_tensor", [x, scale, point, low, high, 1])


def dequantize() -> Sweep:
    x, scale = tensor(shape()), 10 ** random.uniform(-6, 2)
    if pick(True, False, False, False, False):
        wide = x.to(torch.int16) * 250
        arguments = [wide, scale, zero() * 9, -32768, 32767, 2]
    else:
        arguments = [x, scale, zero(), -128, 127, 1]
    return dialect("dequantize_per_tensor", arguments)


def pair() -> tuple[torch.Tensor, torch.Tensor]:
    """Two operands, sometimes one of them a number for each channel."""
    sizes = shape()
    a, b = tensor(sizes), tensor(sizes)
    if len(sizes) == 4:
        a, b = (x.contiguous(memory_format=LAST) for x in (a, b))
        if pick(True, False, False):
            b = image(1, sizes[1], 1, 1, last=True)
    return pick((a, b), (b, a))


def addition() -> Sweep:
    a, b = pair()
    scales = [10 ** random.uniform(-2, 0) for _ in "ab"]
    scales = pick(scales, scales, [scales[0], scales[0]], [1.0, 0.5])
    out = max(scales) * random.uniform(0.3, 2.5)
    out = pick(out, out, scales[0], 2.0 * scales[1])
    most = 2 * max(scales)
    point = zero()
    arguments: list[Any] = []
    for x, scale in zip((a, b), scales, strict=True):
        arguments += [x, zero(), *scaled(scale / most)]
    arguments += [point, *scaled(most / (2**20 * out)), *limits(point)]
    return dialect("quantized_add", arguments)


def product() -> Sweep:
    a, b = pair()
    real = 2.0 ** random.uniform(-12, -2)
    real = pick(real, real, 2.0 ** random.randint(-9, -4))
    points = [pick(zero(), zero(), zero(), wide_zero()) for _ in "ab"]
    for point in points:  # so that the outputs are not all the same
        real /= max(abs(point) // 128, 1)
    (first, second), more = points, scaled(real)
    return dialect("quantized_mul", [a, first, b, second, zero(), *more])


def activation() -> Sweep:
    table = torch.randint(-128, 128, (256,), dtype=S8)
    return dialect("quantized_activation", [tensor(shape()), table], 1)


def either(op: str) -> Sweep:
    a, b = pair()
    number = torch.tensor([zero()], dtype=S8)
    return dialect(op, pick([a, b], [a.contiguous(), number], [a, number.reshape(())]))


def least() -> Sweep:
    return either("minimum")


def most() -> Sweep:
    return either("maximum")


def softmax() -> Sweep:
    return softmax_of(shape())


def long_softmax() -> Sweep:
    """Of lines with more elements than other calls have."""
    return softmax_of([random.randint(1, 9), random.randint(96, 300)])


def softmax_of(sizes: list[int]) -> Sweep:
    x = image(*sizes, last=False)
    x = (x // pick(1, 1, 4, 40)).to(S8)
    scale = 10 ** random.uniform(-3, -0.3)
    arguments = [pick(-1, len(sizes) - 1), zero(), -128]
    return dialect("softmax", [x, *arguments, *scaled(scale * 2**26), -248])


# ---- movement ------------------------------------------------------------------------


def transpose() -> Sweep:
    sizes = [random.randint(1, 6) for _ in range(random.randint(1, 6))]
    order = list(range(len(sizes)))
    random.shuffle(order)
    return dialect("transpose", [tensor(sizes), order])


def pad() -> Sweep:
    x = tensor(shape())
    lists = [[pick(0, 0, 1, 2, 3) for _ in range(4)] for _ in "ba"]
    for one in lists:
        one[: 4 - x.dim()] = [0] * (4 - x.dim())
    return dialect("pad", [x, *lists, zero()])


# ---- windows -------------------------------------------------------------------------


def windows(sizes: tuple[int, int], most: int) -> tuple[list[int], ...]:
    """Kernel, stride and padding of a pool that fits."""
    kernel = [min(random.randint(1, most), size) for size in sizes]
    kernel = pick(kernel, list(sizes))
    padding = [pick(0, 0, random.randint(0, k // 2)) for k in kernel]
    return kernel, [random.randint(1, 3) for _ in "hw"], padding


def pooled() -> tuple[torch.Tensor, tuple[list[int], ...]]:
    sizes = (
        random.randint(1, 11),
        random.randint(1, 11),
    )  # int8 counts to 127 in PyTorch
    x = image(pick(1, 1, 2), pick(1, 3, 4, 7, 8, 16, 17, 33), *sizes)
    return x, windows(sizes, 4)


def average() -> Sweep:
    x, places = pooled()
    scale = scaled(10 ** random.uniform(-3, 0))
    arguments = [x, *places, zero(), *scale, scratch()]
    return dialect("quantized_avg_pool2d", arguments)


def largest() -> Sweep:
    x, places = pooled()
    point = zero()
    last = [[1, 1], False, point, point, *limits(point)]
    return dialect("quantized_max_pool2d", [x, *places, *last])


def family(seed: int, made: Callable[[], Sweep]) -> Callable[[], Iterator[Sweep]]:
    """COUNT of the calls that a function makes."""

    def sweeps() -> Iterator[Sweep]:
        random.seed(seed)
        return (made() for _ in range(COUNT))

    sweeps.__name__ = made.__name__
    return sweeps


CALLS = (quantize, dequantize, addition, product, activation, least, most, softmax)
CALLS += (transpose, pad, average, largest, long_softmax)
FAMILIES = [family(seed, made) for seed, made in enumerate(CALLS)]

if __name__ == "__main__":
    sys.exit(main(FAMILIES))
