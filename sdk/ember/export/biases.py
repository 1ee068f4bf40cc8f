"""Rounded weights shift the mean of a layer's results; its bias takes that back."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from ember.export.canonical.editing import constant, name
from ember.export.damage import isolating, recorder
from ember.export.graph import first, named
from ember.export.packages import need
from ember.export.source import Sample

# by operator: the dimension of its result's channels, from the end
_LAYERS = {
    "conv2d.default": -3,
    "conv_transpose2d.input": -3,
    "linear.default": -1,
}
_MOST = 2**31 - 1


def corrected(converted: Any, prepared: Any, samples: Sequence[Sample]) -> Any | None:
    """A copy of a quantised graph with other biases; None if no layer has a bias.

    Each layer is run on what the float model gives it, so that no layer corrects the
    error of another.

    prepared -- the graph with observers, which computes in float
    """
    converted = copy.deepcopy(converted)
    layers = {node.name: node for node in _with_bias(converted)}
    if not layers:
        return None
    shifts = dict.fromkeys(layers, 0.0)
    with need("torch").no_grad():
        for sample in samples:
            floats: dict[str, Any] = {}
            recorder(prepared, floats).run(*copy.deepcopy(sample))
            results: dict[str, Any] = {}
            isolating(converted, floats, results).run(*copy.deepcopy(sample))
            for key, node in layers.items():
                shifts[key] += _shift(node, floats[key], results[key])
        for key, node in layers.items():
            _move(converted, node, shifts[key] / len(samples))
    return converted


def _with_bias(converted: Any) -> list[Any]:
    """The layers with a bias of int32 that no other layer has."""
    layers = [
        node
        for node in converted.graph.nodes
        if name(node) in _LAYERS and _bias(converted, node) is not None
    ]
    held = [first(named(node)["bias"]).target for node in layers]
    return [
        node
        for node, key in zip(layers, held, strict=True)
        if held.count(key) == 1 and len(named(node)["bias"].users) == 1
    ]


def _bias(converted: Any, node: Any) -> Any | None:
    step = named(node).get("bias")
    if step is None or "dequantize" not in str(getattr(step, "target", "")):
        return None
    value = constant(converted, first(step))
    return value if value is not None and value.dtype == need("torch").int32 else None


def _shift(node: Any, exact: Any, got: Any) -> Any:
    """The mean difference by channel."""
    axis = _LAYERS[name(node)] % exact.dim()
    dims = [dim for dim in range(exact.dim()) if dim != axis]
    difference = exact.double() - got.double()
    return difference.mean(dims) if dims else difference


def _move(converted: Any, node: Any, shift: Any) -> None:
    call = named(named(node)["bias"])
    scale = call.get("scales", call.get("scale"))
    held = constant(converted, scale)
    bias = _bias(converted, node)
    steps = (shift / (scale if held is None else held.double())).round()
    bias.copy_((bias.double() + steps).clamp(-_MOST, _MOST))  # type: ignore[union-attr]
