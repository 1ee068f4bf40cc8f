# SPDX-License-Identifier: Apache-2.0
"""Scratch is in the holes of a plan, and nowhere else."""

from __future__ import annotations

from dataclasses import replace

import pytest
from row_networks import mobilenet_v1
from small_programs import KNOWN

from ember import boards, program
from ember.firmware import Options, jobs
from ember.firmware.pipeline import Pipeline
from ember.model.steering import Steering
from ember.plan import check, effects
from ember.plan.improved import Chosen
from ember.program import Method, Program, types
from ember.select import resolve

BOARD = "mps2-an386"


def chosen(options: Options | None = None) -> Chosen:
    board = boards.load(BOARD)
    job = jobs.make((mobilenet_v1(0.25, 32),), board, options or Options(), None)
    (pair,) = Pipeline(job).chosen
    return pair


def moved(whole: Program, value: int, offset: int) -> Program:
    """With a tensor at another place."""
    (method,) = whole.methods
    tensor = method.values[value]
    assert isinstance(tensor, types.Tensor) and tensor.allocation is not None
    values = list(method.values)
    place = replace(tensor.allocation, offset=offset)
    values[value] = replace(tensor, allocation=place)
    return replace(whole, methods=(replace(method, values=tuple(values)),))


def offset_of(method: Method, value: int) -> int:
    tensor = method.values[value]
    assert isinstance(tensor, types.Tensor) and tensor.allocation is not None
    return tensor.allocation.offset


@pytest.mark.parametrize("rows", ["off", "smallest"])
def test_all_scratch_lies_in_planned_memory(rows: str) -> None:
    beside = chosen(
        Options(rows=rows, steering=Steering(align={"scratch": 16}))  # type: ignore[arg-type]
    )
    inside = chosen(Options(rows=rows))  # type: ignore[arg-type]
    (before,), (after,) = beside.model.program.methods, inside.model.program.methods
    assert beside.selection.scratch > 0
    assert inside.selection.scratch == 0
    assert after.planned_bytes < before.planned_bytes + beside.selection.scratch
    covered = effects.scratch_of(after)
    for call in inside.selection.needs[0].calls:
        if call.scratch:
            tensor = after.values[covered[call.instruction]]
            assert isinstance(tensor, types.Tensor)
            assert tensor.nbytes >= call.scratch


def test_scratch_over_a_tensor_of_its_call_is_found_and_refused() -> None:
    model = chosen().model
    (method,) = model.program.methods
    detected = refused = 0
    for index, scratch in effects.scratch_of(method).items():
        call = method.instructions[index]
        assert isinstance(call, types.KernelCall)
        over = offset_of(method, call.args[0])
        if offset_of(method, scratch) == over:
            continue
        wrong = moved(model.program, scratch, over)
        detected += bool(check.problems(model.program, wrong, KNOWN))
        content = program.write(wrong)
        answer = resolve.resolve(content, (), boards.load(BOARD), [0], known=KNOWN)
        gaps = {gap.message for gap in answer.methods[0].gaps}
        refused += "call: a tensor is in its scratch" in gaps
        if detected > 3:
            break
    assert detected == refused > 3


def test_scratch_of_a_program_may_be_taken_out_again() -> None:
    (method,) = chosen().model.program.methods
    plain = effects.without_scratch(method)
    assert effects.scratch_of(method)
    assert not effects.scratch_of(plain)
    assert len(plain.instructions) < len(method.instructions)
