# SPDX-License-Identifier: Apache-2.0
"""Layers of the cortex_m dialect at random shapes become cases for `ember test`.

Like sweep_layers.py, for the int8 products: 500 programs per operator, with every size
of block and tail, both ways of giving a linear its bias, and shifts that no calibration
would choose. The dialect's own Python says what they must give, bit by bit.

    python tools/sweep_cortex_m.py FOLDER [-k TEXT]
"""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Iterator
from typing import Any

import executorch.backends.cortex_m.passes.cortex_m_pass_manager  # noqa: F401 - the dialect
import torch
from sweep_kernels import Sweep, main

COUNT = 500
CHANNELS = (1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 24, 31, 32, 33, 48, 64, 65, 80)
INNER = (*CHANNELS, 96, 128, 130, 160, 200, 255)


def pick(*items: Any) -> Any:
    return random.choice(items)


def int8(*shape: int, least: int = -128) -> torch.Tensor:
    """Random elements, now and then the extremes alone."""
    if random.random() < 0.1:
        return torch.tensor([least, 127], dtype=torch.int8)[torch.randint(0, 2, shape)]
    return torch.randint(least, 128, shape, dtype=torch.int32).to(torch.int8)


def image(batches: int, channels: int, height: int, width: int) -> torch.Tensor:
    x = int8(batches, channels, height, width)
    return x.to(memory_format=torch.channels_last)


def limits() -> list[int]:
    """The least and the greatest output."""
    return pick([-128, 127], [-128, 127], [-128, 90], [-5, 100], [7, 7])


