"""A kernel call becomes its number of multiply-accumulates, by its declared shapes."""

from __future__ import annotations

import math
from collections.abc import Callable

from ember.files import xnnpack
from ember.program import IntList, KernelCall, Method, Tensor

_Shape = tuple[int, ...]


def _convolution(shapes: list[_Shape]) -> int:
    # Each output element sums over one filter: (out, in / groups, *kernel).
    _, weight, *_, out = shapes
    return math.prod(out) * math.prod(weight[1:])


def _packed(shapes: list[_Shape]) -> int:
    # Rows of taps are as long as their channels say, not as the weights.
    source, (_, *window, _), *_, out = shapes
    return math.prod((*out, *window, source[1]))


def _winograd(shapes: list[_Shape]) -> int:
    # Of the convolution, not of the products that are left of it.
    return math.prod(shapes[-1]) * 9 * shapes[0][1]


def _transposed(shapes: list[_Shape]) -> int:
    source, weight, *_ = shapes
    return math.prod(source) * math.prod(weight[1:])


def _product(left: int) -> Callable[[list[_Shape]], int]:
    """A matrix product whose left operand is tensor `left` of the call."""

    def count(shapes: list[_Shape]) -> int:
        return math.prod(shapes[-1]) * (shapes[left][-1] if shapes[left] else 1)

    return count


def _depthwise(shapes: list[_Shape]) -> int:
    _, weight, *_, out = shapes  # (1, height, width, channels of the output)
    return math.prod(out) * math.prod(weight[1:3])


def _recurrent(outputs: int) -> Callable[[list[_Shape]], int]:
    """A recurrent layer: both its weights are before its scales and outputs."""

    def count(shapes: list[_Shape]) -> int:
        _, *weights = shapes[: -outputs - 1]
        return math.prod(shapes[0][:-1]) * sum(map(math.prod, weights[-2:]))

    return count


_COUNTS: dict[str, Callable[[list[_Shape]], int]] = {
    "aten::addmm.out": _product(1),
    "aten::baddbmm.out": _product(1),
    "aten::bmm.out": _product(0),
    "aten::linear.out": _product(0),
    "aten::mm.out": _product(0),
    "cortex_m::quantized_batch_matmul.out": _product(0),
    "cortex_m::quantized_conv2d.out": _convolution,  # weights (out, height, width, in)
    "cortex_m::quantized_depthwise_conv2d.out": _depthwise,
    "cortex_m::quantized_linear.out": _product(0),
    "ember::packed_conv2d.out": _packed,
    "cortex_m::quantized_transpose_conv2d.out": lambda shapes: (
        math.prod(shapes[0]) * math.prod(shapes[1][:3])
    ),
    "ember::quantized_gru.out": _recurrent(2),
    "ember::quantized_linear_int4.out": _product(0),
    "ember::quantized_lstm.out": _recurrent(3),
    "ember::quantized_svdf.out": _recurrent(2),
    "ember::winograd_conv2d.out": _winograd,
}
# Of nodes of XNNPACK's graphs, by the shapes of input, weights and output. Convolutions
# have their channels last, and weights (out, height, width, in).
_NODES: dict[str, Callable[[list[_Shape]], int]] = {
    "BatchMatrixMultiply": _product(0),
    "Conv2d": lambda shapes: math.prod(shapes[-1]) * math.prod(shapes[1][1:]),
    "ConvTranspose2d": lambda shapes: math.prod(shapes[0]) * math.prod(shapes[1][:3]),
    "DepthwiseConv2d": lambda shapes: math.prod(shapes[-1]) * math.prod(shapes[1][1:3]),
    "FullyConnected": _product(0),
}
# Whose weights are packed: the argument that has height and width of the filters last.
_KERNELS = {
    "ember::quantized_conv2d_int4.out": 6,
    "ember::quantized_conv2d_panels.out": 2,
    "ember::quantized_depthwise_conv2d_panels.out": 2,
}
_TRANSPOSED = 6  # argument of aten::convolution.out


def of_call(method: Method, op: str, call: KernelCall) -> int | None:
    """Multiply-accumulates of one execution; None for operators that have none."""
    values = [method.values[index] for index in call.args[:-1]]
    shapes = [value.sizes for value in values if isinstance(value, Tensor)]
    if op == "aten::convolution.out" and len(values) > _TRANSPOSED:
        transposed = bool(getattr(values[_TRANSPOSED], "value", False))
        return (_transposed if transposed else _convolution)(shapes)
    if op in _KERNELS:
        depth = 1 if "depthwise" in op else shapes[0][1]
        return math.prod(shapes[-1]) * _taps(method, values[_KERNELS[op]]) * depth
    count = _COUNTS.get(op)
    return count(shapes) if count is not None and len(shapes) > 1 else None


def _taps(method: Method, kernel: object) -> int:
    sizes = method.int_list(kernel) if isinstance(kernel, IntList) else None
    return math.prod((sizes or ())[-2:])


def of_node(node: xnnpack.Node) -> int | None:
    """Multiply-accumulates of a node of an XNNPACK graph; None where it has none."""
    shapes = [value.shape for value in (*node.inputs, *node.outputs)]
    count = _NODES.get(node.kind)
    return count(shapes) if count is not None else None
