# SPDX-License-Identifier: Apache-2.0
"""Recipes of input tensors: numbers are drawn only after the seed is set."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch

Recipe = Callable[[], torch.Tensor]


def f32(*shape: int) -> Recipe:
    """Normal float32 numbers."""
    return lambda: torch.randn(shape)


def real(dtype: torch.dtype, *shape: int) -> Recipe:
    """Normal numbers of a floating dtype."""
    return lambda: torch.randn(shape).to(dtype)


def positive(*shape: int) -> Recipe:
    """float32 in [0.1, 1.1)."""
    return lambda: torch.rand(shape) + 0.1


def unit(*shape: int) -> Recipe:
    """float32 in (-1, 1)."""
    return lambda: torch.rand(shape) * 1.98 - 0.99


def whole(
    *shape: int, low: int = -10, high: int = 10, dtype: torch.dtype = torch.int64
) -> Recipe:
    """Integers in [low, high)."""
    return lambda: torch.randint(low, high, shape).to(dtype)


def bools(*shape: int) -> Recipe:
    """Fair coins."""
    return lambda: torch.rand(shape) > 0.5


def values(*numbers: Any, dtype: torch.dtype | None = None) -> Recipe:
    """These very numbers, in one dimension."""
    return lambda: torch.tensor(numbers, dtype=dtype)


def channels_last(recipe: Recipe) -> Recipe:
    """The same tensor, stored with the channels innermost."""
    return lambda: recipe().to(memory_format=torch.channels_last)


def made(recipes: Iterable[Any]) -> tuple[Any, ...]:
    """Return the inputs: recipes cooked (also in lists), literals as they are."""
    return tuple(_made(recipe) for recipe in recipes)


def _made(recipe: Any) -> Any:
    if isinstance(recipe, list | tuple):
        return type(recipe)(_made(item) for item in recipe)
    return recipe() if callable(recipe) else recipe
