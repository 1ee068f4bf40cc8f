"""Recurrent layers of a graph are quantised: each becomes one operator of integers."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ember.errors import SdkError
from ember.export.graph import first, item, named, recurrent_layers, rest
from ember.export.operators import library
from ember.export.operators.recurrent import FRACTION, MORE, ONE
from ember.export.packages import need

# ---- the quantizer: int8 in and out of a layer ---------------------------------------


def fusing(known: Any, activation: Any, notes: list[str]) -> Any:
    """A quantizer like `known` that fuses recurrent layers; `notes` gets those that
    stay.

    activation -- the specification of int8 inputs and outputs
    """
    specs = need("torchao.quantization.pt2e.quantizer")

    class Fusing(specs.Quantizer):  # type: ignore[misc, name-defined]
        def transform_for_annotation(self, model: Any) -> Any:
            library.defined()
            notes.extend(recurrent_layers.fold(model))
            model = known.transform_for_annotation(model)
            recurrent_layers.as_modules(model)
            return model

        def annotate(self, model: Any) -> Any:
            calls = [
                node
                for node in model.graph.nodes
                if recurrent_layers.is_call(model, node)
            ]
            for call in calls:
                _annotate(call)
            model = known.annotate(model)
            _leave(
                model.graph, [node for call in calls for node in _nodes_of_states(call)]
            )
            return model

        def validate(self, model: Any) -> None:
            known.validate(model)

    def _annotate(call: Any) -> None:
        call.meta["quantization_annotation"] = specs.QuantizationAnnotation(
            input_qspec_map={first(call): activation}, _annotated=True
        )
        for user in call.users:
            is_first = user.target is operator.getitem and item(user) == 0
            user.meta["quantization_annotation"] = specs.QuantizationAnnotation(
                output_qspec=activation if is_first else None, _annotated=True
            )
        for node in recurrent_layers.states_of(call):
            node.meta["quantization_annotation"] = specs.QuantizationAnnotation(
                _annotated=True
            )

    def _leave(graph: Any, states: list[Any]) -> None:
        """Keeps inputs and outputs that are states from becoming int8."""
        none = specs.QuantizationAnnotation(_annotated=True)
        for node in states:
            if node.op == "placeholder":
                node.meta["quantization_annotation"] = none
        edges = graph.output_node().meta.get("quantization_annotation")
        for node in states if edges is not None else ():
            edges.input_qspec_map.pop(node, None)

    return Fusing()


def _nodes_of_states(call: Any) -> list[Any]:
    """The nodes of a layer's states, from their origin to their destination."""
    moves = recurrent_layers.states_of(call)
    ends = [user for user in call.users if item(user) > 0]
    nodes = {node for move in (call, *moves) for node in move.all_input_nodes}
    return [*moves, *ends, *nodes - {first(call)}]


# ---- lowering ------------------------------------------------------------------------


def to_integers(graph_module: Any) -> None:
    """Replaces all calls of recurrent_layers.module() by operators of integers, with
    steps from and to float around them."""
    calls = [
        node
        for node in graph_module.graph.nodes
        if recurrent_layers.is_call(graph_module, node)
    ]
    for number, node in enumerate(calls):
        _replace(graph_module, node, f"_recurrent_{number}")
    if calls:
        graph_module.graph.eliminate_dead_code()
        graph_module.delete_all_unused_submodules()
        graph_module.recompile()


def _replace(graph_module: Any, node: Any, name: str) -> None:
    kind = graph_module.get_submodule(node.target).ember_recurrent
    integers, inputs = _integers(graph_module, node, kind)
    graph = graph_module.graph
    with graph.inserting_before(node):
        held = [
            hold(graph_module, f"{name}_{role}", tensor)
            for role, tensor in integers.tensors.items()
        ]
        given = [
            value and quantised(graph, value, scale)
            for value, scale in zip(inputs, integers.inputs, strict=True)
        ]
        target = getattr(library.defined(), f"quantized_{kind}").default
        call = graph.call_function(target, (*given, *held, *integers.words))
        call.meta = dict(node.meta)
        outputs = [
            real(graph, graph.call_function(operator.getitem, (call, index)), scale)
            for index, scale in enumerate(integers.outputs)
        ]
    for user in list(node.users):
        output, name = outputs[item(user)], user.name
        user.replace_all_uses_with(output)
        graph.erase_node(user)
        output.meta, output.name = dict(user.meta), name  # as the float model has it
    graph.erase_node(node)


