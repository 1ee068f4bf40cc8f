"""Recurrent layers of a calibrated graph become ember::quantized_lstm and _gru."""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass
from typing import Any

from ember.export.packages import need
from ember.export.recurrent import layers
from ember.export.recurrent.operators import FRACTION, MORE, ONE
from ember.export.signal import operators

_BITS = FRACTION + MORE  # fraction bits of a sum
_WIDE = 30  # bits of the largest multiplier
_HEAD = 2.0  # how much larger than in calibration cells may be
_PRODUCT = 14  # bits of the largest product of two int8
_LEAST_SCALE = 2.0**-ONE  # of outputs


@dataclass(frozen=True)
class Scale:
    """What an integer stands for: (integer - zero_point) * scale."""

    scale: float
    zero_point: int
    bits: int = 8

    @property
    def arguments(self) -> tuple[Any, ...]:
        """Those of quantize_per_tensor and its inverse, after the tensor."""
        torch = need("torch")
        half = 1 << (self.bits - 1)
        dtype = torch.int8 if self.bits == 8 else torch.int16
        return self.scale, self.zero_point, -half, half - 1, dtype


def to_integers(graph_module: Any) -> None:
    """Replace all calls of layers.module() by operators of whole numbers, with their
    steps from and to float around them."""
    calls = [
        node for node in graph_module.graph.nodes if layers.is_call(graph_module, node)
    ]
    for number, node in enumerate(calls):
        _replace(graph_module, node, f"_recurrent_{number}")
    if calls:
        graph_module.graph.eliminate_dead_code()
        graph_module.delete_all_unused_submodules()
        graph_module.recompile()


def _replace(graph_module: Any, node: Any, name: str) -> None:
    kind = graph_module.get_submodule(node.target).ember_recurrent
    most = graph_module.get_submodule(node.target).most
    graph, ember = graph_module.graph, operators.defined()
    x, *given, batch_first, is_reverse = node.args
    states, weights = given[:-4], given[-4:]
    of_x, of_y = Scale(*x.args[1:3]), _output_scale(node)
    cell_bits = _cell_bits(most)
    of_c = Scale(2.0**-cell_bits, 0, 16)
    of_states = [of_y, of_c] if kind == "lstm" else [Scale(2.0**-ONE, 0, 16)]
    values = [_value(graph_module, weight) for weight in weights]
    integers = _integers(kind, values, of_x, of_y)
    result = (*_result_scale(of_y), of_y.zero_point, batch_first, is_reverse)
    with graph.inserting_before(node):
        held = [
            _hold(graph_module, f"{name}_{role}", tensor)
            for role, tensor in integers.tensors.items()
        ]
        inputs = [_quantised(graph, x, of_x)] + [
            state and _quantised(graph, state, scale)
            for state, scale in zip(states, of_states, strict=True)
        ]
        bits = (cell_bits,) if kind == "lstm" else ()
        arguments = (*inputs, *held, *integers.shifts, *bits, *result)
        target = getattr(ember, f"quantized_{kind}").default
        call = graph.call_function(target, arguments)
        call.meta = dict(node.meta)
        scales = [of_y, *of_states]
        outputs = [
            _real(graph, graph.call_function(operator.getitem, (call, index)), scale)
            for index, scale in enumerate(scales)
        ]
    for user in list(node.users):
        output, name = outputs[user.args[1]], user.name
        user.replace_all_uses_with(output)
        graph.erase_node(user)
        output.meta, output.name = dict(user.meta), name  # as the float model has it
    graph.erase_node(node)


# ---- numbers -------------------------------------------------------------------------


@dataclass(frozen=True)
class _Integers:
    tensors: dict[str, Any]  # in the order of the operator
    shifts: tuple[int, int]


