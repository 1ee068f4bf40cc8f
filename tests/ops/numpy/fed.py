"""ember::rows_fed.out: the network of ../rows, whose image comes as a single row.
Running this file with tests/shared on the path writes the case again. Several rows are
several executions, which tests/unit/python/passes/test_fed_rows.py has.
"""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
from row_programs import Network
from small_programs import KNOWN, here

from ember import program
from ember.plan.passes import rows
from ember.plan.replan import replan
from ember.plan.rows import rewrite, row_regions
from ember.program import edit, types

net = Network(6, (1, 3, 12, 10))
wide = net.max_pool(net.input, 3, 1)
both = net.largest(wide, net.max_pool(wide, 1, 1))
model = net.model(net.max_pool(both, 2, 2))

by_rows = rows.for_feeding(edit.draft(model.program), here(), frozenset())[0]
(method,) = by_rows.program.methods
whole = method.values[method.inputs[0]]
by_row = rewrite.fed(method)
values = list(by_row.values)
values[method.inputs[0]] = whole
(call,) = (c for _, name, c in by_row.kernel_calls() if "rows_fed" in name)
values[call.args[row_regions.CURSOR + 1]] = types.Int(1)
method = replan(replace(by_row, values=tuple(values)), KNOWN, check=False).method
folder = Path()
(folder / "model.pte").write_bytes(
    program.write(replace(by_rows.program, methods=(method,)))
)

x = np.random.default_rng(6).integers(-128, 128, (1, 3, 12, 10), np.int8)
windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), (2, 3))
large = windows.max((-2, -1))
pooled = np.lib.stride_tricks.sliding_window_view(large, (2, 2), (2, 3))
y = pooled[:, :, ::2, ::2].max((-2, -1))
np.save(folder / "in0.npy", x)
np.save(folder / "out0.npy", y)
run = {"method": "forward", "inputs": ["in0.npy"], "outputs": ["out0.npy"]}
case = {"rtol": 0.0, "atol": 0.0, "runs": [run, run]}
(folder / "case.json").write_text(json.dumps(case, indent=1) + "\n")