def _integers(graph_module: Any, node: Any, kind: str) -> tuple[Integers, list[Any]]:
    """The numbers of a call, and the nodes of its inputs in float."""
    most = graph_module.get_submodule(node.target).most
    outputs = [user for user in node.users if item(user) == 0]
    edges = (scale_of(first(node)), output_scale(outputs))
    if kind == "svdf":
        *inputs, weights, times, bias, rank = node.args
        values = [value_of(graph_module, each) for each in (weights, times, bias)]
        return of_svdf(most, values, rank, *edges), inputs
    *given, batch_first, is_reverse = node.args
    values = [value_of(graph_module, each) for each in given[-4:]]
    flags = (batch_first, is_reverse)
    return of_layer(kind, most, values, flags, *edges), given[:-4]


def output_scale(outputs: Sequence[Any]) -> Scale:
    """The scale of a result; if it is unused, the whole range."""
    for output in outputs:
        for step in output.users:
            if _is(step, "quantize_per_tensor"):
                return scale_of(step)
    return Scale(1 / 128, 0)


def scale_of(step: Any) -> Scale:
    given = named(step)
    return Scale(given["scale"], given["zero_point"])


def value_of(graph_module: Any, node: Any) -> Any:
    if node is None:
        return None
    owner, _, attribute = node.target.rpartition(".")
    return getattr(graph_module.get_submodule(owner), attribute).detach()


def hold(graph_module: Any, name: str, tensor: Any) -> Any:
    graph_module.register_buffer(name, tensor.contiguous())
    return graph_module.graph.get_attr(name)


def quantised(graph: Any, node: Any, scale: Scale) -> Any:
    step = need("torch").ops.quantized_decomposed.quantize_per_tensor.default
    return graph.call_function(step, (node, *scale.arguments))


def real(graph: Any, node: Any, scale: Scale) -> Any:
    step = need("torch").ops.quantized_decomposed.dequantize_per_tensor.default
    return graph.call_function(step, (node, *scale.arguments))


def _is(node: Any, name: str) -> bool:
    return getattr(node.target, "__name__", "").partition(".")[0] == name


def fold_steps(graph_module: Any) -> None:
    """Removes a step to float that is followed by its inverse."""
    for node in list(graph_module.graph.nodes):
        if not _is(node, "quantize_per_tensor"):
            continue
        before = first(node)
        same = _is(before, "dequantize_per_tensor") and rest(before) == rest(node)
        if same:
            node.replace_all_uses_with(first(before))
            graph_module.graph.erase_node(node)
    graph_module.graph.eliminate_dead_code()
    graph_module.recompile()


# ---- numbers in float become those of the operators ----------------------------------


_BITS = FRACTION + MORE  # fraction bits of a sum
_WIDE = 30  # bits of the largest multiplier
_HEAD = 2.0  # how much larger than in calibration cells may be
_PRODUCT = 14  # bits of the largest product of two int8
_LEAST_SCALE = 2.0**-ONE  # of outputs
_HALF = 1 << (MORE - 1)


@dataclass(frozen=True)
class Scale:
    """What an integer represents: (integer - zero_point) * scale."""

    scale: float
    zero_point: int
    bits: int = 8

    @property
    def arguments(self) -> tuple[Any, ...]:
        """The arguments of quantize_per_tensor and its inverse, after the tensor."""
        torch = need("torch")
        half = 1 << (self.bits - 1)
        dtype = torch.int8 if self.bits == 8 else torch.int16
        return self.scale, self.zero_point, -half, half - 1, dtype


@dataclass(frozen=True)
class Integers:
    """A call of an operator: inputs, constants and numbers, in this order."""

    inputs: Sequence[Scale]
    tensors: dict[str, Any]
    words: tuple[Any, ...]
    outputs: Sequence[Scale]


def of_layer(
    kind: str, most: float, values: list[Any], flags: tuple[bool, bool], *edges: Scale
) -> Integers:
    """The integers of an LSTM or a GRU with the weights and biases `values`.

    most -- the largest cell in calibration
    flags -- batch_first, is_reverse
    edges -- the scales of x and y
    """
    of_x, of_y = edges
    cell_bits = _cell_bits(most)
    is_lstm = kind == "lstm"
    of_c = Scale(2.0**-cell_bits, 0, 16)
    states = [of_y, of_c] if is_lstm else [Scale(2.0**-ONE, 0, 16)]
    tensors, shifts = _weights(kind, values, of_x, of_y)
    bits = (cell_bits,) if is_lstm else ()
    words = (*shifts, *bits, *_result_scale(of_y), of_y.zero_point, *flags)
    return Integers([of_x, *states], tensors, words, [of_y, *states])


