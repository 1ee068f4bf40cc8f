"""Layers of the Cortex-M flow become ember::quantized_*_int16, with int8 weights.

Activations have a zero point of 0. Sums of products are int32, scaled as those of int8
are. The sum of a filter fits for any input if 2^15 times the sum of its weights'
magnitudes, plus its bias, does. Filters that reach further, because they are long or
have a bias far above their weights, get a larger scale for both.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ember.errors import SdkError
from ember.export import blame
from ember.export.cortex_m.int16_quantizer import TABLES
from ember.export.cortex_m.passes import name
from ember.export.graph import first, named, rest
from ember.export.operators import library
from ember.export.operators.int16 import LEAST, MOST, TABLE_STEP
from ember.export.packages import need

# ---- lowering ------------------------------------------------------------------------

_ACTIVATIONS = ("aten.relu.default", "aten.hardtanh.default", "aten.clamp.default")
_BOUNDED = ("aten.linear.default", "aten.convolution.default", "aten.add.Tensor")
_POOL = "aten.max_pool2d.default"
_PADDING = "aten.constant_pad_nd.default"
_MULTIPLIER = MOST  # the largest of an addition
_SHIFT = 30


def passes(flow: list[type]) -> list[type]:
    """The passes of the flow, with ours before those that look for int8."""
    at = [pass_.__name__ for pass_ in flow].index("FoldAndAnnotateQParamsPass")
    return [*flow[:at], Int16Operators, *flow[at:]]


@dataclass(frozen=True)
class QuantizedCall:
    """An operator, the limits of its result, and the step to int16 that follows."""

    node: Any
    quantize: Any
    scale: float
    low: int
    high: int

    @property
    def ends(self) -> tuple[int, int]:
        return self.low, self.high


class Int16Operators:
    """Replaces operators whose inputs and results are int16."""

    def __init__(self, exported_program: Any) -> None:
        self.program = exported_program

    def __call__(self, module: Any) -> Any:
        results = need("torch.fx.passes.infra.pass_base")
        quantized = [node for node in module.graph.nodes if _is(node, "quantize")]
        steps = [_step(node) for node in quantized]
        changed = [self._replace(step) or _drop(step) for step in steps]
        if any(changed):
            module.graph.eliminate_dead_code()
            module.recompile()
        return results.PassResult(module, any(changed))

    def _replace(self, step: QuantizedCall) -> bool:
        make = self._maker(name(step.node))
        replacement = make(step) if make is not None else None
        if replacement is None:
            if make is not None:
                _leave_float(step)
            return False
        target, arguments = replacement
        with step.quantize.graph.inserting_before(step.quantize):
            call = step.quantize.graph.call_function(target, arguments)
        call.meta = {
            key: value for key, value in step.quantize.meta.items() if key != "custom"
        } | {"nn_module_stack": step.node.meta.get("nn_module_stack")}
        step.quantize.replace_all_uses_with(call)
        return True

    def _maker(self, operator: str) -> Callable[[QuantizedCall], Any] | None:
        makers: dict[str, Callable[[QuantizedCall], Any]] = {
            "aten.linear.default": self._linear,
            "aten.convolution.default": self._convolution,
            "aten.add.Tensor": _sum,
            "aten.mul.Tensor": _product,
            "aten.avg_pool2d.default": _mean,
            _POOL: _same,
            _PADDING: _padded,
            **dict.fromkeys(_ACTIVATIONS, _limited),
            **{f"aten.{table}.default": self._table for table in TABLES},
        }
        return makers.get(operator)

    # --- layers -----------------------------------------------------------------------

    def _linear(self, step: QuantizedCall) -> Any:
        layer = self._layer(step)
        if layer is None:
            return None
        weights, bias, scales = layer
        held = self._hold(step, "weights", weights), self._hold(step, "bias", bias)
        x = first(first(step.node))
        arguments = (x, *held, *self._scales(step, scales), *step.ends)
        return _ember().quantized_linear_int16.default, arguments

    def _convolution(self, step: QuantizedCall) -> Any:
        given = named(step.node)
        layer = None if given["transposed"] else self._layer(step)
        if layer is None:
            return None
        weights, bias, scales = layer
        depthwise = weights.shape[1] == 1 and given["groups"] > 1
        order = (1, 2, 3, 0) if depthwise else (0, 2, 3, 1)
        operator = "depthwise_conv2d" if depthwise else "conv2d"
        held = (
            self._hold(step, "weights", weights.permute(order).contiguous()),
            self._hold(step, "bias", bias),
        )
        window = (list(given[each]) for each in ("stride", "padding", "dilation"))
        x = first(given["input"])
        arguments = (x, *held, *window, *self._scales(step, scales), *step.ends)
        return getattr(_ember(), f"quantized_{operator}_int16").default, arguments

    def _layer(self, step: QuantizedCall) -> tuple[Any, Any, Any] | None:
        """Weights, biases and the scales of each filter's sums; None if one of them is
        not what the quantizer makes."""
        given = named(step.node)
        x, weights, bias = given["input"], given["weight"], given["bias"]
        integers = self._constant(first(weights)) if weights.args else None
        real = None if bias is None else self._constant(bias)
        if not _is(x, "dequantize") or (bias is None) != (real is None):
            return None
        if integers is None or integers.dim() not in (2, 4):  # those of a series
            return None
        weight_scales, scale = (
            self._constant(named(weights)["scales"]),
            named(x)["scale"],
        )
        whole, scales, biases = fitted(integers, weight_scales, real, scale)
        return whole, biases, scales * scale / step.scale

    def _scales(self, step: QuantizedCall, scales: Any) -> tuple[Any, Any]:
        torch = need("torch")
        pairs = [_multiplier(scale) for scale in scales.tolist()]
        multipliers, shifts = (
            torch.tensor(numbers, dtype=torch.int32)
            for numbers in zip(*pairs, strict=True)
        )
        return (
            self._hold(step, "multipliers", multipliers),
            self._hold(step, "shifts", shifts),
        )

    def _table(self, step: QuantizedCall) -> Any:
        torch = need("torch")
        x = first(step.node)
        if not _is(x, "dequantize"):
            return None
        places = torch.arange(LEAST, MOST + 2, 1 << TABLE_STEP, dtype=torch.float64)
        function = getattr(step.node.target, "_op", step.node.target)
        numbers = places * named(x)["scale"]
        exact = function(numbers, *rest(step.node), **step.node.kwargs)
        table = (exact / step.scale).round().clamp(*step.ends).to(torch.int16)
        held = self._hold(step, "table", table)
        return _ember().quantized_table_int16.default, (first(x), held)

    # --- constants --------------------------------------------------------------------

    def _constant(self, node: Any) -> Any:
        utils = need("executorch.backends.transforms.utils")
        if not hasattr(node, "op") or not utils.is_param_node(self.program, node):
            return None
        return utils.get_param_tensor(self.program, node)

    def _hold(self, step: QuantizedCall, role: str, tensor: Any) -> Any:
        """Adds a constant to the program, before its inputs."""
        if tensor is None:
            return None
        utils = need("executorch.backends.transforms.utils")
        kinds = need("torch.export.graph_signature").InputKind
        graph = step.node.graph
        first = next(node for node in graph.nodes if node.op == "placeholder")
        with graph.inserting_before(first):
            return utils.create_constant_placeholder(
                self.program,
                graph,
                f"{step.node.name}_{role}_int16",
                kinds.PARAMETER,
                tensor,
            )


@functools.cache
def _ember() -> Any:
    library.defined()
    return need("executorch.exir.dialects._ops").ops.edge.ember


def _step(quantize: Any) -> QuantizedCall:
    step, node = named(quantize), first(quantize)
    scale, ends = step["scale"], (step["quant_min"], step["quant_max"])
    if name(node) in _ACTIVATIONS and _alone(first(node), _BOUNDED):
        bounds = _bounds(node, scale)
        if bounds is not None:
            return QuantizedCall(first(node), quantize, scale, *bounds)
    return QuantizedCall(node, quantize, scale, *ends)


def _drop(step: QuantizedCall) -> bool:
    """Removes steps to int16 and back from outputs that stay float."""
    back = list(step.quantize.users)
    readers = [user for node in back for user in node.users]
    if not readers or not all(_is(node, "dequantize") for node in back):
        return False
    if any(user.op != "output" for user in readers):
        return False
    for node in back:
        node.replace_all_uses_with(first(step.quantize))
    return True


def _leave_float(step: QuantizedCall) -> None:
    """Removes the marks without which the flow does not touch an operator."""
    marks = need("executorch.backends.arm.common.annotation_meta").ArmAnnotationInfo
    for node in (step.node, first(step.quantize)):
        custom = dict(node.meta.get("custom", {}))
        custom.pop(marks.CUSTOM_META_KEY, None)
        node.meta["custom"] = custom


def _alone(node: Any, operators: tuple[str, ...]) -> bool:
    """Whether the result of one of these operators is read only by an activation."""
    is_call = getattr(node, "op", "") == "call_function"
    return is_call and len(node.users) == 1 and name(node) in operators


def _bounds(node: Any, scale: float) -> tuple[int, int] | None:
    """The bounds of an activation as integers, or None if they are unknown."""
    utils = need("executorch.backends.cortex_m.passes.passes_utils")
    limits = utils.get_activation_bounds(node)
    if limits is None:
        return None
    low, high = (
        end if limit is None else max(-MOST, min(MOST, round(limit / scale)))
        for limit, end in zip(limits, (-MOST, MOST), strict=True)
    )
    return low, high


def _is(node: Any, word: str) -> bool:
    """Whether this is a step from ("dequantize") or to int16."""
    if getattr(node, "op", "") != "call_function":
        return False
    is_step = f"quantized_decomposed.{word}_per_tensor.default" in name(node)
    return is_step and named(node)["dtype"] == need("torch").int16


def _multiplier(scale: float) -> tuple[int, int]:
    utils = need("executorch.backends.cortex_m.passes.passes_utils")
    multiplier, shift = utils.quantize_multiplier_aot(scale)
    return (multiplier, shift) if shift >= -31 else (0, -1)  # no sum shows


def _operands(step: QuantizedCall) -> tuple[Any, Any] | None:
    given = named(step.node)
    pair = (given["self"], given["other"])
    return pair if all(_is(x, "dequantize") for x in pair) else None


def _sum(step: QuantizedCall) -> Any:
    pair = _operands(step)
    if pair is None or named(step.node)["alpha"] != 1:
        return None
    ratios = [named(x)["scale"] / step.scale for x in pair]
    for shift in range(_SHIFT, 0, -1):
        a, b = (round(math.ldexp(ratio, shift)) for ratio in ratios)
        if max(a, b) <= _MULTIPLIER and -LEAST * (a + b) + (1 << shift - 1) < 1 << 31:
            arguments = (*map(first, pair), a, b, shift, *step.ends)
            return _ember().quantized_add_int16.default, arguments
    raise SdkError(
        f"the result of {name(step.node)} is too small beside what it adds for"
        f" int16{blame.where(step.node)}",
        hint="calibrate with samples that reach its range, or leave out --quantize",
    )


def _product(step: QuantizedCall) -> Any:
    pair = _operands(step)
    if pair is None:
        return None
    product = math.prod(named(x)["scale"] for x in pair)
    scale = _multiplier(product / step.scale)
    arguments = (*map(first, pair), *scale, *step.ends)
    return _ember().quantized_mul_int16.default, arguments


def _mean(step: QuantizedCall) -> Any:
    given = named(step.node)
    if given["ceil_mode"] or given["divisor_override"] is not None:
        return None
    if not _keeps_scale(step):
        return None
    kernel, padding = given["kernel_size"], given["padding"]
    windows = (list(each) for each in (kernel, given["stride"] or kernel, padding))
    arguments = (first(given["self"]), *windows, given["count_include_pad"])
    return _ember().quantized_avg_pool2d_int16.default, arguments


def _keeps_scale(step: QuantizedCall) -> bool:
    """Whether the input is int16 with the result's scale."""
    x = first(step.node)
    return _is(x, "dequantize") and bool(named(x)["scale"] == step.scale)


