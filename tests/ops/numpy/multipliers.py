"""cadence::quantized_linear.out with a multiplier and a shift for each output; running
this file writes the case again.

Sums are exact in float32; products with the scale are rounded there, halves to even.
"""

from pathlib import Path

import numpy as np

from ember.cases import one_call
from ember.cases.one_call import Constant

ROWS, INNER, COLUMNS = 3, 30, 7
X_ZERO, Y_ZERO = -5, 3

random = np.random.default_rng(2)
x = random.integers(-128, 128, (ROWS, INNER), np.int8)
w = random.integers(-127, 128, (COLUMNS, INNER), np.int8)
bias = random.integers(-9000, 9000, COLUMNS, np.int32)
multipliers = random.integers(1 << 30, (1 << 31) - 1, COLUMNS, np.int32)
shifts = random.integers(-10, -6, COLUMNS, np.int32)
sums = (x.astype(np.int32) - X_ZERO) @ w.astype(np.int32).T + bias
scale = multipliers.astype(np.float32) * np.exp2(shifts - 31).astype(np.float32)
y = np.rint(sums.astype(np.float32) * scale) + Y_ZERO
one_call.write(
    Path(),
    "cadence::quantized_linear.out",
    "(Tensor src, Tensor weight, Tensor bias, int src_zero_point,"
    " Tensor weight_zero_point, Tensor out_multiplier, Tensor out_shift,"
    " int out_zero_point, Tensor? offset, *, Tensor(a!) out) -> Tensor(a!)",
    [
        *(x, Constant(w), Constant(bias), X_ZERO, Constant(np.zeros(1, np.int32))),
        *(Constant(multipliers), Constant(shifts), Y_ZERO, None),
    ],
    [np.clip(y, -128, 127).astype(np.int8)],
)
