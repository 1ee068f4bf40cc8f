#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exports a model that calls your own operator, with inputs and outputs.

Needs torch and executorch (pip install "ember[export]"). Writes the case mul3/.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import torch
from executorch.exir import to_edge
from torch.export import export
from torch.library import Library, impl

HERE = Path(__file__).parent

# The operator, and its form that writes to the caller's memory: programs call that.
LIBRARY = Library("my_ops", "DEF")
LIBRARY.define("mul3(Tensor input) -> Tensor")
LIBRARY.define("mul3.out(Tensor input, *, Tensor(a!) output) -> Tensor(a!)")


@impl(LIBRARY, "mul3", "CompositeExplicitAutograd")
def mul3(given: torch.Tensor) -> torch.Tensor:
    return given * 3


@impl(LIBRARY, "mul3.out", "CompositeExplicitAutograd")
def mul3_out(given: torch.Tensor, *, output: torch.Tensor) -> torch.Tensor:
    output.copy_(given * 3)
    return output


class Model(torch.nn.Module):
    def forward(self, given: torch.Tensor) -> torch.Tensor:
        return torch.ops.my_ops.mul3.default(given) + 1


def main() -> None:
    given = torch.linspace(-2, 2, 12).reshape(3, 4)
    program = to_edge(export(Model(), (given,))).to_executorch()
    case = HERE / "mul3"
    case.mkdir(exist_ok=True)
    (case / "model.pte").write_bytes(program.buffer)
    np.save(case / "in0.npy", given.numpy())
    np.save(case / "out0.npy", Model()(given).numpy())
    run = {"method": "forward", "inputs": ["in0.npy"], "outputs": ["out0.npy"]}
    facts = {"rtol": 0.0, "atol": 0.0, "runs": [run]}
    (case / "case.json").write_text(json.dumps(facts, indent=2) + "\n")


if __name__ == "__main__":
    main()
