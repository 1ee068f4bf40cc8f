"""An exported graph becomes one that quantisers know, with the same results in float.

A network can write the same computation in many ways, of which a flow's quantiser knows
one. Here weights that are computed become constants, 1-D layers become images of height
1, attention becomes products and a softmax, products with constants become linear
layers, and the numbers, factors and norms around them go into their weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ember.export.canonical import attention, constants, plain, products, series
from ember.export.canonical.editing import propagate, tidy
from ember.export.graph import norm_layers


def rewrite(module: Any, inputs: Sequence[Any]) -> None:
    """Rewrites a graph from torch.export in place.

    inputs -- tensors as the graph takes them, flat; only their shapes, dtypes and
        layouts are read
    """
    constants.fold(module)
    for step in (
        plain.plain,
        norm_layers.fold,
        attention.decompose,
        products.to_linear,
        series.to_images,
        products.absorb,
        plain.images,
    ):
        propagate(module, inputs)
        step(module)
        tidy(module)
        constants.fold(module)
    propagate(module, inputs)
