# SPDX-License-Identifier: Apache-2.0
"""Many parameters of the operators that have many; exported on demand."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import torch
import torch.nn.functional as F  # noqa: N812 - its usual name
from torch import nn

from corpus.case import Case, Exported
from corpus.exporting import Apply, exported_module
from corpus.inputs import channels_last, f32, made, whole

S8, U8, S16, S32, S64 = (
    torch.int8,
    torch.uint8,
    torch.int16,
    torch.int32,
    torch.int64,
)
INTEGERS = {"s8": S8, "u8": U8, "s16": S16, "s32": S32, "s64": S64, "b1": torch.bool}


def sweep(name: str, factory, *recipes) -> Case:
    """A case named sweep_<name>."""

    def build() -> Exported:
        made_module = factory()
        is_module = isinstance(made_module, nn.Module)
        module = made_module if is_module else Apply(made_module)
        return exported_module(module, made(recipes))

    return Case(f"sweep_{name}", build, committed=False)


def convolutions() -> Iterator[Case]:
    grid = product((1, 2, 3, 5), (1, 2), (0, 1, 2), (1, 2), (1, 2, 4))
    for i, (kernel, stride, pad, dilation, groups) in enumerate(grid):
        if i % 3 or dilation * (kernel - 1) >= 9 + 2 * pad:
            continue
        sizes = {"stride": stride, "padding": pad, "dilation": dilation}
        yield sweep(
            f"conv2d_k{kernel}_s{stride}_p{pad}_d{dilation}_g{groups}",
            lambda k=kernel, g=groups, s=sizes: nn.Conv2d(4, 8, k, groups=g, **s),
            f32(1, 4, 9, 11),
        )


def pools() -> Iterator[Case]:
    for kernel, stride, pad, ceil in product((2, 3), (1, 2, 3), (0, 1), (False, True)):
        tag = f"k{kernel}_s{stride}_p{pad}_{'ceil' if ceil else 'floor'}"
        sizes = (kernel, stride, pad)
        yield sweep(
            f"max_pool2d_{tag}",
            lambda s=sizes, c=ceil: lambda x: F.max_pool2d(x, *s, ceil_mode=c),
            f32(1, 2, 7, 10),
        )
        yield sweep(
            f"avg_pool2d_{tag}",
            lambda s=sizes, c=ceil: lambda x: F.avg_pool2d(x, *s, ceil_mode=c),
            channels_last(f32(1, 2, 7, 10)),
        )


def reductions() -> Iterator[Case]:
    names = ("sum", "mean", "amax", "amin", "any", "all", "var")
    dims = ((0,), (1,), (-1,), (0, 2), (0, 1, 2))
    for name, dim, keep in product(names, dims, (False, True)):
        if name in ("any", "all") and len(dim) != 1:
            continue
        where = dim[0] if name in ("any", "all") else dim
        tag = "_".join(str(d % 3) for d in dim) + ("_last" if dim == (-1,) else "")
        yield sweep(
            f"{name}_{tag}_{'keep' if keep else 'drop'}",
            lambda n=name, w=where, k=keep: (
                lambda x: getattr(torch, n)(x, dim=w, keepdim=k)
            ),
            f32(3, 4, 5),
        )


def integers() -> Iterator[Case]:
    functions = {
        "cat": lambda x: torch.cat([x, x], 1),
        "permute": lambda x: x.permute(1, 0).contiguous(),
        "slice": lambda x: x[1:, ::2].clone(),
        "where": lambda x: torch.where(x > 0, x, x[0]),
        "sum": lambda x: x.sum(1),
        "amax": lambda x: x.amax(0),
        "pad": lambda x: F.pad(x, (1, 2)),
        "expand": lambda x: x[:, None].expand(3, 2, 5).clone(),
        "gather": lambda x: x.gather(1, torch.tensor([[0, 4], [1, 1], [3, 2]])),
        "index": lambda x: x[torch.tensor([2, 0])],
        "eq": lambda x: x == x[0],
        "to_s32": lambda x: x.to(torch.int32),
        "to_f16": lambda x: x.to(torch.float16),
        "argmax": lambda x: x.argmax(1),
        "minimum": lambda x: torch.minimum(x, x[:1]),
        "flip": lambda x: x.flip(1),
    }
    for (name, function), (tag, dtype) in product(functions.items(), INTEGERS.items()):
        if tag == "b1" and name == "argmax":
            continue
        low, high = (0, 2) if tag == "b1" else (0 if tag == "u8" else -100, 100)
        recipe = whole(3, 5, low=low, high=high, dtype=dtype)
        yield sweep(f"{name}_{tag}", lambda f=function: f, recipe)


def shapes() -> Iterator[Case]:
    broadcast = (
        ((), (3,)),
        ((1,), (2, 3)),
        ((2, 1, 4), (3, 1)),
        ((2, 3, 4, 5), (4, 1)),
        ((0, 3), (3,)),
        ((1, 1, 1), (2, 3, 4)),
        ((2, 1, 3, 1, 2), (4, 1, 2, 1)),
    )
    for i, (a, b) in enumerate(broadcast):
        yield sweep(f"add_broadcast_{i}", lambda: torch.add, f32(*a), f32(*b))
        yield sweep(f"maximum_broadcast_{i}", lambda: torch.maximum, f32(*b), f32(*a))
    for shape in ((1,), (2, 0, 3), (1, 1, 1, 1, 1), (2, 3, 1, 2, 1, 2)):
        tag = "x".join(map(str, shape))
        yield sweep(f"tanh_{tag}", lambda: torch.tanh, f32(*shape))
        yield sweep(f"softmax_{tag}", lambda: lambda x: x.softmax(-1), f32(*shape))
        yield sweep(f"sum_{tag}", lambda: torch.sum, f32(*shape))
    for m, k, n in ((1, 1, 1), (1, 17, 3), (5, 1, 7), (0, 3, 2), (3, 0, 2), (8, 16, 8)):
        yield sweep(f"mm_{m}x{k}x{n}", lambda: torch.mm, f32(m, k), f32(k, n))


CASES = [*convolutions(), *pools(), *reductions(), *integers(), *shapes()]
