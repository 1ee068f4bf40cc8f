#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Committed programs of one call, with random other shapes, against the bounds of work.

A kernel's factor (tools/bench work) comes from the shapes of committed programs. This
draws others, empty ones too, runs those that a kernel takes, with zeros for inputs, and
names each that took more instructions than its factor allows.

    python tools/sweep_work.py FOLDER [--board NAME] [--each N] [--seed N]
"""

from __future__ import annotations

import argparse
import json
import math
import random
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "sdk"), str(ROOT / "tools")]

from benchmarks import work  # noqa: E402

from ember import boards, cases, program  # noqa: E402
from ember.errors import SdkError  # noqa: E402
from ember.files.tensors import DType  # noqa: E402
from ember.program import Method, Program, types  # noqa: E402
from ember.run import testing  # noqa: E402
from ember.select import resolve  # noqa: E402

SIZES = (0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17, 20, 31, 33, 40, 64, 100)
NUMBERS = (-1, 0, 1, 2, 3, 7, 1000)
MOST_STEPS, MOST_BYTES = 20_000, 400_000
BATCH = 60  # methods that the loader is asked about at once
ELEMENT = 8  # bytes, at most


def committed() -> Iterator[tuple[str, Method]]:
    for found in cases.find([ROOT / "tests" / folder for folder in work.FOLDERS]):
        methods = cases.read(found).program.methods
        calls = [each for method in methods for each in method.instructions]
        if len(methods) == 1 and [type(call) for call in calls] == [types.KernelCall]:
            yield found.name.replace("/", "_"), methods[0]


def other(method: Method) -> Method | None:
    """The method with each size replaced by another, also where a list names it, and
    some other integers; constants become inputs. None: it is too large."""
    sizes = {size for _, tensor in method.tensors for size in tensor.sizes}
    kept = random.random()
    drawn = {n: n if random.random() < kept else random.choice(SIZES) for n in sizes}
    listed = {
        item
        for value in method.values
        if isinstance(value, types.IntList)
        for item in value.items
    }
    values: list[types.Value] = []
    end = 0
    for index, value in enumerate(method.values):
        values.append(_drawn(value, drawn, end, is_listed=index in listed))
        if isinstance(values[-1], types.Tensor):
            end += max(16, -(-math.prod(values[-1].sizes) * ELEMENT // 16) * 16)
    inputs = [index for index, _ in method.tensors if index not in method.outputs]
    if end > MOST_BYTES:
        return None
    return replace(
        method,
        values=tuple(values),
        inputs=tuple(inputs),
        planned_sizes=(0, max(end, 16)),
    )


def _drawn(
    value: types.Value, drawn: dict[int, int], end: int, *, is_listed: bool
) -> types.Value:
    if isinstance(value, types.Tensor):
        shape = tuple(drawn[size] for size in value.sizes)
        place = types.Allocation(1, end)
        return types.Tensor(value.dtype, shape, value.dim_order, 0, place)
    if isinstance(value, types.Int) and is_listed:
        return types.Int(drawn.get(value.value, value.value))
    if isinstance(value, types.Int) and random.random() < 0.1:
        return types.Int(random.choice(NUMBERS))
    return value


def taken(methods: list[Method]) -> list[bool]:
    """Whether the loader takes each, and its bound is small enough to run."""
    named = (replace(method, name=f"m{i}") for i, method in enumerate(methods))
    content = program.write(Program(methods=tuple(named), constants=(b"",)))
    try:
        found = resolve.resolve(content, (), boards.load("host"), range(len(methods)))
    except SdkError:  # which of them, the loader does not say
        half = len(methods) // 2
        return [False] if half == 0 else taken(methods[:half]) + taken(methods[half:])
    return [
        not needs.gaps and not needs.unsized and needs.steps <= MOST_STEPS
        for needs in found.methods
    ]


def write(folder: Path, method: Method) -> None:
    folder.mkdir(parents=True)
    content = program.write(Program(methods=(method,), constants=(b"",)))
    (folder / "model.pte").write_bytes(content)
    names = [f"{index}.npy" for index in method.inputs]
    dtypes = {}
    for name, tensor in zip(names, method.input_tensors, strict=True):
        np.save(folder / name, np.zeros(tensor.sizes, tensor.dtype.numpy))
        if tensor.dtype is DType.BFLOAT16:
            dtypes[name] = "bfloat16"
    run = {"method": method.name, "inputs": names, "outputs": []}
    case = {"dtypes": dtypes, "runs": [run]}
    (folder / "case.json").write_text(json.dumps(case), encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--board", default="mps2-an386")
    parser.add_argument("--each", type=int, default=6, help="draws of each program")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    random.seed(options.seed)
    drawn = [
        (f"{name}_{turn}", method)
        for name, first in committed()
        for turn in range(options.each)
        if (method := other(first)) is not None
    ]
    for start in range(0, len(drawn), BATCH):
        batch = drawn[start : start + BATCH]
        for (name, method), is_taken in zip(
            batch, taken([method for _, method in batch]), strict=True
        ):
            if is_taken:
                write(options.folder / name, method)
    board = boards.load(options.board)
    outcomes = testing.test(cases.find([options.folder]), [board], jobs=1)
    ran = [outcome for outcome in outcomes if outcome.instructions and outcome.work]
    over = work.over(ran, work.factors()[board.name])
    print(*over, f"{len(over)} of {len(ran)} are above their bounds", sep="\n")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