def _integers(kind: str, values: list[Any], of_x: Scale, of_y: Scale) -> _Integers:
    """Weights of a layer, and how their sums become those of sigmoid and tanh.

    Sums of tanh stand for twice their number, since that is how it is computed.
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
    half = 1 << (MORE - 1)
    whole = (torch.cat(biases).round() + half).clamp(-(2**29), 2**29)
    shift_x, multipliers_x = _multipliers(factors_x, w_x.shape[1])
    shift_h, multipliers_h = _multipliers(factors_h, size)
    scales = torch.cat([multipliers_x, multipliers_h, whole]).to(torch.int32)
    tensors = {"weights_x": rows_x, "weights_h": rows_h, "scales": scales}
    return _Integers(tensors, (shift_x, shift_h))


def _rows(weights: Any) -> tuple[Any, Any]:
    """int8, and the scale of each row."""
    torch = need("torch")
    wide = weights.double()
    scales = (wide.abs().amax(1) / 127).clamp(min=1e-12)
    return (wide / scales[:, None]).round().to(torch.int8), scales


def _bias(bias: Any, rows: Any, of: Scale, factors: Any, twice: Any) -> Any:
    """With what the zero point of the inputs adds, in the unit of sums."""
    moved = -of.zero_point * rows.double().sum(1) * factors
    return moved if bias is None else moved + bias.double() * twice * 2**_BITS


def _multipliers(factors: Any, inner: int) -> tuple[int, Any]:
    """The shift to the left of sums, and what they are multiplied with then, of which
    the upper 32 bits are the result. Sums of `inner` products stay within 32 bits."""
    room = 31 - _PRODUCT - math.ceil(math.log2(max(inner, 1) + 1))
    most = float(factors.max()) if len(factors) else 0.0
    wanted = math.ceil(math.log2(max(most, 2.0**-30))) + 32 - _WIDE
    shift = min(max(wanted, 0), room)
    whole = (factors * 2.0 ** (32 - shift)).round()
    return shift, whole.clamp(max=2**_WIDE)


def _cell_bits(most: float) -> int:
    """Fraction bits of an int16 that holds cells of this size."""
    return min(max(ONE - math.ceil(math.log2(max(_HEAD * most, 1e-9))), 0), ONE)


def _result_scale(of: Scale) -> tuple[int, int]:
    """What takes int16 of 15 fraction bits to outputs: a multiplier of as many, and a
    shift to the right."""
    factor = 1 / (max(of.scale, _LEAST_SCALE) * 2**ONE)
    shift = max(-math.ceil(math.log2(factor)), 0)
    return min(round(factor * 2 ** (ONE + shift)), 2**ONE - 1), shift


# ---- nodes ---------------------------------------------------------------------------


def _output_scale(node: Any) -> Scale:
    """How the quantiser has y; of outputs that nothing uses, the whole range."""
    for user in node.users:
        if user.args[1] == 0:
            for step in user.users:
                if _is(step, "quantize_per_tensor"):
                    return Scale(*step.args[1:3])
    return Scale(1 / 128, 0)


def _value(graph_module: Any, node: Any) -> Any:
    if node is None:
        return None
    owner, _, attribute = node.target.rpartition(".")
    return getattr(graph_module.get_submodule(owner), attribute).detach()


def _hold(graph_module: Any, name: str, tensor: Any) -> Any:
    graph_module.register_buffer(name, tensor.contiguous())
    return graph_module.graph.get_attr(name)


def _quantised(graph: Any, node: Any, scale: Scale) -> Any:
    step = need("torch").ops.quantized_decomposed.quantize_per_tensor.default
    return graph.call_function(step, (node, *scale.arguments))


def _real(graph: Any, node: Any, scale: Scale) -> Any:
    step = need("torch").ops.quantized_decomposed.dequantize_per_tensor.default
    return graph.call_function(step, (node, *scale.arguments))


def _is(node: Any, name: str) -> bool:
    return getattr(node.target, "__name__", "").partition(".")[0] == name


def fold_steps(graph_module: Any) -> None:
    """A step to float and the same one back are none."""
    for node in list(graph_module.graph.nodes):
        if not _is(node, "quantize_per_tensor"):
            continue
        before = node.args[0]
        if _is(before, "dequantize_per_tensor") and before.args[1:] == node.args[1:]:
            node.replace_all_uses_with(before.args[0])
            graph_module.graph.erase_node(node)
    graph_module.graph.eliminate_dead_code()
    graph_module.recompile()
