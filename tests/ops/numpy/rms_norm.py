"""aten::rms_norm.out, called once; running this file writes the case again.

Exporters decompose it, but for the flow of Cadence.
"""

from pathlib import Path

import numpy as np

from ember.cases import one_call

random = np.random.default_rng(1)
x = random.standard_normal((2, 3, 5, 7), dtype=np.float32)
weight = random.standard_normal((5, 7), dtype=np.float32)
wide = x.astype(np.float64)
eps = float(np.finfo(np.float32).eps)  # where a call has none
root = np.sqrt((wide**2).mean(axis=(2, 3), keepdims=True) + eps)
one_call.write(
    Path(),
    "aten::rms_norm.out",
    "(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, float? eps=None,"
    " *, Tensor(a!) out) -> Tensor(a!)",
    [x, [5, 7], weight, None],
    [(wide / root * weight).astype(np.float32)],
    rtol=1e-5,
    atol=1e-6,
)
