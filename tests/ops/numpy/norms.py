"""Normalisation and PReLU of int8, called once each; running this file with
tests/shared on the path writes the cases again. What is expected is computed number by
number; all of it is exact."""

import math
from pathlib import Path
from typing import TypeAlias

import integer_norms
import numpy as np

from ember.cases import one_call
from ember.cases.one_call import ChannelsLast, Constant
from ember.files.tensors import Array

Shape: TypeAlias = tuple[int, ...]

HERE = Path()
OUT = "*, Tensor(a!) out) -> Tensor(a!)"
GROUP = f"(Tensor x, Tensor scales, int groups, int epsilon, int shift, {OUT}"
PRELU = (
    f"(Tensor x, Tensor scales, int zero_point, int shift, int output_zero_point, {OUT}"
)
LAYER = f"(Tensor x, Tensor scales, int epsilon, bool rms, int zero_point, {OUT}"
random = np.random.default_rng(21)


def numbers(shape: Shape, kind: str) -> Array:
    """Around 9; all the same in a row (`flat`), or at the ends of int8."""
    if kind == "flat":
        x = np.broadcast_to(random.integers(-128, 128, (*shape[:-1], 1)), shape)
    elif kind == "ends":
        x = random.choice([-128, 127], shape)
    else:
        sigma = 0.4 if kind == "quiet" else 40
        x = random.normal(9, sigma, shape).round().clip(-128, 127)
    return x.astype(np.int8)


def scales_of(count: int, group: int, shift: int, *, any_scale: bool) -> Array:
    """g and b with which most results are within int8, or any numbers."""
    if any_scale:
        return random.integers(-(2**31), 2**31, (2, count)).astype(np.int32)
    fraction = 29 - ((group - 1).bit_length() + 1) // 2
    g = random.uniform(-50, 50, count) * 2.0 ** (shift + 32 - fraction)
    b = random.uniform(-60, 60, count) * 2.0**shift
    return np.stack([g, b]).clip(-(2**31), 2**31 - 1).astype(np.int32)


def layer(
    name: str,
    shape: Shape,
    last: int = 1,
    *,
    kind: str = "",
    about: int | None = None,
    epsilon: int | None = None,
    any_scale: bool = False,
) -> None:
    """last -- how many dimensions are normalised"""
    count = math.prod(shape[len(shape) - last :])
    epsilon = 3 * count * count if epsilon is None else epsilon
    x = numbers(shape, kind)
    g, b = scales_of(count, count, 8, any_scale=any_scale)
    rows = [
        integer_norms.layer_row(row.tolist(), g.tolist(), b.tolist(), epsilon, about)
        for row in x.reshape(-1, count)
    ]
    rms, zero_point = about is not None, about or 0
    one_call.write(
        HERE / f"layer_norm_{name}",
        "ember::quantized_layer_norm.out",
        LAYER,
        [x, Constant(np.stack([g, b])), epsilon, rms, zero_point],
        [np.array(rows, np.int8).reshape(shape)],
    )


def group(
    name: str,
    shape: Shape,
    groups: int,
    *,
    kind: str = "",
    last: bool = False,
    shift: int = 14,
    epsilon: int | None = None,
    any_scale: bool = False,
) -> None:
    """last -- whether channels are last in memory"""
    channels, each = shape[1], shape[1] // groups
    count = each * math.prod(shape[2:])
    epsilon = 3 * count * count if epsilon is None else epsilon
    x = numbers(shape, kind)
    g, b = scales_of(channels, max(count, 1), shift, any_scale=any_scale)
    y = np.empty(shape, np.int8)
    for n in range(shape[0] if x.size else 0):
        for at in range(0, channels, each):
            part = slice(at, at + each)
            planes = x[n, part].reshape(each, -1).tolist()
            by = g[part].tolist(), b[part].tolist()
            y[n, part] = np.array(
                integer_norms.group(planes, *by, epsilon, shift)
            ).reshape(y[n, part].shape)
    one_call.write(
        HERE / f"group_norm_{name}",
        "ember::quantized_group_norm.out",
        GROUP,
        [
            ChannelsLast(x) if last else x,
            *(Constant(np.stack([g, b])), groups, epsilon, shift),
        ],
        [ChannelsLast(y) if last else y],
    )


