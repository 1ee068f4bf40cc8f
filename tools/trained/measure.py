#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A network of models/ and its program -> how well PyTorch and a board do its task.

    python tools/trained/measure.py MODEL PROGRAM BOARD     prints {"pytorch", "board"}

The file of the model has MEASURE (what the number is), `samples()` (the inputs of
calls, one after the other, state kept) and `measure(outputs)`, which gets for each call
what it gave, as NumPy arrays. With SESSION the state is that of the start again after
so many calls.
"""

from __future__ import annotations

import copy
import importlib
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import torch

from ember import boards, cases
from ember.cases import CaseTensor, Run
from ember.files.tensors import DType
from ember.program import bundle
from ember.run import testing

_DTYPES = {torch.float32: DType.FLOAT32, torch.int64: DType.INT64}
Calls = Sequence[tuple[torch.Tensor, ...]]
Outputs = list[tuple[np.ndarray[Any, Any], ...]]


def of_pytorch(fresh: torch.nn.Module, calls: Calls) -> Outputs:
    """What the network itself gives, in floating point."""
    network = copy.deepcopy(fresh)
    outputs = []
    with torch.no_grad():
        for inputs in calls:
            given = network(*inputs)
            tensors = given if isinstance(given, tuple) else (given,)
            outputs.append(tuple(tensor.numpy().copy() for tensor in tensors))
    return outputs


def of_board(path: Path, board: str, calls: Calls) -> Outputs:
    """What the program gives in the test runner's firmware on a board."""
    (place,) = cases.find([path])
    case = cases.read(place)
    content = bundle.parse(case.content, path.name).program
    runs = tuple(Run("forward", tuple(map(_tensor, inputs)), ()) for inputs in calls)
    called = replace(case, content=content, bundled=False, runs=runs)
    answers, _ = testing.outputs(called, boards.load(board))
    return [
        tuple(value.array for value in answer if isinstance(value, CaseTensor))
        for answer in answers
    ]


def _tensor(value: torch.Tensor) -> CaseTensor:
    return CaseTensor(_DTYPES[value.dtype], value.numpy())


def sessions(model: ModuleType) -> list[Calls]:
    calls = model.samples()
    size = getattr(model, "SESSION", len(calls))
    return [calls[at : at + size] for at in range(0, len(calls), size)]


def main(name: str, program: str, board: str) -> None:
    sys.path.insert(0, str(Path(__file__).parent / "models"))
    model = importlib.import_module(name)
    parts, fresh = sessions(model), model.model().eval()
    in_float = [out for calls in parts for out in of_pytorch(fresh, calls)]
    there = [out for calls in parts for out in of_board(Path(program), board, calls)]
    facts = {
        "pytorch": float(model.measure(in_float)),
        "board": float(model.measure(there)),
    }
    print(json.dumps(facts))


if __name__ == "__main__":
    main(*sys.argv[1:])
