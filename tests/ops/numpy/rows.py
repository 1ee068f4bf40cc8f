"""ember::rows.out and rows_enter.out: a network of pools and a maximum, row by row;
running this file with tests/shared on the path writes the case again.

No exporter writes these operators: the SDK makes regions of rows when it packs.
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
from ember.program import edit

net = Network(5, (1, 3, 12, 10))
wide = net.max_pool(net.input, 3, 1)
both = net.largest(wide, net.max_pool(wide, 1, 1))
model = net.model(net.max_pool(both, 2, 2))

by_rows = rows.apply(edit.draft(model.program), here(), frozenset())[0]
methods = tuple(
    replan(method, KNOWN, check=False).method for method in by_rows.program.methods
)
folder = Path()
packed = replace(by_rows.program, methods=methods)
(folder / "model.pte").write_bytes(program.write(packed))

x = np.random.default_rng(5).integers(-128, 128, (1, 3, 12, 10), np.int8)
windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), (2, 3))
large = windows.max((-2, -1))
pooled = np.lib.stride_tricks.sliding_window_view(large, (2, 2), (2, 3))
y = pooled[:, :, ::2, ::2].max((-2, -1))
np.save(folder / "in0.npy", x)
np.save(folder / "out0.npy", y)
run = {"method": "forward", "inputs": ["in0.npy"], "outputs": ["out0.npy"]}
case = {"rtol": 0.0, "atol": 0.0, "runs": [run]}
(folder / "case.json").write_text(json.dumps(case, indent=1) + "\n")
