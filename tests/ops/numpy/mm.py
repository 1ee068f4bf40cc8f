"""aten::mm.out of float32 with rows, columns and sums that are no whole blocks of the
kernels; running this file writes the cases again. Numbers are small integers, so sums
are exact in any order."""

from pathlib import Path

import numpy as np

from ember.cases import one_call

# Rows, terms of a sum and columns.
SIZES = {"even": (7, 6, 19), "odd": (6, 5, 16), "one": (3, 1, 9), "two": (4, 2, 8)}
random = np.random.default_rng(1)


for name, (rows, inner, columns) in SIZES.items():
    a = random.integers(-20, 21, (rows, inner)).astype(np.float32)
    b = random.integers(-20, 21, (inner, columns)).astype(np.float32)
    one_call.write(
        Path() / name,
        "aten::mm.out",
        "(Tensor self, Tensor mat2, *, Tensor(a!) out) -> Tensor(a!)",
        [a, b],
        [a @ b],
    )
