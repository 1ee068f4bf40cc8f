# SPDX-License-Identifier: Apache-2.0
"""Operators that the exporter takes apart unless it is asked to keep them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from corpus.case import Case
from corpus.inputs import bools, channels_last, f32, real, whole

from conformance.edges import F16, S8, S32, S64, U8, edge, special
from conformance.tolerance import tag

aten = torch.ops.aten
# Operator -> how it is called with one tensor (2, 4, 6).
UNARY: dict[Any, Callable[..., Any]] = {
    aten._conj_physical.default: lambda op, x: op(x),
    aten._unsafe_view.default: lambda op, x: op(x, (4, 12)),
    aten.all.default: lambda op, x: op(x),
    aten.all.dim: lambda op, x: op(x, -1, True),
    aten.any.dims: lambda op, x: op(x, (0, 2)),
    aten.detach_copy.default: lambda op, x: op(x),
    aten.div.Scalar: lambda op, x: op(x, 3),
    aten.div.Scalar_mode: lambda op, x: op(x, -3, rounding_mode="floor"),
    aten.fill.Scalar: lambda op, x: op(x, 3),
    aten.floor_divide.default: lambda op, x: op(x, x * 0 + 3),
    aten.lift_fresh_copy.default: lambda op, x: op(x),
    aten.narrow_copy.default: lambda op, x: op(x, 1, -3, 2),
    aten.ones.default: lambda op, x: x + op((4, 6)),
    aten.zeros.default: lambda op, x: x + op((4, 6)),
    aten.roll.default: lambda op, x: op(x, (1, -2), (0, 2)),
    aten.rsub.Scalar: lambda op, x: op(x, 7, 2),
    aten.select_scatter.default: lambda op, x: op(x, x[0] * 2, 0, -1),
    aten.split_copy.Tensor: lambda op, x: tuple(op(x, 3, 1)),
    aten.squeeze_copy.default: lambda op, x: op(x[:1]),
    aten.squeeze_copy.dim: lambda op, x: op(x[:, :1], -2),
    aten.stack.default: lambda op, x: op([x, x * 2, x], -1),
    aten.sub.Scalar: lambda op, x: op(x, 3, 2),
    aten.t_copy.default: lambda op, x: op(x[1]),
    aten.transpose_copy.int: lambda op, x: op(x, -1, 0),
    aten.tril.default: lambda op, x: op(x, -1),
    aten.triu.default: lambda op, x: op(x, 1),
    aten.unbind_copy.int: lambda op, x: tuple(op(x, -2)),
    aten.unfold_copy.default: lambda op, x: op(x, -1, 3, 2),
    aten.reflection_pad1d.default: lambda op, x: op(x, (1, 2)),
    aten.reflection_pad2d.default: lambda op, x: op(x, (1, 2, 3, 0)),
    aten.reflection_pad3d.default: lambda op, x: op(x[None], (1, 2, 3, 0, 1, 1)),
    aten.replication_pad1d.default: lambda op, x: op(x, (1, -2)),
    aten.replication_pad2d.default: lambda op, x: op(x, (1, 2, 3, 0)),
    aten.replication_pad3d.default: lambda op, x: op(x[None], (1, 2, 3, 0, 1, 1)),
}
FLOATING: dict[Any, Callable[..., Any]] = {
    aten.glu.default: lambda op, x: op(x, 1),
    aten.logit.default: lambda op, x: op(x, 0.1),
    aten.silu.default: lambda op, x: op(x),
    aten.var.dim: lambda op, x: op(x, (0, 2), False, True),
}


def _name(operator: torch._ops.OpOverload) -> str:
    return operator.name().removeprefix("aten::").replace(".", "_").strip("_")


def _kept() -> Iterator[Case]:
    for table, dtypes in ((UNARY, (S32, U8, F16)), (FLOATING, (F16, torch.float64))):
        for operator, call in table.items():
            function = lambda x, f=call, op=operator: f(op, x)
            name, keep = _name(operator), (operator,)
            yield edge(name, function, special(2, 4, 6), keep=keep)
            yield edge(f"{name}_plain", function, f32(2, 4, 6), keep=keep)
            for dtype in dtypes:
                recipe = lambda d=dtype: torch.arange(48).reshape(2, 4, 6).to(d)
                yield edge(f"{name}_{tag(dtype)}", function, recipe, keep=keep)


def _kept_others() -> Iterator[Case]:
    fill = aten.masked_fill.Scalar
    filled = lambda x, m: fill(x, m, 2)
    for dtype in (torch.float32, F16, S8, S64):
        recipe = lambda d=dtype: torch.arange(6).reshape(2, 3).to(d)
        yield edge(f"masked_fill_{tag(dtype)}", filled, recipe, bools(3), keep=(fill,))
        number = lambda d=dtype: torch.tensor(3).to(d)
        keep = (aten.fill.Tensor,)
        yield edge(
            f"fill_tensor_{tag(dtype)}", aten.fill.Tensor, recipe, number, keep=keep
        )
    keep = (aten.baddbmm.default,)
    products = f32(2, 3, 5), f32(2, 3, 4), f32(2, 4, 5)
    for alpha, beta in ((1, 1), (2, -1), (0.5, 0)):
        scaled = lambda c, a, b, x=alpha, y=beta: aten.baddbmm(c, a, b, alpha=x, beta=y)
        yield edge(f"baddbmm_{alpha}_{beta}", scaled, *products, keep=keep)
    counted = lambda x: (aten.arange.default(5), x + 1)
    yield edge("arange", counted, f32(2), keep=(aten.arange.default,))
    times = lambda x, i: aten.scatter.value_reduce(x, 0, i, 3, reduce="multiply")
    keep = (aten.scatter.value_reduce,)
    yield edge("scatter_value", times, f32(3, 4), whole(2, 4, low=0, high=3), keep=keep)


def _memory_formats() -> Iterator[Case]:
    """Copies as they are where the exporter leaves dim orders alone."""
    for dtype in (F16, S32, torch.bool):
        cast = lambda x, d=dtype: x.to(d)
        yield edge(f"to_{tag(dtype)}", cast, f32(2, 3), dim_order=False)
        back = lambda x: x.to(torch.float32)
        yield edge(f"from_{tag(dtype)}", back, real(dtype, 2, 3), dim_order=False)
    yield edge("clone", lambda x: x.clone(), f32(2, 3), dim_order=False)
    picture = channels_last(f32(1, 3, 2, 4))
    yield edge("clone_channels_last", lambda x: x.clone(), picture, dim_order=False)


GROUPS = {
    "edge_kept": _kept,
    "edge_kept_others": _kept_others,
    "edge_memory_formats": _memory_formats,
}
