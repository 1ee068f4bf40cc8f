"""A program of one image becomes a case; what is expected comes from another program,
by portable C on the host."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from small_programs import here

from ember import program
from ember.cases import CaseTensor
from ember.cases.inputs import TensorValue
from ember.model import Model
from ember.plan.passes.execute import Executable, scenarios
from ember.program import Program

CHANNELS_LAST = (0, 2, 3, 1)


def write(
    folder: Path,
    content: Program,
    model: Model,
    reference: Executable | None = None,
    order: tuple[int, ...] = CHANNELS_LAST,
) -> None:
    """The case `content` in `folder`. Its inputs are random ones of `model`, whose
    outputs, of this dim order, it shall have, or those of a `reference`."""
    expecting = reference or Executable(model.program, model.content)
    runs = scenarios(model)[0][:1]
    (result,) = here().run([(expecting, runs)])
    assert result is not None
    ((x,), (y,)) = runs[0].inputs, result.outputs[0].values
    assert isinstance(x, CaseTensor)
    assert isinstance(y, TensorValue)
    folder.mkdir(exist_ok=True)
    (folder / "model.pte").write_bytes(program.write(content))
    np.save(folder / "in0.npy", x.array)
    np.save(folder / "out0.npy", y.array(order))
    run = {"method": "forward", "inputs": ["in0.npy"], "outputs": ["out0.npy"]}
    case = {"rtol": 0.0, "atol": 0.0, "runs": [run]}
    (folder / "case.json").write_text(json.dumps(case, indent=1) + "\n")
