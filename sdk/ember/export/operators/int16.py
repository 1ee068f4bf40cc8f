"""The operators ember::quantized_*_int16, as PyTorch computes them.

ember::quantized_linear_int16(input, weights, ..)   (.., n) -> (.., filters)
ember::quantized_conv2d_int16(input, weights, ..)   (n, c, h, w) -> (n, filters, h, w)
ember::quantized_depthwise_conv2d_int16(input, weights, ..)   the same
ember::quantized_add_int16, quantized_mul_int16(self, other, ..)
ember::quantized_avg_pool2d_int16(input, ..)        (n, c, h, w) -> (n, c, h, w)
ember::quantized_table_int16(input, table)          any shape

Inputs and outputs are int16 with a zero point of 0, weights int8, biases int32. Sums of
products are int32, which wrap; they are scaled by a multiplier and a shift for each
filter, as requantized() does. The sum of two tensors rounds once: products
with two multipliers of 15 bits are added, then divided by a power of two, ties up.
Means round ties up. A table has 513 values at every 128th input, and lines between
them.

Weights of convolutions are (filters, h, w, depth), whose groups have `depth` channels
each; depthwise ones are (1, h, w, filters).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ember.export.operators import requantized
from ember.export.packages import need

LEAST, MOST = -(1 << 15), (1 << 15) - 1
TABLE_STEP = 7  # binary places of an input that interpolate

_FILTERS = "Tensor input, Tensor weights, Tensor? bias"
_WINDOW = "int[] stride, int[] padding, int[] dilation"
_ENDS = "int activation_min, int activation_max"
_SCALES = f"Tensor requantize_multipliers, Tensor requantize_shifts, {_ENDS}"
SCHEMAS = {
    "quantized_linear_int16": f"{_FILTERS}, {_SCALES}",
    "quantized_conv2d_int16": f"{_FILTERS}, {_WINDOW}, {_SCALES}",
    "quantized_depthwise_conv2d_int16": f"{_FILTERS}, {_WINDOW}, {_SCALES}",
    "quantized_add_int16": "Tensor self, Tensor other, int self_multiplier,"
    f" int other_multiplier, int shift, {_ENDS}",
    "quantized_mul_int16": "Tensor self, Tensor other, int multiplier, int shift,"
    f" {_ENDS}",
    "quantized_avg_pool2d_int16": "Tensor input, int[] kernel_size, int[] stride,"
    " int[] padding, bool count_include_pad",
    "quantized_table_int16": "Tensor input, Tensor table",
}


def quantized_linear_int16(input: Any, weights: Any, bias: Any, *scales: Any) -> Any:
    int64 = need("torch").int64
    sums = (input.double() @ weights.double().T).to(int64)
    return _scaled(sums, bias, *scales)


def quantized_conv2d_int16(input: Any, weights: Any, bias: Any, *arguments: Any) -> Any:
    groups = input.shape[1] // weights.shape[3]
    return _convolved(input, weights.permute(0, 3, 1, 2), groups, bias, *arguments)


def quantized_depthwise_conv2d_int16(
    input: Any, weights: Any, bias: Any, *arguments: Any
) -> Any:
    filters = weights.permute(3, 0, 1, 2)
    return _convolved(input, filters, input.shape[1], bias, *arguments)


def _convolved(
    input: Any,
    filters: Any,
    groups: int,
    bias: Any,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    *scales: Any,
) -> Any:
    torch = need("torch")
    convolved = torch.nn.functional.conv2d(
        input.double(),
        filters.double(),
        stride=stride,
        padding=padding,
        dilation=dilation,
        groups=groups,
    )
    sums = convolved.to(torch.int64).movedim(1, -1)
    given = _scaled(sums, bias, *scales).movedim(-1, 1)
    return given.contiguous(memory_format=torch.channels_last)


def _scaled(
    sums: Any, bias: Any, multipliers: Any, shifts: Any, least: int, most: int
) -> Any:
    """Outputs from sums; the last dimension is that of the filters."""
    torch = need("torch")
    whole = sums if bias is None else sums + bias
    wrapped = whole.to(torch.int32).to(torch.int64)
    scales = multipliers.to(torch.int64), shifts.to(torch.int64)
    return requantized(wrapped, *scales).clamp(least, most).to(torch.int16)


def quantized_add_int16(
    self: Any,
    other: Any,
    self_multiplier: int,
    other_multiplier: int,
    shift: int,
    least: int,
    most: int,
) -> Any:
    torch = need("torch")
    a, b = self.to(torch.int64), other.to(torch.int64)
    products = a * self_multiplier + b * other_multiplier
    rounded = (products + (1 << (shift - 1))) >> shift
    return rounded.clamp(least, most).to(torch.int16)


def quantized_mul_int16(
    self: Any, other: Any, multiplier: int, shift: int, least: int, most: int
) -> Any:
    torch = need("torch")
    products = self.to(torch.int64) * other
    scales = torch.tensor(multiplier), torch.tensor(shift)
    return requantized(products, *scales).clamp(least, most).to(torch.int16)


def quantized_avg_pool2d_int16(
    input: Any,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    count_include_pad: bool,
) -> Any:
    torch = need("torch")

    def sums_of(image: Any) -> Any:
        pool = torch.nn.functional.avg_pool2d
        summed = pool(image, kernel_size, stride, padding, divisor_override=1)
        return summed.to(torch.int64)

    sums = sums_of(input.double())
    elements = sums_of(torch.ones_like(input, dtype=torch.float64))
    if count_include_pad:
        elements = torch.full_like(elements, kernel_size[0] * kernel_size[1])
    means = torch.div(2 * sums + elements, 2 * elements, rounding_mode="floor")
    return means.to(torch.int16).contiguous(memory_format=torch.channels_last)


def quantized_table_int16(input: Any, table: Any) -> Any:
    torch = need("torch")
    places = input.to(torch.int64) - LEAST
    at, rest = places >> TABLE_STEP, places & ((1 << TABLE_STEP) - 1)
    values = table.to(torch.int64)
    slope = values[at + 1] - values[at]
    line = (slope * rest + (1 << (TABLE_STEP - 1))) >> TABLE_STEP
    return (values[at] + line).to(torch.int16)


def _linear_shape(input: Any, weights: Any, *others: Any) -> Any:
    return input.new_empty([*input.shape[:-1], weights.shape[0]])


def _image_shape(
    input: Any,
    channels: int,
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
) -> Any:
    sizes = [
        (input.shape[2 + axis] + 2 * padding[axis] - reach - 1) // stride[axis] + 1
        for axis in range(2)
        if (reach := dilation[axis] * (kernel[axis] - 1)) >= 0
    ]
    image = input.new_empty([input.shape[0], channels, *sizes])
    return image.to(memory_format=need("torch").channels_last)


def _conv2d_shape(input: Any, weights: Any, bias: Any, *window: Any) -> Any:
    kernel = weights.shape[1:3]
    return _image_shape(input, weights.shape[0], kernel, *window[:3])


def _depthwise_shape(input: Any, weights: Any, bias: Any, *window: Any) -> Any:
    kernel = weights.shape[1:3]
    return _image_shape(input, weights.shape[3], kernel, *window[:3])


def _pool_shape(
    input: Any, kernel_size: Any, stride: Any, padding: Any, include: bool
) -> Any:
    window = (kernel_size, stride, padding, (1, 1))
    return _image_shape(input, input.shape[1], *window)


def _pair_shape(self: Any, other: Any, *scales: Any) -> Any:
    return self + other


def _same_shape(input: Any, table: Any) -> Any:
    return need("torch").empty_like(input)


SHAPES = {
    "quantized_linear_int16": _linear_shape,
    "quantized_conv2d_int16": _conv2d_shape,
    "quantized_depthwise_conv2d_int16": _depthwise_shape,
    "quantized_add_int16": _pair_shape,
    "quantized_mul_int16": _pair_shape,
    "quantized_avg_pool2d_int16": _pool_shape,
    "quantized_table_int16": _same_shape,
}
