# SPDX-License-Identifier: Apache-2.0
"""One-operator programs: sampling, distances, sorting, scattered reductions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812 - its usual name
from torch import Tensor

from corpus.case import Case
from corpus.exporting import op
from corpus.inputs import Recipe, channels_last, f32, real, values, whole
from corpus.ops_more import DTYPES, FLOATS, S32, A, loose, more, tolerance, typed

NAN, INF = float("nan"), float("inf")


# ---- sampling ------------------------------------------------------------------------


def points(*shape: int, reach: float = 1.6) -> Recipe:
    """Points of a grid, some beyond the image."""
    return lambda: (torch.rand(*shape, 2) * 2 - 1) * reach


def sampled(mode: str, padding: str, align: bool) -> Callable[..., Tensor]:
    return lambda x, g: F.grid_sample(x, g, mode, padding, align)


def grids() -> Iterator[Case]:
    x = f32(2, 3, 5, 6)
    yield op("grid_sampler", sampled("bilinear", "zeros", False), x, points(2, 3, 4))
    modes = ("bilinear", "nearest", "bicubic")
    paddings = ("zeros", "border", "reflection")
    for mode, padding, align in product(modes, paddings, (False, True)):
        function = sampled(mode, padding, align)
        tag = f"{mode}_{padding}{'_align' if align else ''}"
        committed = padding == "reflection" and align
        yield op(
            f"grid_sampler_{tag}", function, x, points(2, 4, 5), committed=committed
        )
        far = points(1, 3, 3, reach=9.0)
        yield more(f"grid_sampler_far_{tag}", function, f32(1, 2, 4, 4), far)
    for tag, dtype in FLOATS.items():
        yield more(
            f"grid_sampler_{tag}",
            sampled("bilinear", "zeros", False),
            real(dtype, 1, 2, 4, 4),
            lambda d=dtype: torch.rand(1, 3, 3, 2).to(d),
            **tolerance(dtype),
        )
    yield more(
        "grid_sampler_channels_last",
        sampled("bilinear", "border", True),
        channels_last(x),
        points(2, 3, 4),
    )
    one = f32(1, 2, 1, 1)
    yield more(
        "grid_sampler_pixel",
        sampled("bilinear", "reflection", True),
        one,
        points(1, 2, 2),
    )


def smooth(size: Any = None, scale: Any = None, align: bool = False) -> Any:
    return lambda x: F.interpolate(
        x, size, scale, "bilinear", align_corners=align, antialias=True
    )


def resizes() -> Iterator[Case]:
    x = f32(2, 3, 9, 7)
    yield op("upsample_bilinear2d_aa", smooth((4, 3)), x)
    for i, size in enumerate(((9, 7), (1, 1), (5, 12), (18, 2), (3, 3))):
        yield more(f"upsample_bilinear2d_aa_{i}", smooth(size), x)
        yield more(f"upsample_bilinear2d_aa_{i}_align", smooth(size, None, True), x)
    yield more("upsample_bilinear2d_aa_scale", smooth(None, (0.5, 1.7)), x)
    yield more("upsample_bilinear2d_aa_last", smooth((4, 3)), channels_last(x))
    for tag, dtype in FLOATS.items():
        given, rough = real(dtype, 1, 2, 8, 8), tolerance(dtype)
        if dtype == torch.float64:  # PyTorch takes no others
            yield more(f"upsample_bilinear2d_aa_{tag}", smooth((3, 5)), given, **rough)


# ---- distances -----------------------------------------------------------------------


def distances() -> Iterator[Case]:
    double = torch.float64
    for p in (0.0, 1.0, 2.0, 3.0, 0.5, INF):
        tag, committed = str(p).replace(".", "_"), p == 2.0
        apart = lambda a, b, p=p: torch.cdist(  # noqa: E731
            a, b, p, "donot_use_mm_for_euclid_dist"
        )
        name = "cdist" if committed else f"cdist_{tag}"
        yield op(name, apart, f32(3, 4), f32(5, 4), committed=committed)
        yield more(f"cdist_batch_{tag}", apart, f32(2, 1, 3, 4), f32(3, 5, 4))
        name = "pdist" if committed else f"pdist_{tag}"
        yield op(name, lambda x, p=p: F.pdist(x, p), f32(5, 3), committed=committed)
    yield more("cdist_f64", torch.cdist, real(double, 3, 4), real(double, 5, 4))
    yield more("cdist_many", torch.cdist, f32(30, 4), f32(27, 4), rtol=1e-3, atol=1e-3)
    yield more("cdist_empty", torch.cdist, f32(3, 0), f32(5, 0))
    yield more("cdist_none", torch.cdist, f32(0, 2), f32(5, 2))
    yield more("pdist_f64", F.pdist, real(double, 5, 3))
    yield more("pdist_one", F.pdist, f32(1, 3))


# ---- sorting -------------------------------------------------------------------------


def ordered(name: str, recipe: Recipe, dim: int, down: bool, **extra: Any) -> Case:
    """Equal numbers keep their order, which is not promised by the core operator."""

    def function(x: Tensor) -> tuple[Tensor, ...]:
        y = torch.sort(x, dim=dim, descending=down, stable=True)
        return y.values, y.indices

    return loose(f"sort_{name}", function, recipe, **extra)


def sorts() -> Iterator[Case]:
    def both(x: Tensor) -> tuple[Tensor, ...]:
        y = torch.sort(x)
        return y.values, y.indices

    def best(x: Tensor, k: int, dim: int, largest: bool) -> tuple[Tensor, ...]:
        y = torch.topk(x, k, dim, largest)
        return y.values, y.indices

    special = values(2.0, NAN, -INF, 0.0, INF, NAN, -0.0, 1.0, *range(20))
    image, later = channels_last(f32(2, 20, 3, 2)), {"committed": False}
    yield op("sort_long", both, f32(3, 40))
    yield ordered("stable", whole(37, 2), 0, True)
    yield op("topk_long", lambda x: best(x, 20, 1, True), f32(3, 40, 2))
    for down in (False, True):
        tag = "down" if down else "up"
        yield ordered(f"nan_{tag}", special, 0, down, **later)
        yield ordered(f"channels_last_{tag}", image, 1, down, **later)
        yield more(f"topk_all_{tag}", lambda x, d=down: best(x, 33, 0, d), f32(33))
        for dim in (0, 1, 2):
            yield ordered(f"{dim}_{tag}", whole(17, 18, 19), dim, down, **later)
        for name, dtype in DTYPES.items():
            yield ordered(f"{name}_{tag}", typed(dtype, 2, 33), -1, down, **later)
    yield more("sort_empty", both, f32(3, 0))
    yield more("sort_scalar", lambda x: torch.sort(x, 0)[1], f32())
    yield more("sort_thousand", both, f32(1000))
    yield op("argsort", lambda x: torch.argsort(x, dim=1, descending=True), f32(2, 20))


# ---- scattered reductions ------------------------------------------------------------


def reduced(how: str, dim: int, include: bool) -> Callable[..., Tensor]:
    return lambda x, i, s: x.scatter_reduce(dim, i, s, how, include_self=include)


def scatters() -> Iterator[Case]:
    hows = ("sum", "prod", "mean", "amax", "amin")
    for how, include in product(hows, (True, False)):
        tag = how if include else f"{how}_without"
        index = whole(4, 3, low=0, high=3)
        function = reduced(how, 0, include)
        yield op(f"scatter_reduce_{tag}", function, f32(3, 5), index, f32(4, 3))
        for name, dtype in (("s32", S32), ("s8", torch.int8), ("f64", torch.float64)):
            yield more(
                f"scatter_reduce_{tag}_{name}",
                reduced(how, 1, include),
                typed(dtype, 4, 3),
                index,
                typed(dtype, 4, 3),
            )
    special = values(NAN, 1.0, -INF, 2.0)
    where = values(0, 0, 1, 2)
    for how in hows:
        yield more(
            f"scatter_reduce_nan_{how}", reduced(how, 0, True), f32(3), where, special
        )
    yield more(
        "scatter_reduce_scalar",
        reduced("sum", 0, True),
        f32(),
        lambda: torch.tensor(0),
        f32(),
    )
    none = lambda: torch.zeros(0, 3, dtype=torch.int64)  # noqa: E731
    yield more(
        "scatter_reduce_empty", reduced("mean", 0, False), f32(2, 3), none, f32(0, 3)
    )
    yield more(
        "scatter_reduce_channels_last",
        reduced("mean", 1, True),
        channels_last(f32(2, 3, 2, 2)),
        whole(2, 3, 2, 2, low=0, high=3),
        f32(2, 3, 2, 2),
    )


# ---- bags of embeddings --------------------------------------------------------------


def bagged(mode: int, **options: Any) -> Callable[..., Tensor]:
    return lambda w, i, o: A._embedding_bag(w, i, o, False, mode, **options)[0]


def bags() -> Iterator[Case]:
    table, indices = f32(7, 3), whole(9, low=0, high=7)
    offsets = values(0, 2, 2, 5)
    for mode, name in enumerate(("sum", "mean", "max")):
        yield op(f"embedding_bag_{name}", bagged(mode), table, indices, offsets)
        narrow = whole(9, low=0, high=7, dtype=S32), values(0, 4, 9, dtype=S32)
        yield more(f"embedding_bag_{name}_s32", bagged(mode), table, *narrow)
        padded = bagged(mode, padding_idx=2)
        repeated = values(2, 1, 2, 2, 5, 6, 2, 2, 0)
        yield more(f"embedding_bag_{name}_padded", padded, table, repeated, offsets)
        ended = bagged(mode, include_last_offset=True)
        ends = values(0, 3, 3, 9)
        yield more(f"embedding_bag_{name}_last", ended, table, indices, ends)
        for tag, dtype in FLOATS.items():
            given, rough = real(dtype, 7, 3), tolerance(dtype)
            function = bagged(mode)
            name_tag = f"embedding_bag_{name}_{tag}"
            yield more(name_tag, function, given, indices, offsets, **rough)
    yield loose(
        "embedding_bag",
        lambda i, o, w: F.embedding_bag(i, w, o),
        *(indices, offsets, table),
    )
    yield op(
        "embedding_bag_weighted",
        lambda w, i, o, f: A._embedding_bag(w, i, o, False, 0, False, f)[0],
        table,
        indices,
        offsets,
        f32(9),
    )


CASES = [*grids(), *resizes(), *distances(), *sorts(), *scatters(), *bags()]
