"""ember::band_mm.out, called once; running this file writes the case again. Bands
overlap, one is the whole row, one is empty and one ends with it."""

from pathlib import Path

import numpy as np

from ember.cases import one_call

random = np.random.default_rng(1)
x = random.standard_normal((2, 3, 11), dtype=np.float32)
bands = np.array([(0, 11), (2, 3), (4, 0), (3, 5), (9, 2)], np.int32)
weights = random.standard_normal(int(bands[:, 1].sum()), dtype=np.float32)
matrix, at = np.zeros((11, len(bands)), np.float32), 0
for column, (first, length) in enumerate(bands):
    matrix[first : first + length, column] = weights[at : at + length]
    at += length
one_call.write(
    Path(),
    "ember::band_mm.out",
    "(Tensor x, Tensor bands, Tensor weights, *, Tensor(a!) out) -> Tensor(a!)",
    [x, bands, weights],
    [x @ matrix],
    rtol=1e-5,
    atol=1e-6,
)
