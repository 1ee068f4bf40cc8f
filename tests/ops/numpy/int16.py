"""Layers and operators of int16, called once each; running this file with tests/shared
on the path writes the cases again. What is expected is computed sum by sum, in
integers; all of it is exact."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from integer_layers import Window, scaled

from ember.cases import one_call
from ember.cases.one_call import ChannelsLast, Constant
from ember.files.tensors import Array

Shape: TypeAlias = tuple[int, ...]
Ends: TypeAlias = tuple[int, int]

HERE = Path()
OUT = "*, Tensor(a!) out) -> Tensor(a!)"
ENDS = "int activation_min, int activation_max"
SCALES = f"Tensor requantize_multipliers, Tensor requantize_shifts, {ENDS}, {OUT}"
LINEAR = f"(Tensor input, Tensor weights, Tensor? bias, {SCALES}"
CONV = (
    "(Tensor input, Tensor weights, Tensor? bias, int[] stride, int[] padding,"
    f" int[] dilation, {SCALES}"
)
ADD = (
    "(Tensor self, Tensor other, int self_multiplier, int other_multiplier, int shift,"
    f" {ENDS}, {OUT}"
)
MUL = f"(Tensor self, Tensor other, int multiplier, int shift, {ENDS}, {OUT}"
POOL = (
    "(Tensor input, int[] kernel_size, int[] stride, int[] padding,"
    f" bool count_include_pad, {OUT}"
)
TABLE = f"(Tensor input, Tensor table, {OUT}"
LEAST, MOST = -(1 << 15), (1 << 15) - 1
FULL = (LEAST, MOST)
random = np.random.default_rng(16)


def numbers(shape: Shape, least: int = LEAST, most: int = MOST) -> Array:
    return random.integers(least, most + 1, shape).astype(np.int16)


def limited(value: int, ends: Ends) -> int:
    return min(max(value, ends[0]), ends[1])


def wrapped(total: int) -> int:
    return (total + (1 << 31)) % (1 << 32) - (1 << 31)


def scales_of(filters: int, count: int, kind: str) -> tuple[Array, Array]:
    """Multipliers and shifts with which most outputs are not limited."""
    multipliers = random.integers(1 << 30, 1 << 31, filters).astype(np.int32)
    shift = -int(np.ceil(np.log2(74.0 * np.sqrt(count))))
    shifts = np.full(filters, shift, np.int32)
    if kind == "any":  # what no fast kernel takes
        multipliers[0], shifts[0] = 1 << 24, 3
    elif kind == "zero":
        multipliers[-1] = 0
    elif kind == "far":  # nearly all bits go
        shifts[0] = -31
    elif kind == "saturated":
        shifts += 6
    elif kind == "whole":  # no shift
        multipliers[0], shifts[0] = 1 << 16, 0
    return multipliers, shifts


def outputs_of(
    sums: Array, bias: Array | None, multipliers: Array, shifts: Array, ends: Ends
) -> Array:
    outputs = np.zeros(sums.shape, np.int16)
    for place in np.ndindex(sums.shape):
        f = place[-1]
        total = wrapped(int(sums[place]) + (0 if bias is None else int(bias[f])))
        outputs[place] = limited(scaled(total, multipliers[f], int(shifts[f])), ends)
    return outputs


def drawn(
    filters: int, count: int, biased: bool, kind: str
) -> tuple[Array | None, Array, Array]:
    largest = (1 << 31) // 2 if kind == "bias" else 1 << 20
    bias = random.integers(-largest, largest, filters).astype(np.int32)
    return bias if biased else None, *scales_of(filters, count, kind)


def weights_of(shape: Shape, kind: str) -> Array:
    least = -128 if kind == "extreme" else -127
    weights = random.integers(least, 128, shape).astype(np.int8)
    return np.full(shape, -128, np.int8) if kind == "wraps" else weights


def linear(
    name: str,
    shape: Shape,
    filters: int,
    *,
    biased: bool = True,
    kind: str = "",
    ends: Ends = FULL,
) -> None:
    x = np.full(shape, LEAST, np.int16) if kind == "wraps" else numbers(shape)
    weights = weights_of((filters, shape[-1]), kind)
    bias, multipliers, shifts = drawn(filters, shape[-1], biased, kind)
    sums = x.astype(np.int64) @ weights.astype(np.int64).T
    y = outputs_of(sums, bias, multipliers, shifts, ends)
    held = [Constant(weights), None if bias is None else Constant(bias)]
    scales = [Constant(multipliers), Constant(shifts)]
    arguments = [x, *held, *scales, *ends]
    one_call.write(
        HERE / name, "ember::quantized_linear_int16.out", LINEAR, arguments, [y]
    )


def conv(
    name: str,
    shape: Shape,
    filters: int,
    window: Window,
    groups: int = 1,
    **options: Any,
) -> None:
    depth = shape[1] // groups
    weights = weights_of((filters, *window.kernel, depth), options.get("kind", ""))
    _conv("conv2d", name, shape, weights, weights, window, **options)


def depthwise(
    name: str, shape: Shape, window: Window, each: int = 1, **options: Any
) -> None:
    filters = shape[1] * each
    weights = weights_of((filters, *window.kernel, 1), options.get("kind", ""))
    laid = np.ascontiguousarray(weights.transpose(3, 1, 2, 0))
    _conv("depthwise_conv2d", name, shape, weights, laid, window, **options)


def _conv(
    operator: str,
    name: str,
    shape: Shape,
    weights: Array,
    laid: Array,
    window: Window,
    **options: Any,
) -> None:
    n, c, h, w = shape
    x = numbers((n, h, w, c))
    ends, kind = options.get("ends", FULL), options.get("kind", "")
    biased = options.get("biased", True)
    bias, multipliers, shifts = drawn(len(weights), weights[0].size, biased, kind)
    groups = c // weights.shape[3]
    sums = window.sums(x.astype(np.int64), weights.astype(np.int64), groups)
    y = outputs_of(sums, bias, multipliers, shifts, ends)
    held = [Constant(laid), None if bias is None else Constant(bias)]
    lists = [window.steps, window.padding, window.dilation]
    image = ChannelsLast(x.transpose(0, 3, 1, 2))
    scales = [Constant(multipliers), Constant(shifts)]
    arguments = [image, *held, *lists, *scales, *ends]
    result = ChannelsLast(y.transpose(0, 3, 1, 2))
    one_call.write(
        HERE / name, f"ember::quantized_{operator}_int16.out", CONV, arguments, [result]
    )


def pair(
    name: str,
    operator: str,
    schema: str,
    shapes: tuple[Shape, Shape],
    function: Callable[[int, int], int],
    words: Sequence[int],
    ends: Ends,
) -> None:
    a, b = (numbers(shape) for shape in shapes)
    exact = np.vectorize(function, otypes=[np.int64])
    y = np.clip(exact(a.astype(np.int64), b.astype(np.int64)), *ends).astype(np.int16)
    one_call.write(HERE / name, operator, schema, [a, b, *words, *ends], [y])


def add(
    name: str,
    a: Shape,
    b: Shape,
    by: tuple[int, int] = (20000, 12345),
    shift: int = 15,
    ends: Ends = FULL,
) -> None:
    def function(u: int, v: int) -> int:
        return (u * by[0] + v * by[1] + (1 << (shift - 1))) >> shift

    operator = "ember::quantized_add_int16.out"
    pair(name, operator, ADD, (a, b), function, (*by, shift), ends)


def mul(
    name: str,
    a: Shape,
    b: Shape,
    multiplier: int = 1518500250,
    shift: int = -15,
    ends: Ends = FULL,
) -> None:
    def function(u: int, v: int) -> int:
        return scaled(u * v, multiplier, shift)

    operator = "ember::quantized_mul_int16.out"
    pair(name, operator, MUL, (a, b), function, (multiplier, shift), ends)


def mean(name: str, shape: Shape, window: Window, *, include: bool = True) -> None:
    n, c, h, w = shape
    x = numbers((n, h, w, c))
    inside = np.ones((n, h, w, c), np.int64)
    y: Array | None = None
    pairs = zip(window.views(x.astype(np.int64)), window.views(inside), strict=True)
    for ((oy, ox), size, under), (_, _, ones) in pairs:
        if y is None:
            y = np.zeros((n, *size, c), np.int16)
        count = under[0, ..., 0].size if include else int(ones[0, ..., 0].sum())
        sums = under.sum((1, 2))
        y[:, oy, ox] = (2 * sums + count) // (2 * count)
    assert y is not None
    lists = [window.kernel, window.steps, window.padding]
    arguments = [ChannelsLast(x.transpose(0, 3, 1, 2)), *lists, include]
    result = ChannelsLast(y.transpose(0, 3, 1, 2))
    operator = "ember::quantized_avg_pool2d_int16.out"
    one_call.write(HERE / name, operator, POOL, arguments, [result])


def table(name: str, shape: Shape, values: Array) -> None:
    x = numbers(shape)
    x.reshape(-1)[:6] = (LEAST, LEAST + 1, -1, 0, MOST - 1, MOST)
    places = x.astype(np.int64) - LEAST
    at, rest = places // 128, places % 128
    wide = values.astype(np.int64)
    y = wide[at] + ((wide[at + 1] - wide[at]) * rest + 64) // 128
    operator = "ember::quantized_table_int16.out"
    arguments = [x, Constant(values)]
    one_call.write(HERE / name, operator, TABLE, arguments, [y.astype(np.int16)])


for count, filters in ((1, 1), (2, 3), (3, 2), (4, 4), (7, 5), (8, 9), (16, 8),
                       (23, 6), (32, 4), (33, 7), (64, 12), (70, 6)):  # fmt: skip
    linear(f"row_{count}_{filters}", (1, count), filters)
linear("row_wide", (40,), 133)
linear("row_extreme", (1, 40), 8, kind="extreme")
linear("row_wraps", (1, 530), 4, kind="wraps")
linear("row_bias", (1, 40), 8, kind="bias")
linear("row_no_bias", (1, 40), 4, biased=False)
linear("row_no_bias_odd", (1, 37), 5, biased=False)
linear("row_limits", (1, 40), 12, ends=(-300, 6000))
linear("row_saturated", (1, 40), 12, kind="saturated")
linear("row_zero", (1, 40), 4, kind="zero")
linear("row_far", (1, 40), 4, kind="far")
linear("row_whole", (1, 40), 4, kind="whole")
linear("row_any", (1, 40), 4, kind="any")
linear("rows_two", (2, 3, 29), 5)
linear("rows_three", (3, 64), 9)
linear("rows_many", (7, 300), 21)
linear("rows_limits", (5, 24), 6, ends=(0, 20000))
linear("rows_none", (0, 12), 4)

THREE = Window((3, 3), padding=(1, 1))
conv("point", (1, 20, 4, 3), 7, Window((1, 1)))
conv("point_odd", (1, 9, 3, 3), 5, Window((1, 1)))
conv("point_eights", (1, 16, 5, 2), 16, Window((1, 1)), ends=(0, 30000))
conv("point_steps", (2, 8, 5, 6), 4, Window((1, 1), (2, 3)))
conv("three", (1, 3, 6, 5), 8, THREE)
conv("three_eights", (1, 8, 5, 4), 9, THREE)
conv("three_no_bias", (1, 4, 4, 4), 6, THREE, biased=False)
conv("three_steps", (1, 16, 7, 8), 5, Window((3, 3), (2, 2), (1, 1)), ends=(0, 9000))
conv("three_one", (1, 1, 6, 6), 4, THREE)
conv("long", (1, 5, 9, 2), 3, Window((5, 2), (1, 1), (2, 0)))
conv("dilated", (1, 4, 9, 9), 6, Window((3, 2), (1, 2), (2, 1), (2, 3)))
conv("one_output", (2, 12, 3, 3), 8, Window((3, 3)))
conv("one_filter", (1, 6, 4, 4), 1, Window((2, 2)))
conv("groups", (1, 6, 4, 5), 9, THREE, 3)
conv("saturated", (1, 8, 3, 3), 4, Window((2, 2)), kind="saturated")
conv("zero", (1, 8, 3, 3), 4, Window((2, 2)), kind="zero")
conv("any", (1, 8, 3, 3), 4, Window((2, 2)), kind="any")
conv("beside", (1, 4, 2, 2), 4, Window((3, 3), padding=(4, 4)))

for channels in (1, 2, 3, 4, 7, 8, 9, 16, 20):
    depthwise(f"each_{channels}", (1, channels, 5, 6), THREE)
depthwise("each_steps", (1, 12, 7, 6), Window((3, 3), (2, 2), (1, 1)), ends=(0, 9000))
depthwise("each_plain", (1, 8, 6, 5), Window((3, 3)))
depthwise("each_long", (2, 6, 8, 3), Window((10, 4), (2, 2), (5, 1)), biased=False)
depthwise("each_dilated", (1, 5, 9, 9), Window((3, 2), (1, 2), (2, 1), (2, 3)))
depthwise("each_extreme", (1, 8, 4, 4), THREE, kind="extreme")
depthwise("each_saturated", (1, 10, 3, 3), Window((2, 2)), kind="saturated")
depthwise("each_zero", (1, 8, 3, 3), Window((2, 2)), kind="zero")
depthwise("each_any", (1, 8, 3, 3), Window((2, 2)), kind="any")
depthwise("each_beside", (1, 8, 2, 2), Window((3, 3), padding=(4, 4)))
depthwise("twice", (1, 4, 4, 5), THREE, 2)
depthwise("many", (1, 1, 6, 5), THREE, 8)

for count in (1, 2, 7, 8, 9, 31):
    add(f"add_{count}", (count,), (count,))
    mul(f"mul_{count}", (count,), (count,))
add("add_image", (2, 3, 4, 5), (2, 3, 4, 5), ends=(0, 20000))
add("add_limit", (40,), (40,), by=(32767, 32766), shift=16)
add("add_far", (40,), (40,), by=(1, 0), shift=17)
add("add_one", (5, 7), (1,))
add("add_first", (1,), (9,))
add("add_row", (3, 6), (6,))
mul("mul_saturated", (40,), (40,), shift=-13)
mul("mul_any", (40,), (40,), multiplier=5, shift=2)
mul("mul_whole", (40,), (40,), multiplier=1 << 16, shift=0)
mul("mul_one", (5, 7), (1,), ends=(-1000, 9000))
mul("mul_row", (3, 6), (6,))

mean("mean", (1, 8, 4, 6), Window((2, 3), (2, 3)))
mean("mean_global", (2, 5, 5, 3), Window((5, 3)))
mean("mean_padded", (1, 3, 4, 4), Window((3, 3), (2, 2), (1, 1)))
mean("mean_inside", (1, 9, 5, 4), Window((3, 2), (2, 1), (1, 1)), include=False)

steep = np.where(np.arange(513) % 2 == 0, LEAST, MOST).astype(np.int16)
smooth = np.tanh(np.linspace(-4, 4, 513))
table("table", (5, 7), np.round(smooth * MOST).astype(np.int16))
table("table_steep", (64,), steep)

STEP = (
    "(Tensor input, float scale, int zero_point, int quant_min, int quant_max,"
    f" ScalarType dtype, {OUT}"
)
SHORT = 2  # the ScalarType of int16


def step_to(
    name: str, count: int, scale: float, ends: Ends, special: Sequence[float] = ()
) -> None:
    x = random.normal(0, 20000 * scale, count).astype(np.float32)
    x[: len(special)] = special
    with np.errstate(all="ignore"):
        scaled_ = x * np.float32(1 / scale)
    y = np.rint(np.clip(np.nan_to_num(scaled_, nan=0.0), *ends)).astype(np.int16)
    arguments = [x, scale, 0, *ends, SHORT]
    operator = "cortex_m::quantize_per_tensor.out"
    one_call.write(HERE / name, operator, STEP, arguments, [y])


def step_from(name: str, count: int, scale: float) -> None:
    x = numbers((count,))
    y = x.astype(np.float32) * np.float32(scale)
    arguments = [x, scale, 0, *FULL, SHORT]
    operator = "cortex_m::dequantize_per_tensor.out"
    one_call.write(HERE / name, operator, STEP, arguments, [y])


PLAIN = (-MOST, MOST)
for count in (1, 7, 8, 21):
    step_to(f"to_{count}", count, 0.0123, PLAIN)
    step_from(f"from_{count}", count, 0.0123)
step_to("to_narrow", 20, 0.5, (-100, 30))
halves = (0.5, 1.5, -0.5, -2.5, 32766.5, -32767.5, 1e9, -1e9)
step_to("to_halves", 20, 1.0, PLAIN, halves)
step_to("to_special", 20, 1.0, PLAIN, (np.nan, np.inf, -np.inf, 1e-40, -0.0))
