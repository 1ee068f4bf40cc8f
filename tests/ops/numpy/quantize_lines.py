"""Lines that vectors take, of what quantises, dequantises, or looks for scales;
running this file with tests/shared on the path writes the cases again.

NumPy computes what is expected. Of some cases a scale or a zero point is out of the
range of vectors.
"""

from pathlib import Path

import numpy as np
from quantised_lines import (
    Affine,
    Chosen,
    Dequantised,
    Embedding,
    Quantised,
    Sum,
    below_powers,
    near_ties,
    special,
)

from ember.files.tensors import Array, DType

HERE = Path()
random = np.random.default_rng(1)


def zeros(least: int, count: int) -> Array:
    return random.integers(least, least + 256, count)


x = special(random.normal(0, 3, (3, 45)).astype(np.float32))
scale = random.uniform(0.01, 0.1, 3)
single = scale.astype(np.float32)
unit = np.ones(3, np.float32)
ties = near_ties(random, 3, 130)
for kind, token in (("channel", False), ("token", True)):
    Quantised(x, single, zeros(-128, 3), token).write(HERE / f"to_{kind}")
    Quantised(ties, unit, zeros(-128, 3), token).write(HERE / f"to_{kind}_ties")
    to_uint8 = Quantised(x, single, zeros(0, 3), token, DType.UINT8)
    to_uint8.write(HERE / f"to_{kind}_uint8")
wide = unit.astype(np.float64)
Quantised(x, scale, zeros(-128, 3), True).write(HERE / "to_token_f64")
Quantised(ties, wide, zeros(-128, 3), True).write(HERE / "to_token_f64_ties")
Quantised(x, scale * [1, 1e-42, 1], zeros(-128, 3), True).write(HERE / "to_token_tiny")
low = below_powers(random, 3, 40).astype(np.float32)
least = np.nextafter(unit, np.float32(2.0))
Quantised(low, least, np.array([101, -3, 77]), True).write(HERE / "to_token_low")
far = np.array([3, -4000, 7])
Quantised(x, single, far, True).write(HERE / "to_token_far")

codes = random.integers(-128, 128, (3, 40)).astype(np.int8)
exact = single.astype(np.float64)
Dequantised(codes, exact, zeros(-128, 3)).write(HERE / "from_token_f64")
Dequantised(codes, scale, zeros(-128, 3)).write(HERE / "from_token_rounded")
unsigned = codes.view(np.uint8)
Dequantised(unsigned, single, zeros(0, 3)).write(HERE / "from_token_uint8")

rows = np.array([2, 0, 1, 2])
factors = random.uniform(0.01, 0.1, (3, 2)).astype(np.float32)
whole = random.integers(-5, 6, (3, 2)).astype(np.float32)
between = whole + np.array([[0, 0], [0, 0.25], [0, 0]], np.float32)
for bits in (8, 4, 2):
    numbers = random.integers(0, 1 << bits, (3, 96)).astype(np.uint8)
    table = numbers.view(np.int8) if bits == 8 else numbers
    zero_points = np.clip(whole, 0, 1) if bits == 2 else whole
    for title, zero in (("none", None), ("whole", zero_points), ("between", between)):
        case = Embedding(table, factors, zero, rows, bits)
        case.write(HERE / f"embedding_{bits}_{title}")

for title, lines in (
    ("both", random.normal(0, 3, (3, 45))),
    ("above", random.uniform(1, 2, (2, 16))),
    ("below", random.uniform(-2, -1, (2, 33))),
    ("none", np.zeros((1, 32))),
):
    for name, of_all in (("token", False), ("tensor", True)):
        chosen = Chosen(lines.astype(np.float32), of_all)
        chosen.write(HERE / f"choose_{name}_{title}")

pairs = random.integers(-128, 128, (2, 1, 200)).astype(np.int8)
pairs[:, 0, :4] = [[-128, 127, -128, 5], [-128, 127, 127, -3]]
first, second = pairs
for name, of_a, of_b, to in (
    ("near", Affine(0.031, 5), Affine(0.017, -3), Affine(0.04, 1)),
    ("apart", Affine(2.0**-9, -128), Affine(3.0, 127), Affine(2.5, 0)),
    ("ties", Affine(0.5, 0), Affine(0.25, 0), Affine(0.5, 100)),
    ("cancel", Affine(0.3, 5), Affine(0.3, -3), Affine(2.0**-20, -9)),
    ("far", Affine(0.1, -9000), Affine(0.1, 0), Affine(1.0, 0)),
):
    Sum(first, second, of_a, of_b, to).write(HERE / f"add_{name}")
of_bytes = [Affine(scale, 130, DType.UINT8) for scale in (0.02, 0.03, 0.05)]
Sum(first.view(np.uint8), second.view(np.uint8), *of_bytes).write(HERE / "add_uint8")