def of_svdf(most: float, values: list[Any], rank: int, *edges: Scale) -> Integers:
    """The integers of an SVDF with weights, times and a bias; `most` is the largest
    number held."""
    torch = need("torch")
    of_x, of_y = edges
    weights, times, bias = values
    of_held = Scale(max(_HEAD * most, 1e-9) / 32767, 0, 16)
    rows, by = _rows(weights)
    factors = by * of_x.scale / of_held.scale * 2**MORE
    biases = -of_x.zero_point * rows.double().sum(1) * factors
    wide = times.double().unflatten(0, (-1, rank)) * of_held.scale
    scales = (wide.abs().amax((1, 2)) / 32767).clamp(min=1e-20)
    whole = (wide / scales[:, None, None]).round().to(torch.int16).flatten(0, 1)
    factors_y = scales * 2**ONE / of_y.scale * 2**MORE
    biases_y = torch.full_like(scales, of_y.zero_point * 2**MORE)
    if bias is not None:
        biases_y += bias.double() / of_y.scale * 2**MORE
    shift, by_x = _multipliers(factors, _PRODUCT, weights.shape[1])
    shift_y, by_y = _multipliers(factors_y, ONE, rank * times.shape[1])
    numbers = torch.cat([by_x, _whole(biases), by_y, _whole(biases_y)]).to(torch.int32)
    tensors = {"weights": rows, "times": whole, "scales": numbers}
    return Integers([of_x, of_held], tensors, (shift, shift_y, rank), [of_y, of_held])


def _weights(
    kind: str, values: list[Any], of_x: Scale, of_y: Scale
) -> tuple[dict[str, Any], tuple[int, int]]:
    """The weights of a layer, and the scales from their sums to sigmoid and tanh.

    Sums of tanh are doubled, because that is how it is computed.
    """
    torch = need("torch")
    w_x, w_h, b_x, b_h = values
    size = w_h.shape[1]
    twice = torch.ones(len(w_x), dtype=torch.float64)
    twice[2 * size : 3 * size] = 2
    rows_x, by_x = _rows(w_x)
    rows_h, by_h = _rows(w_h)
    factors_x = by_x * of_x.scale * twice * 2**_BITS
    factors_h = by_h * of_y.scale * twice * 2**_BITS
    bias_x = _bias(b_x, rows_x, of_x, factors_x, twice)
    bias_h = _bias(b_h, rows_h, of_y, factors_h, twice)
    if kind == "lstm":
        biases = [bias_x + bias_h]
    else:
        both = slice(0, 2 * size)
        biases = [bias_x[both] + bias_h[both], bias_x[2 * size :], bias_h[2 * size :]]
    shift_x, multipliers_x = _multipliers(factors_x, _PRODUCT, w_x.shape[1])
    shift_h, multipliers_h = _multipliers(factors_h, _PRODUCT, size)
    scales = torch.cat([multipliers_x, multipliers_h, _whole(torch.cat(biases))])
    tensors = {
        "weights_x": rows_x,
        "weights_h": rows_h,
        "scales": scales.to(torch.int32),
    }
    return tensors, (shift_x, shift_h)


def _whole(biases: Any) -> Any:
    """Integers with the half that rounds sums."""
    return (biases.round() + _HALF).clamp(-(2**29), 2**29)


def _rows(weights: Any) -> tuple[Any, Any]:
    """The rows as int8, and the scale of each row."""
    torch = need("torch")
    wide = weights.double()
    scales = (wide.abs().amax(1) / 127).clamp(min=1e-12)
    return (wide / scales[:, None]).round().to(torch.int8), scales


def _bias(bias: Any, rows: Any, of: Scale, factors: Any, twice: Any) -> Any:
    """The bias plus the share of the inputs' zero point, in the unit of sums."""
    moved = -of.zero_point * rows.double().sum(1) * factors
    return moved if bias is None else moved + bias.double() * twice * 2**_BITS


def _multipliers(factors: Any, bits: int, inner: int) -> tuple[int, Any]:
    """A left shift of sums, and multipliers whose products have the result in their
    upper 32 bits. Sums of `inner` numbers of `bits` stay within 32 bits."""
    room = 31 - bits - math.ceil(math.log2(inner + 1))
    most = float(factors.max()) if len(factors) else 0.0
    shift = max(math.ceil(math.log2(max(most, 2.0**-30))) + 32 - _WIDE, 0)
    if shift > room:
        raise SdkError(
            "the inputs of a recurrent layer are too large for int8: sums overflow",
            hint="normalise them, to values between -10 and 10 for example",
        )
    return shift, (factors * 2.0 ** (32 - shift)).round().clamp(max=2**_WIDE)


def _cell_bits(most: float) -> int:
    """Fraction bits of an int16 that holds cells of this size."""
    return min(max(ONE - math.ceil(math.log2(max(_HEAD * most, 1e-9))), 0), ONE)


def _result_scale(of: Scale) -> tuple[int, int]:
    """A multiplier with 15 fraction bits and a right shift, which take int16 with 15
    fraction bits to outputs."""
    factor = 1 / (max(of.scale, _LEAST_SCALE) * 2**ONE)
    shift = max(-math.ceil(math.log2(factor)), 0)
    return min(round(factor * 2 ** (ONE + shift)), 2**ONE - 1), shift
