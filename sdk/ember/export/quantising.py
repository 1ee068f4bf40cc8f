"""A model and samples become a quantised graph, and a sentence about its weights."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ember.export import faults
from ember.export.calibration import Calibration
from ember.export.canonical import rewrite
from ember.export.graph import (
    first,
    norm_integers,
    recurrent_integers,
    rest,
    states,
    tables,
)
from ember.export.graph.states import is_in_place
from ember.export.operators.int4 import are_int4
from ember.export.packages import need
from ember.export.source import Sample
from ember.output import counted

GROUP = 32  # weights of int4 that share a scale


class NothingQuantisedError(Exception):
    """A flow found nothing to quantise; it says what it looked for."""

    def __init__(self, what: str) -> None:
        super().__init__(f"nothing can be quantised: the model has no {what}")


def calibrated(
    model: Any,
    calibration: Calibration,
    quantizer: Any,
    layers: str,
    rounding: Callable[[Any], None] | None = None,
    *,
    fusing: bool = False,
    canonical: bool = False,
) -> Any:
    """The model with the parts that a quantizer chooses in integers, calibrated by
    samples.

    layers -- words for what the quantizer chooses
    rounding -- changes the quantised weights of the graph
    fusing -- whether the quantizer takes recurrent layers, including cells
    canonical -- whether the graph is first rewritten to forms that quantizers know
    """
    steps = need("torchao.quantization.pt2e.quantize_pt2e")
    samples, damage = calibration.samples, calibration.damage
    explicit = states.explicit(model, samples[0], cells_stay=fusing)
    if canonical:
        rewrite(explicit.graph, explicit.inputs(samples[0]))
    prepared = steps.prepare_pt2e(explicit.graph, quantizer)
    explicit.calibrate(prepared, samples)
    observed = copy.deepcopy(prepared) if damage is not None else None

    def quantised(graph: Any) -> Any:
        converted = steps.convert_pt2e(graph)
        if not any("quantize" in str(node.target) for node in converted.graph.nodes):
            raise NothingQuantisedError(layers)
        if rounding is not None:
            rounding(converted)
        return converted

    def outputs(graph: Any, given: Sequence[Sample]) -> list[Any]:
        return states.run_of(explicit.bound(graph))(given)

    converted = calibration.convert(
        prepared, quantised, outputs, stateful=bool(explicit.states)
    )
    recurrent_integers.to_integers(converted)
    norm_integers.to_integers(converted)
    tables.to_integers(converted)
    if damage is not None:
        damage.measure(explicit, observed, converted, samples)
    if faults.has("made constants"):
        _fold_made(converted)
    if fusing:
        recurrent_integers.fold_steps(converted)
        explicit = explicit.narrowed(converted)
    return explicit.bound(converted)


def is_quantised(model: Any) -> bool:
    """Whether a model is a graph that PT2E converted, such as after training with fake
    quantisation."""
    graph = getattr(model, "graph", None)
    return graph is not None and any(
        _name(node) == "dequantize_per_tensor" for node in graph.nodes
    )


def _fold_made(graph: Any) -> None:
    """Quantises constants that the model makes itself, such as torch.ones(3): both
    flows leave them in float32 but read them as int8."""
    for node in list(graph.graph.nodes):
        source = first(node) if _name(node) == "quantize_per_tensor" else None
        if source is None or source.op != "call_function" or source.all_input_nodes:
            continue
        constant = node.target(
            source.target(*source.args, **source.kwargs), *rest(node)
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
    """A copy with linear layers of int4, and how many layers have an unsuitable width.

    The scales are rounded to bfloat16, as the program has them: PyTorch's outputs then
    differ from the program's only by the order of sums.
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


# ---- a sentence about the weights ----------------------------------------------------


_NAMED = 5  # of those that stay


def weights_note(exported: Any, model: Any, bits: int, *, narrow: bool = False) -> str:
    """The bytes of weights with two or more dimensions, by type.

    model -- has the names of weights, which quantising may lose
    bits -- of an integer weight
    narrow -- whether weights that fit 4 bits have 4
    """
    floats: dict[str, int] = {}
    whole = {4: 0, bits: 0}  # bits of all weights of a width
    for name, tensor in _weights(exported):
        if _is_quantised(tensor):
            width = 4 if narrow and are_int4(tensor) else bits
            whole[width] += tensor.numel() * width
        else:
            floats[_named(name, tensor, model)] = tensor.numel() * tensor.element_size()
    said = "; in ".join(
        f"int{width}: {counted(math.ceil(size / 8), 'byte')}"
        for width, size in whole.items()
        if size or (width == bits and not any(whole.values()))
    )
    said = f"weights in {said}"
    if not floats:
        return f"{said}, all there are"
    names = sorted(floats, key=lambda name: -floats[name])
    listed = ", ".join(names[:_NAMED])
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{said}; in float: {counted(sum(floats.values()), 'byte')}, {listed}{more}"


def _weights(exported: Any) -> Iterator[tuple[str, Any]]:
    """The tensors that the graph reads and never writes."""
    kinds = need("torch.export.graph_signature").InputKind
    signature = exported.graph_signature
    written = set(signature.buffers_to_mutate.values())
    used = {
        node.name
        for node in exported.graph.nodes
        if node.op == "placeholder" and node.users and not _is_changed(node)
    }
    tensors = {**exported.state_dict, **exported.constants}
    for spec in signature.input_specs:
        is_input = spec.kind == kinds.USER_INPUT
        if is_input or spec.arg.name not in used or spec.target in written:
            continue
        tensor = tensors.get(spec.target)
        if tensor is not None and tensor.dim() > 1:
            yield spec.target, tensor


def _is_changed(node: Any) -> bool:
    """Whether an operator writes to a node."""
    return any(is_in_place(user) and first(user) is node for user in node.users)


def _named(name: str, tensor: Any, model: Any) -> str:
    same = need("torch").equal
    known = model.state_dict()
    if name in known:
        return name
    return next((key for key in known if same(known[key], tensor)), name)


def _is_quantised(tensor: Any) -> bool:
    """Whether a tensor has integers, or is of torchao's class, which claims float32."""
    torch = need("torch")
    plain = type(tensor) in (torch.Tensor, torch.nn.Parameter)
    return not plain or not tensor.is_floating_point()
