"""ember::scratch.out: a sort whose scratch is a planned tensor; running this file
writes the case again.

No exporter writes this operator: the SDK puts scratch into holes of a plan.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np

from ember import program
from ember.cases import one_call
from ember.files.tensors import DType
from ember.program import Allocation, Chain, KernelCall, Operator, Tensor

ROOM = 1024  # bytes
folder = Path()
x = np.random.default_rng(3).standard_normal((5, 7), np.float32)
one_call.write(
    folder,
    "aten::sort.values_stable",
    "(Tensor self, *, bool? stable, int dim=-1, bool descending=False,"
    " Tensor(a!) values, Tensor(b!) indices)"
    " -> (Tensor(a!) values, Tensor(b!) indices)",
    [x, True, -1, False],
    [np.sort(x, -1), np.argsort(x, -1)],
)
path = folder / "model.pte"
model = program.read(path)
(method,) = model.methods
end = -(-method.planned_sizes[1] // 16) * 16
scratch = Tensor(DType.UINT8, (ROOM,), (0,), allocation=Allocation(1, end))
place = len(method.values)
(chain,) = method.chains
call = KernelCall(len(method.operators), (place, place))
changed = replace(
    method,
    values=(*method.values, scratch),
    operators=(*method.operators, Operator("ember::scratch", "out")),
    planned_sizes=(method.planned_sizes[0], end + ROOM),
    chains=(Chain((call, *chain.instructions), chain.inputs, chain.outputs),),
)
path.write_bytes(program.write(replace(model, methods=(changed,))))
