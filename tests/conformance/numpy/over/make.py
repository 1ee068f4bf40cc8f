"""cortex_m::quantized_conv2d.out and quantized_depthwise_conv2d.out over their inputs;
running this file with tests/shared on the path writes the case again.

No exporter writes such a plan: the SDK makes it for `--rows`. What is expected comes
from the same network with every tensor at a place of its own, in portable C.
"""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
from row_programs import over_network
from small_programs import KNOWN, here

from ember import program
from ember.plan.passes import edit, rows
from ember.plan.passes.execute import Executable, scenarios
from ember.plan.replan import replan

model = over_network()
proposed = rows.apply(edit.draft(model.program), here(), frozenset())[0]
methods = tuple(
    replan(method, KNOWN, check=False).method for method in proposed.program.methods
)
folder = Path(__file__).parent
packed = replace(proposed.program, methods=methods)
(folder / "model.pte").write_bytes(program.write(packed))

runs = scenarios(model)[0][:1]
(result,) = here().run([(Executable(model.program, model.content), runs)])
((x,), (y,)) = runs[0].inputs, result.outputs[0].values
np.save(folder / "in0.npy", x.array)
np.save(folder / "out0.npy", y.array((0, 2, 3, 1)))
run = {"method": "forward", "inputs": ["in0.npy"], "outputs": ["out0.npy"]}
case = {"rtol": 0.0, "atol": 0.0, "runs": [run]}
(folder / "case.json").write_text(json.dumps(case, indent=1) + "\n")
