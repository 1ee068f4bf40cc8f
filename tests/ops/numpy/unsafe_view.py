"""aten::_unsafe_view.out, called once; running this file writes the case again.

Exporters write aten::view_copy.out instead.
"""

from pathlib import Path

import numpy as np

from ember.cases import one_call

random = np.random.default_rng(1)
a = random.standard_normal((2, 3, 5), dtype=np.float32)
one_call.write(
    Path(),
    "aten::_unsafe_view.out",
    "(Tensor self, SymInt[] size, *, Tensor(a!) out) -> Tensor(a!)",
    [a, [5, 6]],
    [a.reshape(5, 6)],
)