def prelu(
    name: str,
    shape: Shape,
    slopes: int,
    *,
    last: bool = False,
    ends: Shape = (3, 14, -5),
    any_scale: bool = False,
) -> None:
    """ends -- the zero point, the shift, and the zero point of the result"""
    zero, shift, zero_y = ends
    x = random.integers(-128, 128, shape).astype(np.int8)
    scales = (random.uniform(-1, 1.5, slopes + 1) * 2.0**shift).astype(np.int32)
    if any_scale:
        scales = random.integers(-(2**22), 2**22, slopes + 1).astype(np.int32)
    by = scales[1:].reshape(-1, *([1] * (len(shape) - 2)))
    pairs = zip(x.flat, np.broadcast_to(by, shape).flat, strict=True)
    y = [
        integer_norms.prelu(int(q), int(scales[0]), int(slope), (zero, shift, zero_y))
        for q, slope in pairs
    ]
    result = np.array(y, np.int8).reshape(shape)
    one_call.write(
        HERE / f"prelu_{name}",
        "ember::quantized_prelu.out",
        PRELU,
        [ChannelsLast(x) if last else x, Constant(scales), *ends],
        [ChannelsLast(result) if last else result],
    )


for size in (1, 2, 3, 4, 5, 8, 15, 16, 17, 31, 32, 33, 64, 100):
    layer(f"of_{size}", (3, size))
layer("images", (2, 3, 4, 5), 2)
layer("whole", (6, 7), 2)
layer("none", (0, 8))
layer("flat", (4, 24), kind="flat")
layer("ends", (3, 40), kind="ends")
layer("quiet", (5, 48), kind="quiet")
layer("tiny_epsilon", (3, 20), kind="quiet", epsilon=1)
layer("large_epsilon", (3, 20), epsilon=2**62 - 1)
layer("any", (4, 36), any_scale=True)
layer("any_ends", (3, 19), kind="ends", any_scale=True)
layer("long", (1, 66000))
layer("rms", (3, 32), about=-3)
layer("rms_low", (3, 21), about=-128)
layer("rms_one", (4, 1), about=127)
layer("rms_flat", (4, 12), about=9, kind="flat")
layer("rms_ends", (2, 50), about=-128, kind="ends", any_scale=True)

for order, last in (("", False), ("_last", True)):
    group(f"pair{order}", (2, 8, 3, 5), 2, last=last)
    group(f"instances{order}", (1, 7, 4, 4), 7, last=last)
    group(f"instances_four{order}", (2, 8, 3, 7), 8, last=last)
    group(f"whole{order}", (2, 5, 3, 3), 1, last=last)
    group(f"wide{order}", (1, 36, 3, 3), 4, last=last)
    group(f"odd{order}", (1, 21, 2, 5), 3, last=last)
    group(f"ends{order}", (2, 8, 6, 6), 4, kind="ends", last=last)
    group(f"quiet{order}", (1, 12, 5, 5), 3, kind="quiet", last=last, epsilon=1)
    group(f"any{order}", (1, 16, 4, 4), 4, last=last, any_scale=True, shift=1)
    group(f"any_last_bit{order}", (1, 6, 3, 4), 2, last=last, any_scale=True, shift=31)
    group(f"large{order}", (1, 2, 40, 60), 1, last=last)
    prelu(f"channels{order}", (2, 7, 3, 5), 7, last=last)
    prelu(f"sixteen{order}", (1, 16, 4, 4), 16, last=last, ends=(-128, 20, 127))
    prelu(f"all{order}", (2, 3, 5, 5), 1, last=last, ends=(127, 0, 0))
    prelu(f"any{order}", (1, 21, 3, 3), 21, last=last, any_scale=True)
group("pixel", (3, 6), 2)
group("pixel_ones", (3, 4), 4)
group("line", (2, 6, 17), 3)
group("none", (0, 4, 2, 2), 2)
prelu("rows", (3, 20), 20)
prelu("line", (19,), 1)
prelu("none", (0, 4), 4)
