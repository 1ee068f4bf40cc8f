"""aten::_cat_nop.out, called once; running this file writes the case again. See
nop_select."""

from pathlib import Path

import numpy as np

from ember.cases import one_call

random = np.random.default_rng(1)
parts = [random.standard_normal((2, n, 3), dtype=np.float32) for n in (1, 4, 2)]
one_call.write(
    Path(),
    "aten::_cat_nop.out",
    "(Tensor[] tensors, int dim=0, *, Tensor(a!) out) -> Tensor(a!)",
    [parts, 1],
    [np.concatenate(parts, axis=1)],
)
