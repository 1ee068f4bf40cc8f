"""ember::quantized_conv2d_panels.out; running this file with tests/shared on the path
writes the cases again.

No exporter writes this operator: the SDK packs weights for Hexagon's vectors. What is
expected comes from the dialect's operator, in portable C.
"""

import json
from pathlib import Path

import numpy as np
from panel_programs import LAYERS, packed
from small_programs import here

from ember import program
from ember.plan.passes.execute import Executable, scenarios

for name, layer in LAYERS.items():
    folder = Path(__file__).parent / name
    folder.mkdir(exist_ok=True)
    model = layer.model
    (folder / "model.pte").write_bytes(program.write(packed(model.program)))
    runs = scenarios(model)[0][:1]
    (result,) = here().run([(Executable(model.program, model.content), runs)])
    ((x,), (y,)) = runs[0].inputs, result.outputs[0].values
    np.save(folder / "in0.npy", x.array)
    np.save(folder / "out0.npy", y.array((0, 2, 3, 1)))
    run = {"method": "forward", "inputs": ["in0.npy"], "outputs": ["out0.npy"]}
    case = {"rtol": 0.0, "atol": 0.0, "runs": [run]}
    (folder / "case.json").write_text(json.dumps(case, indent=1) + "\n")