def _same(step: QuantizedCall) -> Any:
    """The operator itself, applied to int16."""
    if not _keeps_scale(step):
        return None
    return step.node.target, (first(first(step.node)), *rest(step.node))


def _padded(step: QuantizedCall) -> Any:
    if not _keeps_scale(step):
        return None
    given = named(step.node)
    limited = max(-MOST, min(MOST, round((given["value"] or 0) / step.scale)))
    return step.node.target, (first(given["self"]), given["pad"], limited)


def _limited(step: QuantizedCall) -> Any:
    if not _keeps_scale(step):
        return None
    bounds = _bounds(step.node, step.scale)
    clamp = need("executorch.exir.dialects._ops").ops.edge.aten.clamp.default
    return None if bounds is None else (clamp, (first(first(step.node)), *bounds))


# ---- sums that int32 holds -----------------------------------------------------------

_MOST_SUM = (1 << 31) - 1
_LARGEST = 1 << 15  # magnitude of an input
_LESS = 0.99


def fitted(weights: Any, scales: Any, bias: Any, step: float) -> tuple[Any, Any, Any]:
    """Weights (filters, ..) of int8, their scales, and biases as integers or None,
    changed so that sums fit.

    scales -- of weights, in float64, one for each filter
    bias -- as float, or None
    step -- of an input
    """
    torch = need("torch")
    rows = weights.flatten(1).double()
    scales = scales.double()
    real = torch.zeros_like(scales) if bias is None else bias.detach().double()
    shrunk = torch.ones_like(scales)
    while True:
        integers = (rows * shrunk[:, None]).round()
        biases = (real / (scales / shrunk * step)).round()
        reach = integers.abs().sum(1) * _LARGEST + biases.abs()
        over = reach > _MOST_SUM
        if not over.any():
            break
        shrunk = torch.where(over, shrunk * _LESS * (_MOST_SUM / reach), shrunk)
    whole = integers.reshape(weights.shape).to(torch.int8)
    added = None if bias is None else biases.to(torch.int32)
    return whole, scales / shrunk, added
