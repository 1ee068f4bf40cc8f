"""Lines that vectors take, of what quantises, dequantises, or looks for scales;
running this file with tests/shared on the path writes the cases again.

NumPy computes what is expected. Of some cases a scale or a zero point is out of the
range of vectors.
"""

from pathlib import Path

import numpy as np
from quantised_lines import (
    Chosen,
    Dequantised,
    Embedding,
    Quantised,
    below_powers,
    near_ties,
    special,
)

from ember.files.tensors import DType

HERE = Path(__file__).parent
random = np.random.default_rng(1)


def zeros(least, count):
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
between = whole + np.float32([[0, 0], [0, 0.25], [0, 0]])
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