def scale(products: int) -> tuple[int, int]:
    """A multiplier and a shift after which sums of so many products fill int8."""
    shift = -max(products.bit_length() // 2 + random.randint(3, 6), 0)
    return random.randint(1 << 30, (1 << 31) - 1), shift


def scales(filters: int, products: int) -> list[torch.Tensor]:
    """One for each filter; now and then with a shift that no calibration chooses."""
    pairs = [scale(products) for _ in range(filters)]
    if random.random() < 0.1:
        pairs[random.randrange(filters)] = (pairs[0][0], random.randint(-40, 4))
    return [
        torch.tensor(column, dtype=torch.int32) for column in zip(*pairs, strict=True)
    ]


def bias(count: int) -> torch.Tensor | None:
    sums = torch.randint(-9000, 9000, (count,), dtype=torch.int32)
    return pick(None, sums, sums)


def scratch() -> torch.Tensor:
    return torch.zeros(pick(1, 64), dtype=torch.uint8)


def window() -> dict[str, list[int]]:
    """Kernel and steps of a window."""
    kernel = pick([1, 1], [1, 1], [3, 3], [3, 3], [3, 3], [2, 3], [5, 4], [1, 7])
    plain = random.random() < 0.6
    return {
        "kernel": kernel,
        "stride": [1, 1] if plain else [pick(1, 2, 3) for _ in "hw"],
        "padding": [min(size - 1, pick(0, 1, 1, 2)) for size in kernel],
        "dilation": [pick(1, 1, 1, 2) for _ in "hw"] if not plain else [1, 1],
    }


def image_for(at: dict[str, list[int]], more: int = 8) -> list[int]:
    """The size of an image that the window fits, and up to `more`."""
    sides = zip(at["kernel"], at["dilation"], at["padding"], strict=True)
    return [
        max((k - 1) * step + 1 - 2 * pad, 1) + random.randint(0, more)
        for k, step, pad in sides
    ]


def convolution() -> Sweep:
    at = window()
    groups = pick(1, 1, 1, 1, 1, 2, 3)
    depth, each = pick(*CHANNELS), pick(*CHANNELS)
    x = image(pick(1, 1, 1, 2), groups * depth, *image_for(at))
    return convolution_of(x, groups * each, depth, at)


def tall() -> Sweep:
    """Windows of many rows over few channels, as over the features of sound."""
    kernel = pick([10, 4], [5, 5], [8, 3], [7, 7], [3, 3], [4, 2])
    at = {
        "kernel": kernel,
        "stride": [pick(1, 2, 3) for _ in "hw"],
        "padding": [min(size - 1, pick(0, 1, 2, 4)) for size in kernel],
        "dilation": [pick(1, 1, 1, 2), pick(1, 1, 1, 1, 2)],
    }
    depth, filters = pick(1, 1, 2, 3, 5, 6), pick(3, 8, 16, 31, 32, 64, 100)
    x = image(pick(1, 1, 1, 2), depth, *image_for(at, 30))
    return convolution_of(x, filters, depth, at)


def broad() -> Sweep:
    """Few weights beside large images, as in the first layers of a network."""
    kernel = pick([1, 1], [1, 1], [3, 3], [2, 3], [5, 5])
    at = {
        "kernel": kernel,
        "stride": [pick(1, 1, 2) for _ in "hw"],
        "padding": [min(size - 1, pick(0, 1, 2)) for size in kernel],
        "dilation": [1, pick(1, 1, 1, 2)],
    }
    depth = pick(1, 2, 3, 4, 6, 8, 12, 16)
    x = image(pick(1, 1, 2), depth, random.randint(12, 34), random.randint(12, 34))
    return convolution_of(x, pick(1, 2, 4, 6, 7, 8, 16), depth, at)


def convolution_of(
    x: torch.Tensor, filters: int, depth: int, at: dict[str, list[int]]
) -> Sweep:
    w = int8(filters, *at["kernel"], depth, least=pick(-127, -127, -128))
    last = [random.randint(-127, 128), random.randint(-128, 127)]
    products = depth * at["kernel"][0] * at["kernel"][1]
    parameters = [at["stride"], at["padding"], at["dilation"], *last]
    arguments = [x, w, bias(filters), *parameters, *scales(filters, products)]
    return window_call(
        "quantized_conv2d", [*arguments, *limits(), scratch()], 1, 2, 8, 9
    )


def depthwise() -> Sweep:
    at = window()
    channels, multiplier = pick(*CHANNELS), pick(1, 1, 1, 1, 2, 3)
    if random.random() < 0.15:
        channels, multiplier = 1, pick(4, 8, 16, 20, 64)
    filters = channels * multiplier
    x = image(pick(1, 1, 1, 2), channels, *image_for(at))
    w = int8(1, *at["kernel"], filters, least=pick(-127, -127, -128))
    last = [multiplier, random.randint(-127, 128), random.randint(-128, 127)]
    products = at["kernel"][0] * at["kernel"][1]
    parameters = [at["stride"], at["padding"], at["dilation"], *last]
    arguments = [x, w, bias(filters), *parameters, *scales(filters, products)]
    whole = [*arguments, *limits(), scratch()]
    return window_call("quantized_depthwise_conv2d", whole, 1, 2, 9, 10)


def image_of(at: dict[str, list[int]]) -> list[int]:
    """The size of an image whose transposed convolution is larger than its padding."""
    sides = zip(at["kernel"], at["stride"], at["padding"], at["dilation"], strict=True)
    cuts = [max(2 * pad - (k - 1) * apart, 0) / by for k, by, pad, apart in sides]
    return [random.randint(1, 6) + math.ceil(cut) for cut in cuts]


def transposed() -> Sweep:
    at = window()
    depth, filters = pick(*CHANNELS), pick(*CHANNELS)
    x = image(pick(1, 1, 2), depth, *image_of(at))
    w = int8(filters, *at["kernel"], depth, least=-127)
    low = [max(s, d) for s, d in zip(at["stride"], at["dilation"], strict=True)]
    more = [random.randint(0, most - 1) for most in low]
    last = [random.randint(-127, 128), random.randint(-128, 127)]
    parameters = [at["stride"], at["padding"], more, at["dilation"], *last]
    products = depth * at["kernel"][0] * at["kernel"][1]
    arguments = [x, w, bias(filters), *parameters, *scales(filters, products)]
    whole = [*arguments, *limits(), scratch(), scratch()]
    return dialect("quantized_transpose_conv2d", whole, 1, 2, 9, 10)


def linear() -> Sweep:
    inner, columns = pick(*INNER), pick(*INNER)
    x = int8(*pick((1,), (1,), (3,), (2, 3), ()), inner)
    w = int8(columns, inner)
    multiplier, shift = scale(inner)
    offset, added = random.randint(-127, 128), bias(columns)
    filter_offset = pick(0, 0, 0, 0, random.randint(-127, 127))
    sums = None
    if random.random() < 0.5:
        sums = offset * (w.to(torch.int32) + filter_offset).sum(1, keepdim=True).T
        sums = (sums + (0 if added is None else added)).to(torch.int32)
        added = None
    low, high = limits()
    last = [offset, filter_offset, random.randint(-128, 127), [multiplier], [shift]]
    return dialect("quantized_linear", [x, w, added, sums, *last, high, low], 1, 2, 3)


def batch_matmul() -> Sweep:
    batches, rows = pick(1, 1, 2, 3), pick(1, 2, 3, 5, 8)
    inner, columns = pick(*CHANNELS, 200), pick(*CHANNELS)
    a, b = int8(batches, rows, inner), int8(batches, columns, inner)
    offsets = [random.randint(-127, 128) for _ in "ab"]
    last = [random.randint(-128, 127), *scale(inner), scratch()]
    whole = [a, offsets[0], b, offsets[1], *last]
    return dialect("quantized_batch_matmul", whole, *pick((), (2,)))


def apart(w: torch.Tensor, dilation: list[int]) -> torch.Tensor:
    """Weights with zeros between the taps: the reference cannot dilate."""
    high, wide = ((k - 1) * d + 1 for k, d in zip(w.shape[1:3], dilation, strict=True))
    spread = torch.zeros(w.shape[0], high, wide, w.shape[3], dtype=w.dtype)
    spread[:, :: dilation[0], :: dilation[1]] = w
    return spread


def window_call(name: str, arguments: list[Any], *constants: int) -> Sweep:
    """A call whose sixth argument is a dilation."""
    undilated = [*arguments]
    undilated[1], undilated[5] = apart(arguments[1], arguments[5]), [1, 1]
    return dialect(name, arguments, *constants, given=undilated)


def dialect(
    name: str, arguments: list[Any], *constants: int, given: Any = None
) -> Sweep:
    held = [at for at in constants if arguments[at] is not None]
    reference = getattr(torch.ops.cortex_m, name).default
    return Sweep(
        f"cortex_m::{name}.out",
        arguments,
        results=lambda: reference(*(given or arguments)),
        constants=held,
        exact=True,
    )


def convolutions() -> Iterator[Sweep]:
    random.seed(1)
    return (convolution() for _ in range(COUNT))


def depthwises() -> Iterator[Sweep]:
    random.seed(2)
    return (depthwise() for _ in range(COUNT))


def linears() -> Iterator[Sweep]:
    random.seed(3)
    return (linear() for _ in range(COUNT))


def batch_matmuls() -> Iterator[Sweep]:
    random.seed(4)
    return (batch_matmul() for _ in range(COUNT))


def transposes() -> Iterator[Sweep]:
    random.seed(5)
    return (transposed() for _ in range(COUNT))


def talls() -> Iterator[Sweep]:
    random.seed(6)
    return (tall() for _ in range(COUNT))


def broads() -> Iterator[Sweep]:
    random.seed(7)
    return (broad() for _ in range(COUNT))


FAMILIES = (convolutions, talls, broads, depthwises, transposes, linears, batch_matmuls)

if __name__ == "__main__":
    sys.exit(main(FAMILIES))
