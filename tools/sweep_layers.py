# SPDX-License-Identifier: Apache-2.0
"""Layers in float32 at every size of block and tail become cases for `ember test`.

Like sweep_kernels.py, for what fast kernels split into blocks: convolutions, products
of matrices, transpositions, element-wise operators and pools.

    python tools/sweep_layers.py FOLDER [-k TEXT]
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from typing import Any

import torch
from sweep_kernels import F32, Sweep, made, main

LENGTHS = (1, 2, 3, 4, 5, 7, 8, 9, 12, 13, 16, 17, 31, 40)


def pick(*items: Any) -> Any:
    return random.choice(items)


def convolution(groups: int, channels: int, filters: int) -> Sweep | None:
    """One with random other sizes; None when the kernel does not fit."""
    kernel = [pick(1, 1, 2, 3, 3, 4, 5), pick(1, 2, 3, 3, 5)]
    stride, dilation = (
        [pick(1, 1, 2, 3) for _ in "hw"],
        [pick(1, 1, 1, 2) for _ in "hw"],
    )
    padding = [pick(0, 1, 1, 2, 4) for _ in "hw"]
    if pick(True, False, False):
        kernel, padding = [1, 1], [0, 0]
    image = [random.randint(1, 12), pick(*LENGTHS)]
    for size, k, pad, apart in zip(image, kernel, padding, dilation, strict=True):
        if size + 2 * pad < (k - 1) * apart + 1:
            return None
    x = made(F32, pick(1, 1, 2), groups * channels, *image, low=-1, high=1)
    w = made(F32, groups * filters, channels, *kernel, low=-1, high=1)
    if pick(True, False, False):
        x, w = (t.to(memory_format=torch.channels_last) for t in (x, w))
    bias = pick(None, made(F32, groups * filters))
    last = [stride, padding, dilation, False, [0, 0], groups]
    return Sweep("aten::convolution.out", [x, w, bias, *last])


def convolutions() -> Iterator[Sweep]:
    random.seed(1)
    for channels in range(1, 10):
        for filters in range(1, 10):
            for groups in (1, 1, 1, 2):
                found = convolution(groups, channels, filters)
                if found:
                    yield found


def depthwise() -> Iterator[Sweep]:
    random.seed(2)
    for groups in range(1, 10):
        for _ in range(30):
            found = convolution(groups, 1, pick(1, 1, 1, 2, 3))
            if found:
                yield found


def products() -> Iterator[Sweep]:
    random.seed(3)
    for rows in (1, 2, 3, 4, 5, 6, 7):
        for columns in LENGTHS:
            inner = pick(0, *LENGTHS, 100)
            a, b = made(F32, rows, inner), made(F32, inner, columns)
            turned = made(F32, columns, inner)
            yield Sweep("aten::mm.out", [a, b])
            yield Sweep("aten::mm.out", [a, turned.t()])
            yield Sweep(
                "aten::linear.out", [a, turned, pick(None, b.new_ones(columns))]
            )
            shape = pick((columns,), (1, columns), (rows, 1), (rows, columns), (1, 1))
            scales = pick((1, 1), (0.5, 2), (0, 1), (2, -1.5))
            yield Sweep("aten::addmm.out", [made(F32, *shape), a, b, *scales])
            batches = made(F32, 2, rows, inner), made(F32, 2, inner, columns)
            yield Sweep("aten::bmm.out", [*batches])
            yield Sweep("aten::baddbmm.out", [made(F32, *shape), *batches, *scales])


def transpositions() -> Iterator[Sweep]:
    for dtype in (torch.float32, torch.int8, torch.int16, torch.float64):
        for rows in (1, 2, 3, 4, 5, 8, 9, 17):
            for columns in LENGTHS:
                x = made(dtype, rows, columns)
                yield Sweep("aten::t_copy.out", [x])
        for shape in ((2, 3, 5, 7), (1, 8, 4, 4), (4, 9, 5, 8), (3, 4, 9, 2)):
            x = made(dtype, *shape)
            for order in ((0, 2, 3, 1), (0, 3, 1, 2), (3, 2, 1, 0), (1, 0, 3, 2)):
                yield Sweep("aten::permute_copy.out", [x, list(order)])


SPECIAL = [float("nan"), float("inf"), -float("inf"), 0.0, -0.0, 6.0, 1e30, -2.5]


def elements() -> Iterator[Sweep]:
    for length in (*range(20), 100):
        a, b = made(F32, length), made(F32, length)
        b[: min(length, 8)] = torch.tensor(SPECIAL[:length])
        for name in ("add", "sub"):
            yield Sweep(f"aten::{name}.out", [a, b, 1])
        for name in ("mul", "div", "maximum", "minimum"):
            yield Sweep(f"aten::{name}.out", [a, b])
        for name in ("relu", "sigmoid", "tanh", "neg", "abs"):
            yield Sweep(f"aten::{name}.out", [b])
        yield Sweep("aten::hardtanh.out", [b, 0.0, 6.0])
        yield Sweep("aten::clamp.out", [b, pick(None, -1), 2.5])
        for part in (made(F32, 1), made(F32, 2, 1), made(F32, 3, 1, 1), made(F32)):
            whole = made(F32, 2, 3, 2, length)
            yield Sweep("aten::add.out", [whole, part, 1])
            yield Sweep("aten::mul.out", [part, whole])


def batch_norms() -> Iterator[Sweep]:
    functional = torch.ops.aten._native_batch_norm_legit_no_training
    for columns in LENGTHS:
        image = made(F32, 2, 5, pick(1, 3), columns)
        for x in (image, image.to(memory_format=torch.channels_last)):
            vectors = [made(F32, 5) for _ in range(3)]
            arguments = [x, *vectors, made(F32, 5, low=0.5), 0.1, 1e-5]
            yield Sweep(
                "aten::_native_batch_norm_legit_no_training.out",
                arguments,
                lambda a=arguments: [functional(*a)[0], a[3][:0], a[3][:0]],
            )


def pools() -> Iterator[Sweep]:
    random.seed(4)
    for columns in LENGTHS[3:]:
        for _ in range(4):
            kernel, stride = [pick(1, 2, 3), pick(1, 2, 3)], [pick(1, 2), pick(1, 2)]
            x = made(F32, 1, pick(1, 5), pick(3, 8), columns)
            padding, ceil = [0, kernel[1] // 2], pick(True, False)
            yield Sweep("aten::max_pool2d_with_indices.out", [x, kernel, stride, padding, [1, 1], ceil])  # fmt: skip  # noqa: E501
            yield Sweep("aten::avg_pool2d.out", [x, kernel, stride, padding, ceil, True, None])  # fmt: skip  # noqa: E501
        yield Sweep("aten::mean.out", [made(F32, 1, 5, 3, columns), [2, 3], True, None])


FAMILIES = (convolutions, depthwise, products, transpositions)
FAMILIES += (elements, batch_norms, pools)

if __name__ == "__main__":
    sys.exit(main(FAMILIES))
