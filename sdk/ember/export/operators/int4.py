"""The operators ember::quantized_*_int4, as PyTorch computes them.

ember::quantized_linear_int4(input, weights, ..)  (.., n) -> (.., filters)
ember::quantized_conv2d_int4(input, weights, ..)  (n, c, h, w) -> (n, filters, h, w)

They are cortex_m's int8 layers with two weights in a byte. A filter is a row of
`weights`, whose elements (h, w, c) come in blocks of 32 in 16 bytes: the first half of
a block is 16 times the low four bits, signed; the second half is the whole byte, so
that kernels need not take it apart. Each is one of 16 levels, 16 apart; those of the
second half are moved up by what the byte has in its low bits. The last block may be
shorter: it has as many words of 4 bytes as it needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ember.export.operators import requantized
from ember.export.packages import need

BLOCK = 32  # weights
STEP = 16  # what one of int4 stands for in int8

_SCALES = (
    "int input_offset, int output_offset, Tensor requantize_multipliers,"
    " Tensor requantize_shifts, int activation_min, int activation_max"
)
SCHEMAS = {
    "quantized_linear_int4": f"Tensor input, Tensor weights, Tensor? bias, {_SCALES}",
    "quantized_conv2d_int4": "Tensor input, Tensor weights, Tensor? bias, int[] stride,"
    f" int[] padding, int[] dilation, int[] kernel, {_SCALES}",
}


def rounded(weights: Any) -> Any:
    """(filters, n) of int8 -> the nearest values that rows of int4 can represent."""
    torch = need("torch")
    halves = []
    for block in weights.to(torch.int16).split(BLOCK, dim=1):
        width = _bytes_of(block.shape[1])
        low, high = block[:, :width], block[:, width:]
        nibbles = _levels(low)
        below = nibbles[:, : high.shape[1]] & (STEP - 1)
        halves += [nibbles * STEP, _levels(high - below) * STEP + below]
    return torch.cat(halves, dim=1).to(torch.int8)


def _levels(weights: Any) -> Any:
    """The nearest of 16 levels, ties up."""
    torch = need("torch")
    levels = torch.div(weights + STEP // 2, STEP, rounding_mode="floor")
    return levels.clamp(-8, 7)


def packed(weights: Any) -> Any:
    """(filters, n) of int8, as rounded() gives them -> (filters, bytes) of int8."""
    torch = need("torch")
    bytes_ = []
    for block in weights.to(torch.int16).split(BLOCK, dim=1):
        width = _bytes_of(block.shape[1])
        both = torch.zeros(len(block), width, dtype=torch.int16)
        low, high = block[:, :width], block[:, width:]
        both[:, : low.shape[1]] = low >> 4 & (STEP - 1)
        both[:, : high.shape[1]] |= high & ~(STEP - 1)
        bytes_.append(both)
    return torch.cat(bytes_, dim=1).to(torch.int8)


def unpacked(weights: Any, count: int) -> Any:
    """The inverse of packed(), for rows of `count` weights."""
    torch = need("torch")
    blocks = []
    for at in range(0, count, BLOCK):
        length = min(BLOCK, count - at)
        width = _bytes_of(length)
        bytes_ = weights[:, at // 2 : at // 2 + width]
        low = (bytes_.view(torch.uint8) << 4).view(torch.int8)
        blocks.append(torch.cat([low, bytes_], dim=1)[:, :length])
    return torch.cat(blocks, dim=1)


def are_int4(weights: Any) -> bool:
    """Whether rows of int4 can represent (filters, c, ..) of int8."""
    rows = rows_of(weights)
    return bool((unpacked(packed(rows), rows.shape[1]) == rows).all())


def rows_of(weights: Any) -> Any:
    """(filters, c, ..) -> (filters, n), channels last."""
    return weights.movedim(1, -1).flatten(1)


def _bytes_of(count: int) -> int:
    """The bytes of a block of `count` weights."""
    return (count + 7) // 8 * 4


def quantized_linear_int4(
    input: Any, weights: Any, bias: Any, input_offset: int, *scales: Any
) -> Any:
    torch = need("torch")
    moved = (input.to(torch.int32) + input_offset).double()
    rows = unpacked(weights, input.shape[-1]).double()
    sums = (moved @ rows.T).to(torch.int64)
    return _scaled(sums if bias is None else sums + bias, *scales)


def quantized_conv2d_int4(
    input: Any,
    weights: Any,
    bias: Any,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    kernel: Sequence[int],
    input_offset: int,
    *scales: Any,
) -> Any:
    torch = need("torch")
    depth = input.shape[1]
    rows = unpacked(weights, kernel[0] * kernel[1] * depth)
    filters = rows.reshape(len(rows), *kernel, depth).permute(0, 3, 1, 2)
    moved = input.to(torch.int32) + input_offset
    convolved = torch.nn.functional.conv2d(
        moved.double(),
        filters.double(),
        stride=stride,
        padding=padding,
        dilation=dilation,
    )
    sums = convolved.to(torch.int64).movedim(1, -1)
    given = _scaled(sums if bias is None else sums + bias, *scales).movedim(-1, 1)
    return given.contiguous(memory_format=torch.channels_last)


def _scaled(
    sums: Any,
    output_offset: int,
    multipliers: Any,
    shifts: Any,
    least: int,
    most: int,
) -> Any:
    """Outputs from sums; the last dimension is that of the filters."""
    int64 = need("torch").int64
    scaled = requantized(sums, multipliers.to(int64), shifts.to(int64))
    return (scaled + output_offset).clamp(least, most).to(need("torch").int8)


def linear_shape(input: Any, weights: Any, *others: Any) -> Any:
    return input.new_empty([*input.shape[:-1], weights.shape[0]])


def conv2d_shape(
    input: Any,
    weights: Any,
    bias: Any,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    kernel: Sequence[int],
    *scales: Any,
) -> Any:
    torch = need("torch")
    sizes = [
        (input.shape[2 + axis] + 2 * padding[axis] - reach - 1) // stride[axis] + 1
        for axis in range(2)
        if (reach := dilation[axis] * (kernel[axis] - 1)) >= 0
    ]
    shape = [input.shape[0], weights.shape[0], *sizes]
    return input.new_empty(shape).to(memory_format=torch.channels_last)


SHAPES = {
    "quantized_linear_int4": linear_shape,
    "quantized_conv2d_int4": conv2d_shape,
}
