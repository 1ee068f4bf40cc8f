"""Layers of int8 with weights of int4, called once each; running this file with
tests/shared on the path writes the cases again. What is expected is computed sum by
sum, in integers, from the bytes of the weights; all of it is exact."""

from pathlib import Path
from typing import TypeAlias

import numpy as np
from integer_layers import Window, scaled

from ember.cases import one_call
from ember.cases.one_call import ChannelsLast, Constant
from ember.files.tensors import Array

Shape: TypeAlias = tuple[int, ...]
Ends: TypeAlias = tuple[int, int]

HERE = Path()
SCALES = (
    "int input_offset, int output_offset, Tensor requantize_multipliers,"
    " Tensor requantize_shifts, int activation_min, int activation_max,"
    " *, Tensor(a!) out) -> Tensor(a!)"
)
LINEAR = f"(Tensor input, Tensor weights, Tensor? bias, {SCALES}"
CONV = (
    "(Tensor input, Tensor weights, Tensor? bias, int[] stride, int[] padding,"
    f" int[] dilation, int[] kernel, {SCALES}"
)
random = np.random.default_rng(4)


def bytes_of(count: int) -> int:
    return (count + 7) // 8 * 4


def weights_of(rows: Array, count: int) -> Array:
    """Each weight of a row: 16 times a byte's low bits, signed, or the whole byte."""
    weights = np.zeros((len(rows), count), np.int64)
    for k in range(count):
        block, at = divmod(k, 32)
        half = bytes_of(min(32, count - 32 * block))
        byte = rows[:, 16 * block + at % half].astype(np.int64)
        weights[:, k] = byte if at >= half else (byte % 16 ^ 8) * 16 - 128
    return weights


def scales_of(filters: int, count: int, kind: str) -> tuple[Array, Array]:
    """Multipliers and shifts with which most outputs are not clamped."""
    multipliers = random.integers(1 << 30, 1 << 31, filters).astype(np.int32)
    shift = -int(np.ceil(np.log2(60.0 * 60.0 * np.sqrt(count) / 50.0)))
    shifts = np.full(filters, shift, np.int32)
    if kind == "any":  # what no fast kernel takes
        multipliers[0], shifts[0] = 1 << 24, 3
    elif kind == "zero":
        multipliers[-1] = 0
    return multipliers, shifts


def outputs_of(
    sums: Array,
    bias: Array | None,
    zero_point: int,
    scales: tuple[Array, Array],
    ends: Ends,
) -> Array:
    multipliers, shifts = scales
    least, most = ends
    outputs = np.zeros(sums.shape, np.int8)
    for place in np.ndindex(sums.shape):
        f = place[-1]
        total = sums[place] + (0 if bias is None else bias[f])
        value = scaled(total, multipliers[f], int(shifts[f])) + zero_point
        outputs[place] = min(max(value, least), most)
    return outputs


def drawn(
    filters: int, count: int, biased: bool, kind: str
) -> tuple[Array, Array | None, tuple[Array, Array]]:
    rows = random.integers(-128, 128, (filters, bytes_of(count))).astype(np.int8)
    bias = random.integers(-9000, 9000, filters).astype(np.int32) if biased else None
    return rows, bias, scales_of(filters, count, kind)


def linear(
    name: str,
    shape: Shape,
    filters: int,
    offset: int = 0,
    *,
    biased: bool = True,
    kind: str = "",
    ends: Ends = (-128, 127),
) -> None:
    x = random.integers(-128, 128, shape).astype(np.int8)
    rows, bias, scales = drawn(filters, shape[-1], biased, kind)
    sums = (x.astype(np.int64) + offset) @ weights_of(rows, shape[-1]).T
    y = outputs_of(sums, bias, -3, scales, ends)
    held = [Constant(rows), None if bias is None else Constant(bias)]
    arguments = [x, *held, offset, -3, *map(Constant, scales), *ends]
    one_call.write(
        HERE / name, "ember::quantized_linear_int4.out", LINEAR, arguments, [y]
    )


def conv(
    name: str,
    shape: Shape,
    filters: int,
    offset: int,
    window: Window,
    *,
    biased: bool = True,
    kind: str = "",
    ends: Ends = (-128, 127),
) -> None:
    n, c, h, w = shape
    count = window.kernel[0] * window.kernel[1] * c
    x = random.integers(-128, 128, (n, h, w, c)).astype(np.int8)
    rows, bias, scales = drawn(filters, count, biased, kind)
    weights = weights_of(rows, count).reshape(filters, *window.kernel, c)
    sums = window.sums(x.astype(np.int64) + offset, weights, 1)
    y = outputs_of(sums, bias, 5, scales, ends)
    held = [Constant(rows), None if bias is None else Constant(bias)]
    lists = [window.steps, window.padding, window.dilation, window.kernel]
    scaling = [offset, 5, *map(Constant, scales), *ends]
    arguments = [ChannelsLast(x.transpose(0, 3, 1, 2)), *held, *lists, *scaling]
    result = ChannelsLast(y.transpose(0, 3, 1, 2))
    one_call.write(
        HERE / name, "ember::quantized_conv2d_int4.out", CONV, arguments, [result]
    )


for count, filters in ((1, 1), (3, 2), (8, 9), (31, 5), (32, 4), (33, 7), (64, 8),
                       (70, 6), (96, 37)):  # fmt: skip
    linear(f"row_{count}_{filters}", (1, count), filters)
linear("row_wide", (160,), 133)
linear("row_offset", (1, 45), 6, 128)
linear("row_offset_least", (1, 37), 5, -127)
linear("row_no_bias", (1, 40), 4, biased=False)
linear("row_limits", (1, 40), 12, ends=(-3, 60))
linear("row_zero", (1, 40), 4, kind="zero")
linear("row_any", (1, 40), 4, kind="any")
linear("rows_two", (2, 3, 29), 5)
linear("rows_offset", (3, 64), 9, -128)
linear("rows_many", (7, 600), 21, 11)
linear("rows_none", (0, 12), 4)

THREE = Window((3, 3), padding=(1, 1))
conv("point", (1, 20, 4, 3), 7, 17, Window((1, 1)))
conv("point_steps", (2, 8, 5, 6), 4, -60, Window((1, 1), (2, 3)))
conv("three", (1, 3, 6, 5), 8, 128, THREE)
conv("three_chunks", (1, 66, 5, 4), 37, -9, THREE)
conv("three_steps", (1, 16, 7, 8), 5, 3, Window((3, 3), (2, 2), (1, 1)), ends=(0, 90))
conv("long", (1, 5, 9, 2), 3, 40, Window((5, 2), (1, 1), (2, 0)), biased=False)
conv("dilated", (1, 4, 9, 9), 6, 7, Window((3, 2), (1, 2), (2, 1), (2, 3)))
conv("one_output", (2, 12, 3, 3), 8, 1, Window((3, 3)))
conv("zero", (1, 8, 3, 3), 4, 1, Window((2, 2)), kind="zero")
conv("any", (1, 8, 3, 3), 4, 1, Window((2, 2)), kind="any")
