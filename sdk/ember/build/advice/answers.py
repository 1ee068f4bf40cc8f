"""Models and a board become an answer: does it fit, what is largest, what would help.

The figures are those of firmware that is linked as `ember build` does (flow.py).
Without a link, `linked` is false: they leave out code and assume a stack. Where kernels
are missing or cannot be asked for their needs, the plan covers what the program itself
says, and `resolved` is false.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ember import model as models
from ember import progress
from ember.boards import Board
from ember.build import choosing, jobs
from ember.build.advice import code_costs, gains, refusal, rows, trials
from ember.build.estimate import Estimate
from ember.build.jobs import Job, Options
from ember.build.repack import repack
from ember.errors import SdkError, UsageError
from ember.files.tensors import DType
from ember.model import Model
from ember.plan import occupancy, offsets
from ember.plan.improved import Chosen, Improved
from ember.plan.replan import Replanned
from ember.program import types
from ember.select.resolve import MethodNeeds
from ember.select.selection import Selection

_SHRINKS = 4  # int8 instead of float32


def of(files: Sequence[Path], board: Board, options: Options) -> dict[str, Any]:
    """The answer, as JSON."""
    read = [models.read(path) for path in files]  # what cannot be read is no answer
    job = jobs.make(read, board, options, jobs.app_of(options.app))
    began = time.process_time()
    pairs, missing = _chosen(job)
    seconds = time.process_time() - began
    with progress.doing(f"planning {', '.join(model.name for model in read)}"):
        estimate = _estimate(job, pairs, missing)
    spent = sum(model.pass_seconds for model, _ in pairs)
    answer = estimate.to_json() | {
        "resolved": missing is None,
        "seconds": seconds - spent + estimate.placed.seconds,
        "pass_seconds": spent,
    }
    if missing is not None:
        answer |= {"reason": missing.what, "hint": missing.hint}
    known = options.rules.known
    shown = estimate.placed.selected.pairs if estimate.fits else pairs
    methods = ((model, method) for model, chosen in shown for method in chosen.methods)
    answer["methods"] = occupancy.of_all(methods, known)
    answer["rows"] = []
    if options.rows != "off":
        answer["rows"] = rows.of(job, [model for model, _ in shown])
    if estimate.fits:
        answer |= _gains(estimate)
    else:
        answer |= refusal.of(estimate, pairs)
    if not estimate.fits or missing is not None:
        answer["int8"] = _as_int8([model for model, _ in pairs])
    return answer


def _gains(estimate: Estimate) -> dict[str, Any]:
    """What placements cost, code's among them, and what moving them would save."""
    traffic: dict[str, Any] = estimate.placed.facts["traffic"]
    rows = traffic.get("placements", [])
    kernels = code_costs.of(estimate)
    saving = gains.of(estimate, kernels, rows)
    members = code_costs.members_of(estimate)
    code = code_costs.placements(members, kernels) if members is not None else []
    waiting = round(sum(cost.cycles[cost.memory] for cost in kernels))
    saved = max((gain.saved for gain in saving), default=0)
    return {
        "traffic": traffic | {"placements": [*code, *rows]},
        "code": {
            "cycles": waiting,
            "least": waiting - saved,
            "kernels": [cost.to_json() for cost in kernels],
        },
        "gains": [gain.to_json() for gain in saving],
    }


def _chosen(job: Job) -> tuple[Sequence[Chosen], SdkError | None]:
    """Packed models and their kernels; no kernels, and why, where some are missing."""
    try:
        return choosing.choose(job), None
    except UsageError:
        raise
    except SdkError as error:
        return [_without_kernels(model, job) for model in job.models], error


def _without_kernels(model: Model, job: Job) -> Chosen:
    """What a program says by itself: no method arena, no scratch."""
    known, passes = job.options.rules.known, job.options.passes
    packed = repack(model, known, passes, job.board)
    methods = packed.program.methods
    needs = [
        MethodNeeds(index, (), (), arena=0, temp=0, slots=0, changing=False)
        for index in range(len(methods))
    ]
    return Chosen(packed, Selection(methods, tuple(needs), {}, (), {}, known))


def _estimate(job: Job, pairs: Sequence[Chosen], missing: SdkError | None) -> Estimate:
    """The linked estimate; an assumed one where the tools to link are missing."""
    if missing is not None:  # nor is anything spread: that needs the kernels' accesses
        return trials.assumed(job, pairs, "kernels are missing", spread=False)
    return trials.estimate(job, pairs)


def _as_int8(packed: Sequence[Improved]) -> dict[str, int]:
    """Activations and constants if every float32 were int8; the instructions stay."""
    plans = [plan for model in packed for plan in model.replanned.values()]
    constants = 0
    for model in packed:
        sizes = {
            value.data_index: value.nbytes // _shrinks(value)
            for method in model.program.methods
            for _, value in method.tensors
            if value.is_constant
        }
        constants += sum(sizes.values())
    return {
        "activations": sum(map(_planned_as_int8, plans)),
        "constants": constants,
    }


def _planned_as_int8(plan: Replanned) -> int:
    total = sum(plan.method.planned_sizes)
    for number in plan.packed:
        buffers = []
        for placed in plan.placed:
            if placed.memory_id == number:
                values = (plan.method.values[value] for value in placed.storage.values)
                least = min(map(_shrinks, values))
                buffer = placed.storage.buffer()
                buffers.append(replace(buffer, size=-(-buffer.size // least)))
        total += offsets.place(buffers).height - plan.method.planned_sizes[number]
    return total


def _shrinks(value: types.Value) -> int:
    is_float = isinstance(value, types.Tensor) and value.dtype is DType.FLOAT32
    return _SHRINKS if is_float else 1
