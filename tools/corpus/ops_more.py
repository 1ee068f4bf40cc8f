# SPDX-License-Identifier: Apache-2.0
"""One-operator programs of operators that few models have."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812 - its usual name
from executorch.exir import EdgeCompileConfig
from torch import Tensor

from corpus.case import Case
from corpus.exporting import op
from corpus.inputs import bools, channels_last, f32, real, values, whole

A = torch.ops.aten
S16, S32, S64 = torch.int16, torch.int32, torch.int64
HALF, BF16, F64 = torch.float16, torch.bfloat16, torch.float64
FLOATS = {"f16": HALF, "bf16": BF16, "f64": F64}
DTYPES = {**FLOATS, "s8": torch.int8, "s32": S32, "b1": torch.bool}
ROUGH = {"rtol": 2e-2, "atol": 2e-2}

# Operators that are not in the core set: the exporter's check would refuse them.
LOOSE = EdgeCompileConfig(_check_ir_validity=False)


def loose(name: str, function: Callable[..., Any], *recipes: Any, **more: Any) -> Case:
    """A case whose program may hold any operator."""
    return op(name, function, *recipes, edge=LOOSE, **more)


def more(name: str, function: Callable[..., Any], *recipes: Any, **extra: Any) -> Case:
    """A case that is exported on demand."""
    return op(name, function, *recipes, committed=False, **extra)


def typed(dtype: torch.dtype, *shape: int) -> Callable[[], Tensor]:
    """Numbers of any dtype."""
    if dtype == torch.bool:
        return bools(*shape)
    if dtype.is_floating_point:
        return real(dtype, *shape)
    return whole(*shape, dtype=dtype)


def tolerance(dtype: torch.dtype) -> dict[str, float]:
    return ROUGH if dtype in (HALF, BF16) else {}


# ---- masks ---------------------------------------------------------------------------


def written(x: Tensor, mask: Tensor, value: Tensor) -> Tensor:
    return torch.index_put(x, (mask,), value)


def added(x: Tensor, mask: Tensor, value: Tensor) -> Tensor:
    return torch.index_put(x, (mask,), value, accumulate=True)


def inner_written(x: Tensor, mask: Tensor, value: Tensor) -> Tensor:
    y = x.clone()
    y[:, mask] = value
    return y


def masks() -> Iterator[Case]:
    select, scatter = torch.masked_select, torch.masked_scatter
    yield loose("masked_select", select, f32(3, 4), bools(3, 4))
    for tag, a, b in (
        ("row", (3, 4), (4,)),
        ("wide", (4,), (3, 1)),
        ("scalar", (2, 3), ()),
        ("4d", (2, 3, 2, 2), (3, 1, 2)),
    ):
        yield loose(f"masked_select_{tag}", select, f32(*a), bools(*b), committed=False)
    none = values(False, False, dtype=torch.bool)
    yield loose("masked_select_none", select, f32(2, 2), none, committed=False)
    last = channels_last(f32(2, 3, 2, 2))
    yield loose(
        "masked_select_channels_last", select, last, bools(3, 1, 2), committed=False
    )
    yield op("masked_scatter", scatter, f32(3, 4), bools(3, 4), f32(12))
    yield more("masked_scatter_row", scatter, f32(3, 4), bools(4), f32(4, 3))
    yield more("masked_scatter_wide", scatter, f32(4), bools(3, 1), f32(12))
    yield more("masked_scatter_empty", scatter, f32(0, 4), bools(4), f32(1))
    yield more(
        "masked_scatter_channels_last",
        scatter,
        channels_last(f32(2, 3, 2, 2)),
        bools(2, 3, 2, 2),
        channels_last(f32(2, 3, 2, 2)),
    )
    yield op("index_mask", lambda x, m: x[m], f32(3, 4), bools(3))
    yield op("index_mask_all", lambda x, m: x[m], f32(3, 4), bools(3, 4))
    yield more("index_mask_empty", lambda x, m: x[m], f32(3, 0), bools(3))
    yield op("index_put_mask", written, f32(3, 4), bools(3, 4), lambda: torch.ones(()))
    yield op("index_put_mask_row", written, f32(3, 4), bools(3), f32(4))
    yield op("index_put_mask_add", added, f32(3, 4), bools(3), f32(1, 4))
    two = values(True, False, True, dtype=torch.bool)
    yield more("index_put_mask_each", written, f32(3, 4), two, f32(2, 4))
    yield more("index_put_mask_inner", inner_written, f32(2, 3, 4), two, f32(2, 4))
    for tag, dtype in DTYPES.items():
        yield loose(
            f"masked_select_{tag}",
            select,
            typed(dtype, 3, 4),
            bools(3, 4),
            committed=False,
        )
        yield more(
            f"masked_scatter_{tag}",
            scatter,
            typed(dtype, 3, 4),
            bools(3, 4),
            typed(dtype, 12),
        )
        yield more(f"index_mask_{tag}", lambda x, m: x[m], typed(dtype, 3, 4), bools(3))
        yield more(
            f"index_put_mask_{tag}",
            written,
            typed(dtype, 3, 4),
            bools(3),
            typed(dtype, 4),
        )


def bounded(n: Tensor) -> Tensor:
    y = torch.repeat_interleave(n)
    torch._check(y.shape[0] <= 40)
    return y


def repeats() -> Iterator[Case]:
    yield loose("repeat_interleave_tensor", bounded, values(1, 0, 3))
    for dtype, size in product((S32, S64), (0, 1, 9)):
        yield loose(
            f"repeat_interleave_{size}_{str(dtype)[-2:]}",
            bounded,
            whole(size, low=0, high=4, dtype=dtype),
            committed=False,
        )
    yield loose(
        "repeat_interleave_sized",
        lambda n: torch.repeat_interleave(n, output_size=6),
        values(1, 2, 3),
    )
    yield loose(
        "repeat_interleave_rows",
        lambda x, n: torch.repeat_interleave(x, n, dim=1, output_size=6),
        f32(2, 3),
        values(1, 2, 3),
        committed=False,
    )


# ---- pools ---------------------------------------------------------------------------


def volumes() -> Iterator[Case]:
    x = f32(1, 2, 5, 6, 7)
    yield op("avg_pool3d", lambda x: F.avg_pool3d(x, 2), x)
    yield op("max_pool3d", lambda x: F.max_pool3d(x, 2, return_indices=True), x)
    yield op("adaptive_avg_pool3d", lambda x: F.adaptive_avg_pool3d(x, (2, 3, 4)), x)
    grid = product((2, (1, 2, 3)), (1, 2), (0, (0, 1, 1)), (False, True))
    for i, (kernel, stride, pad, ceil) in enumerate(grid):
        sizes = (kernel, stride, pad)
        yield more(
            f"avg_pool3d_{i}",
            lambda x, s=sizes, c=ceil: F.avg_pool3d(x, *s, c, False),
            x,
        )
        yield more(
            f"max_pool3d_{i}",
            lambda x, s=sizes, c=ceil: F.max_pool3d(
                x, *s, ceil_mode=c, return_indices=True
            ),
            x,
        )
    yield more(
        "avg_pool3d_divisor", lambda x: F.avg_pool3d(x, 3, 2, 1, divisor_override=5), x
    )
    yield more("avg_pool3d_4d", lambda x: F.avg_pool3d(x, 2), f32(2, 5, 6, 7))
    yield more("max_pool3d_4d", lambda x: F.max_pool3d(x, 3, 1, 1), f32(2, 5, 6, 7))
    yield more(
        "max_pool3d_dilated",
        lambda x: F.max_pool3d(x, 2, 1, 0, 2, return_indices=True),
        x,
    )
    for size in ((1, 1, 1), (5, 6, 7), (7, 4, 9), (2, None, 3)):
        tag = "x".join(map(str, size))
        yield more(
            f"adaptive_avg_pool3d_{tag}",
            lambda x, s=size: F.adaptive_avg_pool3d(x, s),
            x,
        )
    yield more(
        "adaptive_avg_pool3d_4d",
        lambda x: F.adaptive_avg_pool3d(x, (2, 3, 4)),
        f32(2, 5, 6, 7),
    )
    last = lambda: torch.randn(1, 2, 4, 4, 4).to(memory_format=torch.channels_last_3d)  # noqa: E731
    yield more("avg_pool3d_channels_last", lambda x: F.avg_pool3d(x, 2), last)
    for tag, dtype in FLOATS.items():
        given, rough = real(dtype, 1, 2, 4, 4, 4), tolerance(dtype)
        yield more(f"avg_pool3d_{tag}", lambda x: F.avg_pool3d(x, 2), given, **rough)
        yield more(f"max_pool3d_{tag}", lambda x: F.max_pool3d(x, 2), given, **rough)
        yield more(
            f"adaptive_avg_pool3d_{tag}",
            lambda x: F.adaptive_avg_pool3d(x, 3),
            given,
            **rough,
        )


# ---- random numbers: properties, as each runtime has its own -------------------------

COUNT = 2000


def near(x: Tensor, wanted: float, within: float) -> Tensor:
    return (x - wanted).abs() < within


def even(dtype: torch.dtype) -> Callable[..., Any]:
    def function(_: Tensor) -> tuple[Tensor, ...]:
        x = torch.rand(COUNT, dtype=dtype)
        y = torch.rand(50, 40, dtype=dtype).reshape(-1)
        real = x.to(torch.float32)
        return (
            ((x >= 0) & (x < 1)).all(),
            near(real.mean(), 0.5, 0.05),
            near(real.var(), 1 / 12, 0.01),
            near((x.to(torch.float32) * y.to(torch.float32)).mean(), 0.25, 0.03),
            (x.amin() < 0.02) & (x.amax() > 0.98),
            (x != y).any(),
        )

    return function


def normal(dtype: torch.dtype) -> Callable[..., Any]:
    def function(_: Tensor) -> tuple[Tensor, ...]:
        x = torch.randn(COUNT, dtype=dtype).to(torch.float32)
        y = torch.randn(COUNT, dtype=dtype).to(torch.float32)
        return (
            x.isfinite().all() if dtype == F64 else ~x.isnan().any(),
            near(x.mean(), 0.0, 0.1),
            near(x.var(), 1.0, 0.15),
            near((x.abs() < 1).to(torch.float32).mean(), 0.6827, 0.05),
            near((x * y).mean(), 0.0, 0.1),
            (x.amax() > 2.5) & (x.amin() < -2.5),
        )

    return function


def alike(x: Tensor) -> tuple[Tensor, ...]:
    even, normal = torch.rand_like(x), torch.randn_like(x)
    return (
        near(even.mean(), 0.5, 0.05),
        near(even.var(), 1 / 12, 0.01),
        near(normal.mean(), 0.0, 0.1),
        near(normal.var(), 1.0, 0.15),
    )


def kept(p: float) -> Callable[..., Any]:
    def function(x: Tensor) -> tuple[Tensor, ...]:
        y, mask = A.native_dropout(x, p, True)
        want = torch.where(mask, x / (1 - p), torch.zeros_like(x))
        return (
            (y - want).abs().amax() < 0.02,
            near(mask.to(torch.float32).mean(), 1 - p, 0.05),
            torch.tensor(mask.dtype == torch.bool),
        )

    return function


def shuffled(count: int, dtype: torch.dtype) -> Callable[..., Any]:
    def function(x: Tensor) -> tuple[Tensor, ...]:
        order = torch.randperm(count, dtype=dtype)
        once = torch.zeros(count).scatter_add(0, order.to(S64), torch.ones(count))
        fixed = (order.to(S64) == torch.arange(count)).to(torch.float32).sum()
        return (once == 1).all(), fixed < 12, x

    return function


def randoms() -> Iterator[Case]:
    one, few = f32(1), f32(3, 4)
    drop = A.native_dropout
    yield op("rand", even(torch.float32), one)
    yield op("randn", normal(torch.float32), one)
    yield loose("rand_like", alike, f32(50, 40))
    yield op("native_dropout", kept(0.25), f32(2000))
    yield op("native_dropout_eval", lambda x: drop(x, 0.5, False), few)
    yield op("native_dropout_all", lambda x: drop(x, 1.0, True), few)
    yield op("randperm", shuffled(500, S64), one)
    yield more("native_dropout_none", lambda x: drop(x, 0.0, True), few)
    yield more(
        "native_dropout_empty", lambda x: A.native_dropout(x, 0.5, True), f32(0, 4)
    )
    yield more("rand_empty", lambda x: x + torch.rand(0), f32(0))
    for count, dtype in (
        (0, S64),
        (1, S64),
        (300, S32),
        (100, torch.uint8),
        (200, F64),
    ):
        yield more(f"randperm_{count}", shuffled(count, dtype), one)
    for tag, dtype in FLOATS.items():
        yield more(f"rand_{tag}", even(dtype), one)
        yield more(f"randn_{tag}", normal(dtype), one)
        yield more(f"native_dropout_{tag}", kept(0.4), real(dtype, 2000))


CASES = [*masks(), *repeats(), *volumes(), *randoms()]
