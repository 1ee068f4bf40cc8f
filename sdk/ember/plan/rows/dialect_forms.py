"""A call of the cortex_m dialect becomes what a row of its output reads.

A call that is not listed here, or has a form that is not, runs on whole tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ember.plan.rows.reads import (
    LEAST,
    RANK,
    Form,
    RowCall,
    RowRead,
    elementwise,
    ints,
    pairs,
    tensor_of,
    turned,
)
from ember.program import KernelCall, Method, types


def _convolution(offset: int, scratch: int, over: Callable[..., bool]) -> Form:
    """Of the dialect: `offset` is the argument that is added to each input; `over` says
    by channels and taps whether every core has a kernel that writes its result where
    its input is, if they are alike."""

    def form(method: Method, index: int, call: KernelCall) -> RowCall | None:
        stride, padding, dilation = pairs(method, call, 3, 4, 5)
        weights = method.values[call.args[1]]
        added = method.values[call.args[offset]]
        if not (stride and padding and dilation and isinstance(added, types.Int)):
            return None
        if not isinstance(weights, types.Tensor) or len(weights.sizes) != RANK:
            return None
        extent = dilation[0] * (weights.sizes[1] - 1) + 1
        zero = -added.value
        if padding[0] > 0 and not -128 <= zero <= 127:
            return None
        fill = zero & 0xFF if -128 <= zero <= 127 else None
        read = RowRead(
            0,
            call.args[0],
            extent,
            stride[0],
            padding[0],
            outside=fill if padding[0] > 0 else None,
            beside=padding[1] if fill is not None else 0,
            fill=fill,
        )
        alike = _are_alike(method, call)
        return RowCall(
            index,
            call.args[-1],
            (read,),
            ((4, 0),),
            4,
            (call.args[scratch],),
            over=stride == (1, 1) and alike and over(weights.sizes, dilation),
        )

    return form


def _transposed(method: Method, index: int, call: KernelCall) -> RowCall | None:
    """Of the dialect: makes as many rows at a time as its stride is, of rows around the
    one whose first tap lies on the first of them."""
    stride, padding, dilation = pairs(method, call, 3, 4, 6)
    weights = method.values[call.args[1]]
    added = method.values[call.args[7]]
    if not (stride and padding and dilation and isinstance(added, types.Int)):
        return None
    if not isinstance(weights, types.Tensor) or len(weights.sizes) != RANK:
        return None
    zero = -added.value
    rows = turned(stride[0], padding[0], dilation[0] * (weights.sizes[1] - 1))
    if rows is None or not -128 <= zero <= 127:
        return None
    read = RowRead(0, call.args[0], rows.extent, 1, rows.before, outside=zero & 0xFF)
    return RowCall(
        index,
        call.args[-1],
        (read,),
        firsts=((4, rows.padding), (5, rows.added)),
        scratch=(call.args[13], call.args[14]),
        made=stride[0],
        transposed=True,
    )


def _are_alike(method: Method, call: KernelCall) -> bool:
    x, y = (tensor_of(method, call.args[arg]) for arg in (0, -1))
    return x.sizes == y.sizes


def _is_point(weights: tuple[int, ...], _: tuple[int, int]) -> bool:
    """Pixels in groups of four channels, which are words when outputs take their place
    (columns_dsp.c)."""
    return weights[1:3] == (1, 1) and weights[3] % 4 == 0


def _is_line(weights: tuple[int, ...], dilation: tuple[int, int]) -> bool:
    """3 x 3 taps, and no channel twice: blocks of four or sixteen, or a part of one
    (depthwise_lines_dsp.c, quantized_depthwise_conv2d_mve.c)."""
    channels = weights[3]
    blocks = channels % 16 == 0 or (channels < 16 and channels % 4 == 0)
    return weights[1:3] == (3, 3) and dilation == (1, 1) and blocks


def _pad(method: Method, index: int, call: KernelCall) -> RowCall | None:
    """Of columns alone; amounts are those of (n, h, w, c)."""
    x, y = method.values[call.args[0]], method.values[call.args[-1]]
    if not isinstance(x, types.Tensor) or not isinstance(y, types.Tensor):
        return None
    amounts = [ints(method, call.args[arg]) for arg in (1, 2)]
    columns = all(len(each) == RANK and not any(each[:2]) for each in amounts)
    if not columns or x.dim_order[:2] != (0, 2) or x.sizes[:3] != y.sizes[:3]:
        return None
    return RowCall(index, call.args[-1], (RowRead(0, call.args[0]),))


def _max_pool(method: Method, index: int, call: KernelCall) -> RowCall | None:
    """What lies outside of the image is less than anything inside."""
    kernel, stride, padding, dilation = pairs(method, call, 1, 2, 3, 4)
    if not (kernel and stride and padding) or dilation != (1, 1):
        return None
    outside = LEAST if padding[0] > 0 else None
    read = RowRead(0, call.args[0], kernel[0], stride[0], padding[0], outside)
    if padding[0] == 0:
        return RowCall(index, call.args[-1], (read,))
    return RowCall(index, call.args[-1], (read,), ((3, 0),), 3)


def _avg_pool(method: Method, index: int, call: KernelCall) -> RowCall | None:
    kernel, stride, padding = pairs(method, call, 1, 2, 3)
    if not (kernel and stride and padding) or padding[0] > 0:
        return None
    read = RowRead(0, call.args[0], kernel[0], stride[0])
    return RowCall(index, call.args[-1], (read,))


FORMS: Mapping[str, Form] = {
    "cortex_m::quantize_per_tensor.out": elementwise(0),
    "cortex_m::dequantize_per_tensor.out": elementwise(0),
    "cortex_m::quantized_activation.out": elementwise(0),
    "cortex_m::quantized_add.out": elementwise(0, 4),
    "cortex_m::quantized_mul.out": elementwise(0, 2),
    "cortex_m::pad.out": _pad,
    "cortex_m::minimum.out": elementwise(0, 1),
    "cortex_m::maximum.out": elementwise(0, 1),
    "cortex_m::quantized_conv2d.out": _convolution(6, 12, _is_point),
    "cortex_m::quantized_depthwise_conv2d.out": _convolution(7, 13, _is_line),
    "cortex_m::quantized_transpose_conv2d.out": _transposed,
    "cortex_m::quantized_max_pool2d.out": _max_pool,
    "cortex_m::quantized_avg_pool2d.out": _avg_pool,
}
