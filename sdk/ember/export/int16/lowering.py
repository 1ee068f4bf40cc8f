"""Operators between steps from and to int16 become ember::quantized_*_int16."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ember.errors import SdkError
from ember.export.int16.bounds import fitted
from ember.export.int16.operators import LEAST, MOST, TABLE_STEP
from ember.export.int16.quantizer import TABLES
from ember.export.orders import name
from ember.export.packages import need
from ember.export.signal import operators

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
    """An operator, what limits its result, and the step to int16 behind."""

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
        }
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
        x = step.node.args[0].args[0]
        arguments = (x, *held, *self._scales(step, scales), *step.ends)
        return _ember().quantized_linear_int16.default, arguments

    def _convolution(self, step: QuantizedCall) -> Any:
        stride, padding, dilation, transposed, _, groups = step.node.args[3:9]
        layer = None if transposed else self._layer(step)
        if layer is None:
            return None
        weights, bias, scales = layer
        depthwise = weights.shape[1] == 1 and groups > 1
        order = (1, 2, 3, 0) if depthwise else (0, 2, 3, 1)
        operator = "depthwise_conv2d" if depthwise else "conv2d"
        held = (
            self._hold(step, "weights", weights.permute(order).contiguous()),
            self._hold(step, "bias", bias),
        )
        window = (list(stride), list(padding), list(dilation))
        x = step.node.args[0].args[0]
        arguments = (x, *held, *window, *self._scales(step, scales), *step.ends)
        return getattr(_ember(), f"quantized_{operator}_int16").default, arguments

    def _layer(self, step: QuantizedCall) -> tuple[Any, Any, Any] | None:
        """Weights, biases and what scales the sums of each filter; None if one of them
        is not what the quantizer makes."""
        x, weights = step.node.args[:2]
        bias = step.node.args[2] if len(step.node.args) > 2 else None
        integers = self._constant(weights.args[0]) if weights.args else None
        real = None if bias is None else self._constant(bias)
        if not _is(x, "dequantize") or (bias is None) != (real is None):
            return None
        if integers is None or integers.dim() not in (2, 4):  # those of a series
            return None
        given = self._constant(weights.args[1])
        whole, scales, biases = fitted(integers, given, real, x.args[1])
        return whole, biases, scales * x.args[1] / step.scale

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
        x = step.node.args[0]
        if not _is(x, "dequantize"):
            return None
        places = torch.arange(LEAST, MOST + 2, 1 << TABLE_STEP, dtype=torch.float64)
        function = getattr(step.node.target, "_op", step.node.target)
        exact = function(places * x.args[1], *step.node.args[1:], **step.node.kwargs)
        table = (exact / step.scale).round().clamp(*step.ends).to(torch.int16)
        held = self._hold(step, "table", table)
        return _ember().quantized_table_int16.default, (x.args[0], held)

    # --- constants --------------------------------------------------------------------

    def _constant(self, node: Any) -> Any:
        utils = need("executorch.backends.transforms.utils")
        if not hasattr(node, "op") or not utils.is_param_node(self.program, node):
            return None
        return utils.get_param_tensor(self.program, node)

    def _hold(self, step: QuantizedCall, role: str, tensor: Any) -> Any:
        """A constant of the program: before its inputs."""
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
    operators.defined()
    return need("executorch.exir.dialects._ops").ops.edge.ember


def _step(quantize: Any) -> QuantizedCall:
    node = quantize.args[0]
    scale, _, low, high = quantize.args[1:5]
    if name(node) in _ACTIVATIONS and _alone(node.args[0], _BOUNDED):
        bounds = _bounds(node, scale)
        if bounds is not None:
            return QuantizedCall(node.args[0], quantize, scale, *bounds)
    return QuantizedCall(node, quantize, scale, low, high)


def _drop(step: QuantizedCall) -> bool:
    """Outputs that stay float need no step to int16 and back."""
    back = list(step.quantize.users)
    readers = [user for node in back for user in node.users]
    if not readers or not all(_is(node, "dequantize") for node in back):
        return False
    if any(user.op != "output" for user in readers):
        return False
    for node in back:
        node.replace_all_uses_with(step.quantize.args[0])
    return True


def _leave_float(step: QuantizedCall) -> None:
    """The flow leaves alone what is not marked as quantised."""
    marks = need("executorch.backends.arm.common.annotation_meta").ArmAnnotationInfo
    for node in (step.node, step.quantize.args[0]):
        custom = dict(node.meta.get("custom", {}))
        custom.pop(marks.CUSTOM_META_KEY, None)
        node.meta["custom"] = custom


def _alone(node: Any, operators: tuple[str, ...]) -> bool:
    """Whether only an activation reads what one of these operators gives."""
    is_call = getattr(node, "op", "") == "call_function"
    return is_call and len(node.users) == 1 and name(node) in operators


def _bounds(node: Any, scale: float) -> tuple[int, int] | None:
    """Those of an activation, as integers; None: they are not known."""
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
    return is_step and node.args[5] == need("torch").int16


def _multiplier(scale: float) -> tuple[int, int]:
    utils = need("executorch.backends.cortex_m.passes.passes_utils")
    multiplier, shift = utils.quantize_multiplier_aot(scale)
    return (multiplier, shift) if shift >= -31 else (0, -1)  # no sum shows


def _operands(step: QuantizedCall) -> tuple[Any, Any] | None:
    pair = step.node.args[:2]
    return pair if all(_is(x, "dequantize") for x in pair) else None


def _sum(step: QuantizedCall) -> Any:
    pair = _operands(step)
    if pair is None or step.node.kwargs.get("alpha", 1) != 1:
        return None
    ratios = [x.args[1] / step.scale for x in pair]
    for shift in range(_SHIFT, 0, -1):
        a, b = (round(math.ldexp(ratio, shift)) for ratio in ratios)
        if max(a, b) <= _MULTIPLIER and -LEAST * (a + b) + (1 << shift - 1) < 1 << 31:
            arguments = (*(x.args[0] for x in pair), a, b, shift, *step.ends)
            return _ember().quantized_add_int16.default, arguments
    raise SdkError(
        f"the result of {step.node.name} is too small beside what it adds for int16",
        hint="calibrate with samples that reach its range, or leave out --quantize",
    )


def _product(step: QuantizedCall) -> Any:
    pair = _operands(step)
    if pair is None:
        return None
    scale = _multiplier(pair[0].args[1] * pair[1].args[1] / step.scale)
    arguments = (*(x.args[0] for x in pair), *scale, *step.ends)
    return _ember().quantized_mul_int16.default, arguments


def _mean(step: QuantizedCall) -> Any:
    x, kernel, stride, padding, ceil, include, divisor = _pool_arguments(step.node)
    if ceil or divisor is not None or not _is(x, "dequantize"):
        return None
    if x.args[1] != step.scale:
        return None
    arguments = (x.args[0], list(kernel), list(stride), list(padding), include)
    return _ember().quantized_avg_pool2d_int16.default, arguments


def _pool_arguments(node: Any) -> tuple[Any, ...]:
    defaults = (None, None, None, (0, 0), False, True, None)
    given = (*node.args, *defaults[len(node.args) :])
    return (*given[:2], given[2] or given[1], *given[3:])


def _same(step: QuantizedCall) -> Any:
    """The operator itself, which takes int16."""
    x = step.node.args[0]
    if not _is(x, "dequantize") or x.args[1] != step.scale:
        return None
    return step.node.target, (x.args[0], *step.node.args[1:])


def _padded(step: QuantizedCall) -> Any:
    x, widths, *value = step.node.args
    if not _is(x, "dequantize") or x.args[1] != step.scale:
        return None
    filling = round((value[0] if value else 0) / step.scale)
    limited = max(-MOST, min(MOST, filling))
    return step.node.target, (x.args[0], widths, limited)


def _limited(step: QuantizedCall) -> Any:
    x = step.node.args[0]
    if not _is(x, "dequantize") or x.args[1] != step.scale:
        return None
    bounds = _bounds(step.node, step.scale)
    clamp = need("executorch.exir.dialects._ops").ops.edge.aten.clamp.default
    return None if bounds is None else (clamp, (x.args[0], *bounds))
