"""aten::_slice_copy_nop.Tensor_out, called once; running this file writes the case
again. See nop_select."""

from pathlib import Path

import numpy as np

from ember.cases import one_call

x = np.random.default_rng(1).standard_normal((6, 5), dtype=np.float32)
one_call.write(
    Path(),
    "aten::_slice_copy_nop.Tensor_out",
    "(Tensor self, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1, *,"
    " Tensor(a!) out) -> Tensor(a!)",
    [x, 0, 1, 4, 1],
    [x[1:4]],
)
