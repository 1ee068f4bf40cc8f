# SPDX-License-Identifier: Apache-2.0
"""A program made here becomes a case, with what NumPy says that it gives."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ember import program
from ember.model import Model


def write(
    folder: Path,
    model: Model,
    inputs: Sequence[np.ndarray[Any, Any]],
    output: np.ndarray[Any, Any],
    tolerance: float = 0.0,
) -> None:
    """`tolerance` is relative and absolute."""
    folder.mkdir(exist_ok=True)
    (folder / "model.pte").write_bytes(program.write(model.program))
    files = [f"in{number}.npy" for number in range(len(inputs))]
    for file, array in zip(files, inputs, strict=True):
        np.save(folder / file, array)
    np.save(folder / "out0.npy", output)
    run = {"method": "forward", "inputs": files, "outputs": ["out0.npy"]}
    case = {"rtol": tolerance, "atol": tolerance, "runs": [run]}
    (folder / "case.json").write_text(json.dumps(case, indent=1) + "\n")


def with_inputs(model: Model, *inputs: int) -> Model:
    """With other values as inputs."""
    (method,) = model.program.methods
    methods = (replace(method, inputs=inputs),)
    return replace(model, program=replace(model.program, methods=methods))
