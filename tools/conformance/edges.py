# SPDX-License-Identifier: Apache-2.0
"""Edge cases of our own: groups by name, found by the modules edges_*.py."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from corpus.case import Case
from corpus.inputs import Recipe, made, values

from conformance.making import exported_call
from conformance.tolerance import tag

F16, BF16, F32, F64 = torch.float16, torch.bfloat16, torch.float32, torch.float64
S8, S16, S32, S64 = torch.int8, torch.int16, torch.int32, torch.int64
U8, B1 = torch.uint8, torch.bool
FLOATS = (F32, F16, BF16, F64)
INTEGERS = (S8, U8, S16, S32, S64)
NAN, INF = float("nan"), float("inf")
SPECIAL = (NAN, INF, -INF, -0.0, 0.0, 0.5, -1.5, 2.5, 300.0, -7.0)


def edge(
    name: str,
    function: Callable[..., Any],
    *recipes: Any,
    keep: Iterable[torch._ops.OpOverload] = (),
    dim_order: bool = True,
) -> Case:
    """A case of one function; `keep` names what must not be decomposed."""
    options = {"keep": tuple(keep), "dim_order": dim_order}
    return Case(name, lambda: exported_call(function, made(recipes), **options), False)


def each(
    name: str,
    dtypes: Iterable[torch.dtype],
    function: Callable[..., Any],
    *numbers: tuple[Any, ...],
) -> list[Case]:
    """The function of the same numbers in every dtype, one dimension each."""
    return [
        edge(
            f"{name}_{tag(dtype)}",
            function,
            *(values(*n, dtype=dtype) for n in numbers),
        )
        for dtype in dtypes
    ]


def special(*shape: int, dtype: torch.dtype = F32) -> Recipe:
    """NaN, infinities and zeros of both signs between plain numbers."""

    def recipe() -> torch.Tensor:
        count = int(torch.tensor(shape).prod()) if shape else 1
        numbers = torch.tensor(SPECIAL, dtype=dtype)
        return numbers[torch.arange(count) % len(SPECIAL)].reshape(shape)

    return recipe


def shaped(shape: tuple[int, ...], numbers: Iterable[Any], dtype: Any = F32) -> Recipe:
    """These numbers in a shape."""
    listed = list(numbers)
    return lambda: torch.tensor(listed, dtype=dtype).reshape(shape)


def in_order(recipe: Recipe, *order: int) -> Recipe:
    """The same tensor, its dimensions in this order in memory, outermost first."""

    def reordered() -> torch.Tensor:
        back = [order.index(i) for i in range(len(order))]
        return recipe().permute(order).contiguous().permute(back)

    return reordered
