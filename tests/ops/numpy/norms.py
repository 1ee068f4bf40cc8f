"""Normalisation of int8, called once each; running this file with tests/shared on the
path writes the cases again. What is expected is computed number by number; all of it is
exact."""

import math
from pathlib import Path
from typing import TypeAlias

import integer_norms
import numpy as np

from ember.cases import one_call
from ember.cases.one_call import Constant
from ember.files.tensors import Array

Shape: TypeAlias = tuple[int, ...]

HERE = Path()
OUT = "*, Tensor(a!) out) -> Tensor(a!)"
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
    fraction = 30 - ((group - 1).bit_length() + 1) // 2
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
