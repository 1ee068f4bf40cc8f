"""ember::rows.out of images whose channels are planes: float32 pools and an upsampled
image, by rows; running this file with tests/shared on the path writes the case again.

No exporter writes this operator: the SDK makes regions of rows when it packs.
"""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
from float_row_programs import FloatNetwork
from small_programs import KNOWN, here

from ember import program
from ember.plan.passes import rows
from ember.plan.replan import replan, trimmed
from ember.program import edit

net = FloatNetwork(5, (1, 2, 12, 10))
wide = net.relu(net.max_pool(net.input, 3, 2, 1))
model = net.model(net.max_pool(net.larger(wide, 4), 3, 3))

by_rows = rows.apply(edit.draft(model.program), here(), frozenset())[0]
methods = tuple(
    replan(method, KNOWN, check=False).method for method in by_rows.program.methods
)
folder = Path()
packed = trimmed(replace(by_rows.program, methods=methods))
(folder / "model.pte").write_bytes(program.write(packed))

x = np.random.default_rng(5).standard_normal((1, 2, 12, 10)).astype(np.float32)
x[0, 1] = -np.inf
sides = ((0, 0), (0, 0), (1, 1), (1, 1))
padded = np.pad(x, sides, constant_values=-np.inf)
windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))
pooled = np.maximum(windows.max((-2, -1))[:, :, ::2, ::2], 0)
large = pooled.repeat(4, 2).repeat(4, 3)
windows = np.lib.stride_tricks.sliding_window_view(large, (3, 3), (2, 3))
y = windows.max((-2, -1))[:, :, ::3, ::3]
np.save(folder / "in0.npy", x)
np.save(folder / "out0.npy", y)
run = {"method": "forward", "inputs": ["in0.npy"], "outputs": ["out0.npy"]}
case = {"rtol": 0.0, "atol": 0.0, "runs": [run]}
(folder / "case.json").write_text(json.dumps(case, indent=1) + "\n")
