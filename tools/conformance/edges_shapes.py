# SPDX-License-Identifier: Apache-2.0
"""Edge cases of reductions, sorting, indices, views and data-dependent shapes."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from corpus.case import Case
from corpus.inputs import bools, f32, real, values, whole

from conformance.edges import (
    B1,
    BF16,
    F16,
    F32,
    F64,
    FLOATS,
    INF,
    INTEGERS,
    NAN,
    S8,
    S16,
    S32,
    U8,
    each,
    edge,
    in_order,
    shaped,
    special,
)
from conformance.tolerance import tag

TIES = (3, 1, 3, 0, 3, 0, -1, -1)
NANS = (1.0, NAN, 5.0, NAN, -INF, INF, 0.0, -0.0)
WHOLE = {
    "sum": torch.sum,
    "prod": torch.prod,
    "mean_f32": lambda x: x.mean(dtype=F32),
    "amax": torch.amax,
    "amin": torch.amin,
    "max": torch.max,
    "min": torch.min,
    "argmax": torch.argmax,
    "argmin": torch.argmin,
    "any": torch.any,
    "all": torch.all,
    "cumsum": lambda x: x.cumsum(0),
    "cumprod": lambda x: x.cumprod(0),
    "count_nonzero": torch.count_nonzero,
}
ALONG = {
    "sum": lambda x: x.sum(1),
    "sum_keep": lambda x: x.sum(-2, keepdim=True),
    "sum_two": lambda x: x.sum((0, -1)),
    "sum_none": lambda x: x.sum(()),
    "mean": lambda x: x.mean(1),
    "mean_keep": lambda x: x.mean((0, 2), keepdim=True),
    "prod": lambda x: x.prod(1),
    "prod_keep": lambda x: x.prod(-1, keepdim=True),
    "amax": lambda x: x.amax(1),
    "amin_two": lambda x: x.amin((0, 2), keepdim=True),
    "max": lambda x: tuple(x.max(1)),
    "min_keep": lambda x: tuple(x.min(-1, keepdim=True)),
    "argmax": lambda x: x.argmax(1),
    "argmin_keep": lambda x: x.argmin(-1, keepdim=True),
    "any": lambda x: x.any(1),
    "all_keep": lambda x: x.all(-1, keepdim=True),
    "any_two": lambda x: x.any((0, 1)),
    "var": lambda x: x.var(1),
    "var_biased": lambda x: x.var((0, 2), correction=0, keepdim=True),
    "var_5": lambda x: x.var(1, correction=5),
    "std": lambda x: x.std(-1),
    "var_mean": lambda x: tuple(torch.var_mean(x, 1)),
    "norm": lambda x: x.norm(dim=1),
    "logsumexp": lambda x: x.logsumexp(1),
    "softmax": lambda x: x.softmax(1),
    "softmax_0": lambda x: x.softmax(0),
    "softmax_last": lambda x: x.softmax(-1),
    "log_softmax": lambda x: x.log_softmax(1),
    "log_softmax_last": lambda x: x.log_softmax(-1),
    "cumsum": lambda x: x.cumsum(1),
    "cumsum_last": lambda x: x.cumsum(-1),
    "flip": lambda x: x.flip(0, -1),
    "roll": lambda x: x.roll((1, -2), (0, 2)),
    "cumprod": lambda x: x.cumprod(1),
}


def _reductions() -> Iterator[Case]:
    for name, function in WHOLE.items():
        yield from each(name, (*INTEGERS[2:], S8), function, TIES)
        yield from each(name, (U8,), function, (200, 100, 255, 0, 3))
        yield from each(name, FLOATS, function, (0.5, -2.0, 3.25, 3.25, -2.0))
        if name not in ("argmax", "argmin"):
            yield from each(name, (B1,), function, (True, False, True))
        yield from each(f"{name}_nan", (F32, F16), function, NANS)
        yield edge(f"{name}_one", function, f32(1))
        yield edge(f"{name}_0d", function, f32())
        if name in ("sum", "prod", "mean_f32", "any", "all", "count_nonzero"):
            yield edge(f"{name}_empty", function, f32(0, 3))


def _along() -> Iterator[Case]:
    for name, function in ALONG.items():
        yield edge(name, function, f32(3, 4, 5))
        yield edge(f"{name}_order", function, in_order(f32(3, 4, 5), 2, 0, 1))
        if name != "var_mean":  # of infinity: PyTorch's mean depends on the place
            yield edge(f"{name}_nan", function, special(3, 4, 5))
        yield edge(f"{name}_0", function, f32(0, 4, 5))
        yield edge(f"{name}_middle_0", function, f32(3, 0, 5))
        yield edge(f"{name}_one", function, f32(3, 1, 1))
        for dtype in (F16, BF16, F64):
            yield edge(f"{name}_{tag(dtype)}", function, real(dtype, 2, 4, 3))
        for dtype in (S8, S32, B1):
            yield edge(f"{name}_{tag(dtype)}", function, whole(2, 4, 3, dtype=dtype))


def _softmax() -> Iterator[Case]:
    rows = {
        "large": (1000.0, 999.0, -1000.0, 0.0),
        "low": (-INF, -INF, -INF, -INF),
        "some_low": (-INF, 0.0, 1.0, -INF),
        "high": (INF, 0.0, 1.0, 2.0),
        "nan": (NAN, 0.0, 1.0, 2.0),
        "same": (1e30, 1e30, 1e30, 1e30),
        "tiny": (1e-30, -1e-30, 0.0, -0.0),
        "apart": (88.0, -88.0, 0.5, 17.0),
    }
    for name, row in rows.items():
        for kind in ("softmax", "log_softmax"):
            for dim in (0, 1):
                function = lambda x, k=kind, d=dim: getattr(x, k)(d)
                yield edge(
                    f"{kind}_{name}_{dim}", function, shaped((2, 4), (*row, *row[::-1]))
                )
            typed = lambda x, k=kind: getattr(x, k)(0)
            if name in ("low", "apart", "nan"):
                yield from each(f"{kind}_{name}", (F16, BF16, F64), typed, row)
    for kind in ("softmax", "log_softmax"):
        function = lambda x, k=kind: getattr(x, k)(0)
        yield edge(f"{kind}_0d", function, f32())
        cast = lambda x, k=kind: getattr(x, k)(0, dtype=F32)
        yield edge(f"{kind}_s32_to_f32", cast, whole(4, dtype=S32))
        yield edge(f"{kind}_f16_to_f32", cast, real(F16, 4))
        middle = lambda x, k=kind: getattr(x, k)(-2)
        yield edge(f"{kind}_middle", middle, f32(2, 5, 3))


def _typed_sums() -> Iterator[Case]:
    for name in ("sum", "mean", "prod", "cumsum"):
        for source in (B1, U8, S32, F16, F32):
            for dtype in (F32, F64, S32, F16):
                if name == "mean" and dtype == S32:
                    continue
                dims = () if name == "prod" else (0,)
                function = lambda x, n=name, d=dtype, a=dims: getattr(x, n)(*a, dtype=d)
                recipe = lambda s=source: torch.tensor([[0, 1], [2, 3], [1, 1]]).to(s)
                yield edge(f"{name}_{tag(source)}_{tag(dtype)}", function, recipe)
    yield edge(
        "sum_long", lambda x: x.sum(), lambda: torch.full((4096,), 0.1, dtype=F16)
    )
    yield edge("mean_long", lambda x: x.mean(), lambda: torch.full((1000,), 0.1))
    yield edge(
        "sum_s8_wide", lambda x: x.sum(), lambda: torch.full((300,), 127, dtype=S8)
    )
    yield edge(
        "prod_s8_wide", lambda x: x.prod(), lambda: torch.full((5,), 127, dtype=S8)
    )
    yield edge("var_one", lambda x: x.var(), f32(1))
    yield edge("var_0d", lambda x: x.var(), f32())
    yield edge(
        "var_far", lambda x: x.var(), shaped((4,), (1e4, 1e4 + 1, 1e4 + 2, 1e4 + 3))
    )


def _cuts() -> Iterator[Case]:
    """Elements become the dtype that is asked for before they are added."""
    halves = values(0.75, -0.75, 1.5, 2.9)
    yield edge("sum", lambda x: x.sum(dtype=S32), halves)
    yield edge("sum_dim", lambda x: x.sum(0, dtype=S8), halves)
    yield edge("prod", lambda x: x.prod(dtype=S32), halves)
    yield edge("prod_dim", lambda x: x.prod(0, dtype=S16), halves)
    yield edge("cumsum", lambda x: x.cumsum(0, dtype=S32), halves)


def _sorting() -> Iterator[Case]:
    for down in (False, True):
        yield edge(
            f"sort_nan_{down:d}",
            lambda x, d=down: tuple(x.sort(stable=True, descending=d)),
            values(*NANS),
        )
        yield edge(
            f"topk_nan_{down:d}",
            lambda x, d=down: tuple(x.topk(2, largest=d)),
            values(1.0, NAN, 5.0, -INF, INF),
        )
        for dtype in (*INTEGERS, F16, BF16, F64):
            recipe = values(5, 2, 9, 1, 7, dtype=dtype)
            yield edge(
                f"sort_{tag(dtype)}_{down:d}",
                lambda x, d=down: tuple(x.sort(descending=d)),
                recipe,
            )
            yield edge(
                f"topk_{tag(dtype)}_{down:d}",
                lambda x, d=down: tuple(x.topk(3, largest=d)),
                recipe,
            )
        yield edge(
            f"sort_dim0_{down:d}",
            lambda x, d=down: tuple(x.sort(0, descending=d)),
            f32(5, 3),
        )
        yield edge(
            f"argsort_{down:d}", lambda x, d=down: x.argsort(1, descending=d), f32(2, 5)
        )
        yield edge(
            f"topk_dim0_{down:d}",
            lambda x, d=down: tuple(x.topk(2, 0, largest=d)),
            f32(5, 3),
        )
    yield edge("sort_ties", lambda x: tuple(x.sort(stable=True)), values(*TIES))
    yield edge(
        "sort_ties_down",
        lambda x: tuple(x.sort(stable=True, descending=True)),
        values(*TIES),
    )
    yield edge("sort_0d", lambda x: tuple(x.sort()), f32())
    yield edge("topk_0", lambda x: tuple(x.topk(0)), f32(3))
    yield edge("topk_all", lambda x: tuple(x.topk(5)), f32(2, 5))
    yield edge("sort_b1", lambda x: tuple(x.sort(stable=True)), bools(6))
    yield edge("kthvalue", lambda x: tuple(x.kthvalue(2)), f32(5))
    yield edge("argmax_ties", lambda x: x.argmax(0), values(*TIES))
    yield edge("max_ties", lambda x: tuple(x.max(0)), values(*TIES))
    yield edge("min_nan", lambda x: tuple(x.min(0)), values(*NANS))
    yield edge("argmax_flat", lambda x: x.argmax(), f32(2, 3, 4))


def _indices() -> Iterator[Case]:
    x = f32(4, 5)
    rows, columns = values(-1, 0, 2), values(3, -5, 1)
    yield edge("index_negative", lambda x, i: x[i], x, rows)
    yield edge("index_two", lambda x, i, j: x[i, j], x, rows, columns)
    yield edge("index_second", lambda x, j: x[:, j], x, columns)
    yield edge("index_outer", lambda x, i, j: x[i[:, None], j], x, rows, columns)
    yield edge("index_around", lambda x, i, j: x[i, :, j], f32(4, 2, 5), rows, columns)
    yield edge("index_s32", lambda x, i: x[i], x, values(1, -2, dtype=S32))
    yield edge("index_mask", lambda x, m: x[m], x, bools(4))
    yield edge("index_mask_all", lambda x, m: x[m], x, bools(4, 5))
    yield edge("index_2d", lambda x, i: x[i], x, whole(2, 3, low=-4, high=4))
    yield edge("index_empty", lambda x, i: x[i], x, whole(0))
    for dtype in (*INTEGERS, B1, F16, BF16, F64):
        recipe = lambda d=dtype: torch.arange(12).reshape(3, 4).to(d)
        index = whole(2, 4, low=0, high=3)
        yield edge(f"index_{tag(dtype)}", lambda x, i: x[i], recipe, values(-1, 0))
        yield edge(f"gather_{tag(dtype)}", lambda x, i: x.gather(0, i), recipe, index)
        scatter = lambda x, i, s: x.scatter(0, i, s)
        source = lambda d=dtype: torch.arange(8).reshape(2, 4).to(d)
        yield edge(
            f"scatter_value_{tag(dtype)}",
            lambda x, i: x.scatter(0, i, 1),
            recipe,
            index,
        )
        unique = shaped((2, 4), (0, 1, 2, 0, 1, 2, 0, 1), torch.int64)
        yield edge(f"scatter_src_{tag(dtype)}", scatter, recipe, unique, source)
        yield edge(
            f"scatter_add_{tag(dtype)}",
            lambda x, i, s: x.scatter_add(0, i, s),
            recipe,
            index,
            source,
        )
        yield edge(
            f"index_select_{tag(dtype)}",
            lambda x, i: x.index_select(1, i),
            recipe,
            values(3, 0, 0),
        )
        yield edge(
            f"index_put_{tag(dtype)}",
            lambda x, i, s: x.index_put((i,), s),
            recipe,
            values(2, 0),
            source,
        )
        yield edge(
            f"take_{tag(dtype)}", lambda x, i: x.take(i), recipe, values(11, 0, -1)
        )
        yield edge(
            f"index_add_{tag(dtype)}",
            lambda x, i, s: x.index_add(0, i, s),
            recipe,
            values(2, 0),
            source,
        )
    put = lambda x, i, v: x.index_put((i,), v, accumulate=True)
    yield edge("index_put_twice", put, f32(4), values(1, -3, 1), f32(3))
    yield edge("index_put_row", put, f32(4, 3), values(1, 0), f32(3))
    yield edge(
        "index_put_mask", lambda x, m, v: x.index_put((m,), v), f32(4), bools(4), f32()
    )
    yield edge(
        "index_put_int", put, whole(4, dtype=S32), values(1, 1), whole(2, dtype=S32)
    )
    yield edge(
        "gather_small",
        lambda x, i: x.gather(-1, i),
        f32(3, 5),
        whole(2, 2, low=0, high=5),
    )
    yield edge(
        "gather_0d", lambda x, i: x.gather(0, i), f32(), shaped((), [0], torch.int64)
    )
    yield edge("gather_empty", lambda x, i: x.gather(1, i), f32(3, 5), whole(3, 0))
    yield edge(
        "scatter_small",
        lambda x, i, s: x.scatter(1, i, s),
        f32(3, 5),
        shaped((2, 2), (0, 4, 3, 1), torch.int64),
        f32(3, 4),
    )
    for how in ("add", "multiply"):
        reduce = lambda x, i, s, h=how: x.scatter(0, i, s, reduce=h)
        yield edge(
            f"scatter_{how}", reduce, f32(3, 4), whole(2, 4, low=0, high=3), f32(2, 4)
        )
        value = lambda x, i, h=how: x.scatter(0, i, 3, reduce=h)
        yield edge(f"scatter_value_{how}", value, f32(3, 4), whole(2, 4, low=0, high=3))
    for how in ("sum", "prod", "mean", "amax", "amin"):
        for inside in (False, True):
            reduce = lambda x, i, s, h=how, n=inside: x.scatter_reduce(
                0, i, s, h, include_self=n
            )
            yield edge(
                f"scatter_{how}_{inside:d}",
                reduce,
                f32(3, 4),
                whole(5, 4, low=0, high=3),
                f32(5, 4),
            )
    yield edge("index_fill", lambda x, i: x.index_fill(1, i, 2.0), x, values(0, 3))
    yield edge(
        "index_copy", lambda x, i, s: x.index_copy(0, i, s), x, values(3, 1), f32(2, 5)
    )
    yield edge("nonzero", torch.nonzero, values(0.0, 1.0, -0.0, NAN, 3.0))
    yield edge("nonzero_2d", torch.nonzero, bools(3, 4))
    yield edge("nonzero_none", torch.nonzero, shaped((4,), [0] * 4, S32))
    yield edge("masked_select", torch.masked_select, x, bools(4, 5))
    yield edge(
        "searchsorted", torch.searchsorted, values(1.0, 3.0, 5.0), values(0.0, 3.0, 9.0)
    )


def _views() -> Iterator[Case]:
    x = f32(2, 3, 4)
    functions = {
        "permute_negative": lambda x: x.permute(-1, 0, -2),
        "transpose_negative": lambda x: x.transpose(-1, -3),
        "t": lambda x: x[0].t(),
        "view_minus": lambda x: x.view(-1, 6),
        "reshape_0": lambda x: x[:, :0].reshape(0, 5),
        "squeeze": lambda x: x[:1, :, :1].squeeze(),
        "squeeze_dim": lambda x: x[:, :1].squeeze(-2),
        "squeeze_dims": lambda x: x[:1, :, :1].squeeze((0, -1)),
        "squeeze_not": lambda x: x.squeeze(1),
        "unsqueeze_end": lambda x: x.unsqueeze(-1),
        "unsqueeze_start": lambda x: x.unsqueeze(-4),
        "expand": lambda x: x[:, :1].expand(5, 2, 3, -1),
        "expand_0": lambda x: x[:, :1].expand(2, 0, 4),
        "repeat": lambda x: x.repeat(2, 1, 1, 2),
        "repeat_0": lambda x: x.repeat(1, 0, 1),
        "tile": lambda x: x.tile(3),
        "slice_far": lambda x: x[:, -100:100, 1:-1],
        "slice_step": lambda x: x[:, :, ::3],
        "slice_none": lambda x: x[:, 2:1],
        "select_negative": lambda x: x.select(-1, -2),
        "narrow": lambda x: x.narrow(2, -3, 2),
        "split": lambda x: x.split(3, -1),
        "split_sizes": lambda x: x.split((1, 0, 3), -1),
        "chunk": lambda x: x.chunk(3, 2),
        "unbind": lambda x: x.unbind(-2),
        "cat_negative": lambda x: torch.cat([x, x * 2, x[..., :1]], -1),
        "cat_empty": lambda x: torch.cat([x[:, :0], x, torch.zeros(0)], 1),
        "stack_end": lambda x: torch.stack([x, -x], -1),
        "stack_start": lambda x: torch.stack([x, -x, x]),
        "diagonal": lambda x: x.diagonal(1, -1, 0),
        "diagonal_low": lambda x: x.diagonal(-1),
        "diagonal_none": lambda x: x.diagonal(9),
        "tril": lambda x: x.tril(-1),
        "triu": lambda x: x.triu(1),
        "tril_far": lambda x: x.tril(50),
        "triu_far": lambda x: x.triu(-50),
        "unfold": lambda x: x.unfold(2, 2, 1),
        "unfold_step": lambda x: x.unfold(-1, 3, 2),
        "as_strided": lambda x: x.as_strided((2, 3), (1, 2), 3),
        "as_strided_overlap": lambda x: x.as_strided((4, 2), (1, 1), 0),
        "flip_none": lambda x: x.flip(()),
        "rot90": lambda x: x.rot90(1, (0, 2)),
        "roll_flat": lambda x: x.roll(5),
        "select_scatter": lambda x: x.select_scatter(x[0] * 2, 0, -1),
        "slice_scatter": lambda x: x.slice_scatter(x[:, :2] * 2, 1, 0, 3, 2),
        "diagonal_scatter": lambda x: x.diagonal_scatter(
            x[0, :, :2].t() * 0 + 1, 0, 0, 1
        ),
        "movedim": lambda x: x.movedim(0, 2),
        "flatten": lambda x: x.flatten(1),
        "unflatten": lambda x: x.unflatten(2, (2, -1)),
        "meshgrid": lambda x: torch.meshgrid(x[0, 0], x[0, :, 0], indexing="ij"),
        "repeat_interleave": lambda x: x.repeat_interleave(2, 1),
        "cdist": lambda x: torch.cdist(x, x),
    }
    for name, function in functions.items():
        yield edge(name, function, x)
        yield edge(f"{name}_s16", function, whole(2, 3, 4, dtype=S16))
        yield edge(f"{name}_f16", function, real(F16, 2, 3, 4))
        yield edge(f"{name}_b1", function, bools(2, 3, 4))
        yield edge(f"{name}_s64", function, whole(2, 3, 4))
    # More dimensions than a copy has at once.
    yield edge("repeat_all", lambda x: x.repeat(2, 3, 2, 3), f32(3, 2, 2, 3))
    yield edge("repeat_volumes", lambda x: x.repeat(2, 2, 3, 2, 2), f32(2, 3, 2, 2, 3))
    for name in (
        "permute_negative",
        "view_minus",
        "slice_step",
        "cat_negative",
        "expand",
    ):
        yield edge(f"{name}_order", functions[name], in_order(x, 1, 2, 0))
    yield edge("cat_mixed", lambda x, y: torch.cat([x, y]), whole(2, dtype=S32), f32(3))
    yield edge("stack_mixed", lambda x, y: torch.stack([x, y]), real(F16, 3), f32(3))
    yield edge("permute_0d", lambda x: x.permute(()), f32())
    yield edge("transpose_0d", lambda x: x.transpose(0, -1), f32())
    yield edge("cat_one", lambda x: torch.cat([x]), f32(3))
    yield edge(
        "high_rank", lambda x: x.permute(5, 1, 3, 0, 2, 4), f32(2, 1, 2, 3, 1, 2)
    )


def _creation() -> Iterator[Case]:
    functions = {
        "arange": lambda: torch.arange(5),
        "arange_step": lambda: torch.arange(1, 10, 3),
        "arange_down": lambda: torch.arange(5, -5, -2),
        "arange_float": lambda: torch.arange(0.0, 1.0, 0.1),
        "arange_none": lambda: torch.arange(3, 3),
        "arange_s32": lambda: torch.arange(0, 6, 2, dtype=S32),
        "linspace": lambda: torch.linspace(-1, 1, 5),
        "full": lambda: torch.full((2, 3), 7),
        "full_f16": lambda: torch.full((2, 3), 1.5, dtype=F16),
        "full_b1": lambda: torch.full((2,), True),
        "full_inf": lambda: torch.full((2,), -INF),
        "zeros_u8": lambda: torch.zeros(3, dtype=U8),
        "ones_bf16": lambda: torch.ones(2, 2, dtype=BF16),
        "eye": lambda: torch.eye(3, 4),
        "scalar_tensor": lambda: torch.scalar_tensor(2.5),
        "tril_indices": lambda: torch.tril_indices(3, 3),
    }
    for name, function in functions.items():
        yield edge(name, lambda x, f=function: (f(), x + 1), f32(2))
    for dtype in (*INTEGERS, B1, *FLOATS):
        like = lambda x: (
            torch.full_like(x, 1),
            torch.zeros_like(x),
            torch.ones_like(x),
        )
        recipe = lambda d=dtype: torch.ones(2, 3).to(d)
        yield edge(f"like_{tag(dtype)}", like, recipe)
        yield edge(f"fill_{tag(dtype)}", lambda x: x.fill(1), recipe)
        yield edge(f"new_full_{tag(dtype)}", lambda x: x.new_full((3,), 1), recipe)
        yield edge(f"item_{tag(dtype)}", lambda x: x.fill(x[0, 0]), recipe)
    yield edge("full_like_f64", lambda x: torch.full_like(x, 3, dtype=F64), f32(2))


GROUPS = {
    "edge_reductions": _reductions,
    "edge_along": _along,
    "edge_softmax": _softmax,
    "edge_typed_sums": _typed_sums,
    "edge_cuts": _cuts,
    "edge_sorting": _sorting,
    "edge_indices": _indices,
    "edge_views": _views,
    "edge_creation": _creation,
}
