"""Normalisation and PReLU of a graph are quantised: each becomes one operator of
integers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ember.export.graph import by_name, first, norm_layers
from ember.export.graph.recurrent_integers import (
    Scale,
    hold,
    output_scale,
    quantised,
    real,
    scale_of,
    value_of,
)
from ember.export.operators import library
from ember.export.operators.norms import EPSILON, LAYER_SHIFT, fraction
from ember.export.packages import need

# ---- the quantizer: int8 in and out --------------------------------------------------


def fusing(known: Any, activation: Any) -> Any:
    """A quantizer like `known` that takes normalisation and PReLU.

    activation -- the specification of int8 inputs and outputs
    """
    specs = need("torchao.quantization.pt2e.quantizer")

    class Normalising(specs.Quantizer):  # type: ignore[misc, name-defined]
        def transform_for_annotation(self, model: Any) -> Any:
            model = known.transform_for_annotation(model)
            norm_layers.as_modules(model)
            return model

        def annotate(self, model: Any) -> Any:
            for node in model.graph.nodes:
                if norm_layers.target_of(model, node) is not None:
                    node.meta["quantization_annotation"] = specs.QuantizationAnnotation(
                        input_qspec_map={first(node): activation},
                        output_qspec=activation,
                        _annotated=True,
                    )
            return known.annotate(model)

        def validate(self, model: Any) -> None:
            known.validate(model)

    return Normalising()


# ---- lowering ------------------------------------------------------------------------


def to_integers(graph_module: Any) -> None:
    """Replaces all calls of norm_layers.module() by operators of integers, with steps
    from and to float around them."""
    calls = [
        node
        for node in graph_module.graph.nodes
        if norm_layers.target_of(graph_module, node) is not None
    ]
    for node in calls:
        _replace(graph_module, node)
    if calls:
        graph_module.graph.eliminate_dead_code()
        graph_module.delete_all_unused_submodules()
        graph_module.recompile()


def _replace(graph_module: Any, node: Any) -> None:
    target: Any = norm_layers.target_of(graph_module, node)
    call = dict(by_name(target, node.args, node.kwargs))
    for role in ("weight", "bias"):
        call[role] = value_of(graph_module, call.get(role))
    sides = Sides(scale_of(first(node)), output_scale([node]))
    shape = node.meta["val"].shape
    integers = _LAYERS[target.__name__.partition(".")[0]](call, shape, sides)
    graph, name = graph_module.graph, node.name
    with graph.inserting_before(node):
        held = hold(graph_module, f"_{name}_scales", integers.scales)
        given = quantised(graph, first(node), sides.x)
        operator = getattr(library.defined(), integers.operator).default
        step = graph.call_function(operator, (given, held, *integers.words))
        step.meta = dict(node.meta)
        output = real(graph, step, sides.y)
    node.replace_all_uses_with(output)
    graph.erase_node(node)
    output.meta, output.name = dict(step.meta), name  # as the float model has it


# ---- numbers in float become those of the operators ----------------------------------


_MOST = 28  # bits of products; int32 holds the sum of some
_MOST_SHIFT = 20
_WIDE = 2**31 - 1
_PRODUCT = 22  # bits of a factor of PReLU, whose other one has 9


@dataclass(frozen=True)
class Sides:
    """What integers of input and output represent."""

    x: Scale
    y: Scale


@dataclass(frozen=True)
class NormCall:
    """A call of an operator: what follows x."""

    operator: str
    scales: Any
    words: tuple[Any, ...]


def of_layer(call: Mapping[str, Any], shape: Any, sides: Sides) -> NormCall:
    """The integers of a layer or RMS norm."""
    count = math.prod(call["normalized_shape"])
    by = _numbers(call["weight"], count, 1.0) / sides.y.scale
    bias = _numbers(call.get("bias"), count, 0.0) / sides.y.scale
    scales = _scales(by, bias, sides.y, LAYER_SHIFT, count)
    epsilon = call["eps"]
    if epsilon is None:
        epsilon = need("torch").finfo(need("torch").float32).eps
    rms = "cudnn_enable" not in call
    words = _epsilon(epsilon, count, sides.x), rms, sides.x.zero_point
    return NormCall("quantized_layer_norm", scales, words)


def of_groups(call: Mapping[str, Any], shape: Any, sides: Sides) -> NormCall:
    """The integers of a group or instance norm."""
    channels = shape[1]
    groups = call.get("num_groups", channels)
    count = channels // groups * math.prod(shape[2:])
    by = _numbers(call["weight"], channels, 1.0) / sides.y.scale
    bias = _numbers(call["bias"], channels, 0.0) / sides.y.scale
    reach = 2.0 ** (29 - fraction(count))  # of normalised numbers
    most = max(float(by.abs().max()) * reach, float(bias.abs().max()) + 128)
    shift = min(max(_MOST - math.ceil(math.log2(most)), 1), _MOST_SHIFT)
    scales = _scales(by, bias, sides.y, shift, count)
    words = groups, _epsilon(call["eps"], count, sides.x), shift
    return NormCall("quantized_group_norm", scales, words)


def of_prelu(call: Mapping[str, Any], shape: Any, sides: Sides) -> NormCall:
    torch = need("torch")
    slopes = torch.cat([torch.ones(1), call["weight"].reshape(-1)]).double()
    factors = slopes * sides.x.scale / sides.y.scale
    bits = math.ceil(math.log2(float(factors.abs().max())))
    shift = min(max(_PRODUCT - 1 - bits, 0), _MOST_SHIFT)
    scales = (factors * 2.0**shift).round().clamp(-(2**_PRODUCT), 2**_PRODUCT)
    words = sides.x.zero_point, shift, sides.y.zero_point
    return NormCall("quantized_prelu", scales.to(torch.int32), words)


_LAYERS = {
    **{"layer_norm": of_layer, "rms_norm": of_layer, "prelu": of_prelu},
    **{"group_norm": of_groups, "instance_norm": of_groups},
}


def _numbers(given: Any, count: int, otherwise: float) -> Any:
    torch = need("torch")
    if given is None:
        return torch.full((count,), otherwise, dtype=torch.float64)
    return given.reshape(-1).double()


def _scales(by: Any, bias: Any, of_y: Scale, shift: int, count: int) -> Any:
    """(2, n): what normalised numbers are multiplied with, and what is added, of
    `shift` fraction bits, with the half that rounds."""
    torch = need("torch")
    factors = by * 2.0 ** (shift + 32 - fraction(count))
    more = (bias + of_y.zero_point) * 2.0**shift + 2.0 ** (shift - 1)
    limits = factors.clamp(-_WIDE, _WIDE), more.clamp(-(2**29), 2**29)
    return torch.stack(limits).round().to(torch.int32)


def _epsilon(epsilon: float, count: int, of_x: Scale) -> int:
    """In the unit of the variance."""
    whole = epsilon * (count / of_x.scale) ** 2 * 2**EPSILON
    return max(1, round(min(float(whole), 2.0**61)))
