"""Normalisation and PReLU in integers, as PyTorch computes them.

ember::quantized_layer_norm(x, scales, epsilon, rms, zero_point)   (.., n) -> (.., n)
ember::quantized_group_norm(x, scales, groups, epsilon, shift)     (n, c, ..), the same
ember::quantized_prelu(x, scales, zero_point, shift, output_zero_point)   the same

x and the result are int8. `scales` of a layer norm, int32 (2, n), are a multiplier and
a bias for each of the last elements, those of a group norm (2, c). `epsilon` is in the
unit of the variance: the square of x's steps, of elements^2 / 256. With `rms` the zero
point is taken for the mean. `scales` of PReLU, int32 (1 + slopes): the multiplier of
what is not negative, then those of slopes, one or one for each channel.

Sums are exact, so boards give the same bits; kernels/norm/norm_s8.h and
kernels/cortex_m/prelu_s8.h have the formulas.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ember.export.operators.recurrent import wrapped
from ember.export.packages import need

SCHEMAS = {
    "quantized_layer_norm": "Tensor x, Tensor scales, int epsilon, bool rms,"
    " int zero_point",
    "quantized_group_norm": "Tensor x, Tensor scales, int groups, int epsilon,"
    " int shift",
    "quantized_prelu": "Tensor x, Tensor scales, int zero_point, int shift,"
    " int output_zero_point",
}
MOST = 1 << 19  # elements of a group
PIXELS = 1 << 16  # of a channel of a group norm
EPSILON = 8  # fraction bits of a variance
LAYER_SHIFT = 8  # fraction bits of a layer norm's results before they are rounded
_FIRST = 1145023541, 654299166  # a line near the inverse square root
_ROUNDS = 3  # of Newton's, after it
_HALF = 1 << 31


def fraction(count: int) -> int:
    """Fraction bits of normalised numbers of a group, which reach sqrt(count)."""
    return 29 - ((count - 1).bit_length() + 1) // 2


def quantized_layer_norm(
    x: Any, scales: Any, epsilon: int, rms: bool, zero_point: int
) -> Any:
    torch = need("torch")
    rows = x.reshape(-1, scales.shape[1]).to(torch.int64)
    by, bias = scales.to(torch.int64)
    normal = _normal(rows, epsilon, zero_point if rms else None)
    moved = (rows - normal.mean) * normal.multiplier - normal.rest
    sums = wrapped(_upper(moved, by) + bias)
    return _int8(sums >> LAYER_SHIFT).reshape(x.shape)


def quantized_group_norm(
    x: Any, scales: Any, groups: int, epsilon: int, shift: int
) -> Any:
    torch = need("torch")
    if not x.numel():
        return torch.empty_like(x)
    rows = x.reshape(x.shape[0] * groups, -1).to(torch.int64)
    normal = _normal(rows, epsilon, None)
    mean, multiplier, rest = (
        part.reshape(x.shape[0], groups, 1)
        for part in (normal.mean, normal.multiplier, normal.rest)
    )
    by, bias = scales.to(torch.int64).reshape(2, 1, groups, -1)
    slopes = _upper(multiplier, by)
    starts = bias - _upper(rest, by) - mean * slopes
    lines = x.to(torch.int64).reshape(*x.shape[:2], -1)
    slopes, starts = (part.reshape(*x.shape[:2], 1) for part in (slopes, starts))
    y = _int8(wrapped(lines * slopes + starts) >> shift)
    return torch.empty_like(x).copy_(y.reshape(x.shape))


def quantized_prelu(
    x: Any, scales: Any, zero_point: int, shift: int, output_zero_point: int
) -> Any:
    torch = need("torch")
    moved = x.to(torch.int64) - zero_point
    positive, slopes = scales[0].to(torch.int64), scales[1:].to(torch.int64)
    if x.dim() > 1:
        slopes = slopes.reshape(-1, *([1] * (x.dim() - 2)))
    products = moved * torch.where(moved < 0, slopes, positive)
    start = (output_zero_point << shift) + (1 << shift >> 1)
    return _int8(wrapped(products + start) >> shift)


# ---- one group -----------------------------------------------------------------------


@dataclass(frozen=True)
class _Normal:
    """A group's numbers, (x - mean) * multiplier - rest, have fraction() bits."""

    mean: Any
    multiplier: Any
    rest: Any


def _normal(rows: Any, epsilon: int, about: int | None) -> _Normal:
    """Of each row, int64. about -- what is taken for the mean."""
    torch, count = need("torch"), rows.shape[1]
    sums, squares = rows.sum(1, keepdim=True), (rows * rows).sum(1, keepdim=True)
    if about is None:
        variance = count * squares - sums * sums
    else:
        variance = count * (squares - 2 * about * sums + count * about * about)
        sums = torch.full_like(sums, count * about)
    left, inverse = _inverse_root((variance << EPSILON) + epsilon)
    inverse = torch.where(variance == 0, 0, inverse)
    half = torch.where(sums < 0, -(count // 2), count // 2)
    mean = torch.div(sums + half, count, rounding_mode="trunc")
    right = 57 - fraction(count) - left // 2
    last = torch.ones_like(right) << (right - 1).clamp(min=0)
    multiplier = (count * inverse + last) >> right.clamp(min=1)
    rest = ((sums - count * mean) * inverse + last) >> right.clamp(min=1)
    return _Normal(mean, multiplier, rest)


def _inverse_root(x: Any) -> tuple[Any, Any]:
    """x > 0 -> `left`, even, and y near 2^61 / sqrt(x << left): x << left fills 64
    bits."""
    torch = need("torch")
    left = torch.zeros_like(x)
    for bits in (32, 16, 8, 4, 2):
        small = (x >> (64 - bits)) == 0
        x = torch.where(small, x << bits, x)
        left = torch.where(small, left + bits, left)
    upper = (x >> 32) & 0xFFFFFFFF
    start, slope = _FIRST
    y = start - ((upper * slope) >> 32)
    for _ in range(_ROUNDS):
        away = (1 << 26) - ((((y * y) >> 32) * upper) >> 32)
        y = y + ((y * away * 32) >> 32)
    return left, y


def _upper(a: Any, b: Any) -> Any:
    """The upper half of the product of two int32, rounded."""
    return (a * b + _HALF) >> 32


def _int8(x: Any) -> Any:
    return x.clamp(-128, 127).to(need("torch").int8)


def _same_shape(x: Any, *others: Any) -> Any:
    return need("torch").empty_like(x)


SHAPES = dict.fromkeys(SCHEMAS, _same_shape)
