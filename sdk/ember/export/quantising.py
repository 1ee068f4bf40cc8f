"""A model and samples become a quantised graph, or a refusal that says what is not."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

from ember.export import states
from ember.export.damage import Damage
from ember.export.packages import need
from ember.export.recurrent import lowering
from ember.export.source import Sample

GROUP = 32  # weights of int4 that share a scale


class NothingQuantisedError(Exception):
    """A flow found nothing that it could quantise; it says what that would be."""

    def __init__(self, what: str) -> None:
        super().__init__(f"nothing can be quantised: the model has no {what}")


def calibrated(
    model: Any,
    samples: Sequence[Sample],
    quantizer: Any,
    layers: str,
    damage: Damage | None = None,
    rounding: Callable[[Any], None] | None = None,
    *,
    fusing: bool = False,
) -> Any:
    """The model with what a quantizer chooses in integers, calibrated by samples.

    `layers` says in words what the quantizer chooses; `damage` receives what that does
    to each layer; `rounding` changes the quantised weights of the graph; if `fusing`,
    the quantizer takes recurrent layers, cells among them.
    """
    steps = need("torchao.quantization.pt2e.quantize_pt2e")
    explicit = states.explicit(model, samples[0], cells_stay=fusing)
    prepared = steps.prepare_pt2e(explicit.graph, quantizer)
    explicit.calibrate(prepared, samples)
    observed = copy.deepcopy(prepared) if damage is not None else None
    converted = steps.convert_pt2e(prepared)
    if not any("quantize" in str(node.target) for node in converted.graph.nodes):
        raise NothingQuantisedError(layers)
    if rounding is not None:
        rounding(converted)
    lowering.to_integers(converted)
    if damage is not None:
        damage.measure(explicit, observed, converted, samples)
    _fold_made(converted)
    if fusing:
        lowering.fold_steps(converted)
        explicit = explicit.narrowed(converted)
    return explicit.bound(converted)


def _fold_made(graph: Any) -> None:
    """Quantises constants that the model makes itself, torch.ones(3): both flows leave
    one in float32 and take it for int8."""
    for node in list(graph.graph.nodes):
        source = node.args[0] if _name(node) == "quantize_per_tensor" else None
        if source is None or source.op != "call_function" or source.all_input_nodes:
            continue
        constant = node.target(
            source.target(*source.args, **source.kwargs), *node.args[1:]
        )
        name = f"_made_{node.name}"
        graph.register_buffer(name, constant)
        with graph.graph.inserting_before(node):
            folded = graph.graph.get_attr(name)
        folded.meta = dict(node.meta)
        node.replace_all_uses_with(folded)
        graph.graph.erase_node(node)
    graph.graph.eliminate_dead_code()
    graph.recompile()


def _name(node: Any) -> str:
    return getattr(node.target, "__name__", "").partition(".")[0]


def in_groups(model: Any) -> tuple[Any, int]:
    """A copy with linear layers of int4, and how many have another width of inputs.

    Its scales are those of the program, which has them in bfloat16: PyTorch's outputs
    are then the program's but for the order of sums.
    """
    torch, api = need("torch"), need("torchao.quantization.quant_api")
    granularity = need("torchao.quantization.granularity")
    model = copy.deepcopy(model)
    layers = [m for m in model.modules() if type(m) is torch.nn.Linear]
    fitting = [layer for layer in layers if layer.in_features % GROUP == 0]
    if not fitting:
        widths = f"with an input width that is a multiple of {GROUP}"
        raise NothingQuantisedError(f"nn.Linear {widths}")
    config = api.Int8DynamicActivationIntxWeightConfig(
        weight_dtype=torch.int4, weight_granularity=granularity.PerGroup(GROUP)
    )
    api.quantize_(model, config, filter_fn=lambda layer, _: layer in fitting)
    with torch.no_grad():
        for layer in fitting:
            layer.weight.scale.copy_(layer.weight.scale.to(torch.bfloat16))
    return model, len(layers) - len(fitting)
