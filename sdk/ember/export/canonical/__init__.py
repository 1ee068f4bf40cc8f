"""A float graph becomes an equal one in the forms that quantisers know.

constants   weights that are computed from parameters become parameters
attention   scaled dot products become matrix products and a softmax
products    products with a parameter become linear layers; numbers, channel factors and
            batch norms behind a product become part of its weights
series      layers of series (n, c, l) become layers of images (n, c, 1, l)

Each rewrite changes the graph in place and leaves its function as it was, but for the
rounding of constants that it computes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ember.export.canonical import attention, constants, products, series
from ember.export.canonical.editing import propagate


def rewrite(module: Any, inputs: Sequence[Any]) -> None:
    """Rewrites a graph of ATen's operators that has no operator in place.

    inputs -- those of a call, flat
    """
    for change in (
        constants.fold,
        attention.decompose,
        products.to_linear,
        series.to_images,
        constants.fold,  # filters of images
        products.absorb,
    ):
        propagate(module, inputs)
        change(module)
        module.graph.eliminate_dead_code()
        module.recompile()
    propagate(module, inputs)
