"""aten::_select_copy_nop.int_out, called once; running this file writes the case again.

The flow of Cadence has it where memory planning makes an output part of its input.
Ember plans memory again and copies.
"""

from pathlib import Path

import numpy as np

from ember.cases import one_call

x = np.random.default_rng(1).standard_normal((3, 4, 5), dtype=np.float32)
one_call.write(
    Path(),
    "aten::_select_copy_nop.int_out",
    "(Tensor self, int dim, SymInt index, *, Tensor(a!) out) -> Tensor(a!)",
    [x, 1, -1],
    [x[:, -1]],
)
