"""Models and a board become an answer: does it fit, what is largest, what would help.

The figures are those of firmware that is linked as `ember build` does (pipeline.py).
Without a link, `linked` is false: they leave out code and assume a stack. Where kernels
are missing or cannot be asked for their needs, the plan covers what the program itself
says, and `resolved` is false.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ember import boards, progress
from ember.boards import Board
from ember.errors import SdkError, UsageError
from ember.files.tensors import DType
from ember.firmware import jobs, repack
from ember.firmware.advice import gains, refusal
from ember.firmware.jobs import Job, Options
from ember.firmware.linking import Estimate
from ember.firmware.pipeline import Pipeline
from ember.kernels import KernelList
from ember.model import Model
from ember.plan import effects, occupancy, offsets
from ember.plan.improved import Chosen, Improved
from ember.plan.passes import execute, in_place, rows
from ember.plan.regions import prefixes
from ember.plan.replan import Replanned, replan
from ember.plan.rows import forms, row_regions
from ember.program import Method, Program, edit, types
from ember.select.resolve import MethodNeeds
from ember.select.selection import Selection

_SHRINKS = 4  # int8 instead of float32


def of(files: Sequence[Path], board: Board, options: Options) -> dict[str, Any]:
    """The answer, as JSON."""
    job = jobs.read(files, board, options, options.app)
    began = time.process_time()
    pipeline, missing = _chosen(job)
    chosen = pipeline.chosen
    seconds = time.process_time() - began
    with progress.doing(f"planning {', '.join(model.name for model in job.models)}"):
        estimate = _estimate(pipeline, missing)
    spent = sum(model.pass_seconds for model, _ in chosen)
    answer = estimate.to_json() | {
        "resolved": missing is None,
        "seconds": seconds - spent + estimate.placed.seconds,
        "pass_seconds": spent,
    }
    if missing is not None:
        answer |= {"reason": missing.what, "hint": missing.hint}
    known = options.rules.known
    shown = estimate.placed.selected.pairs if estimate.fits else chosen
    methods = [
        (model, method) for model, selection in shown for method in selection.methods
    ]
    answer["methods"] = occupancy.of_all(methods, known)
    _locate(answer, methods, board)
    answer["rows"] = []
    if options.rows != "off":
        answer["rows"] = row_regions_of(job, [model for model, _ in shown])
    if estimate.fits:
        answer |= _gains(estimate)
    else:
        answer |= refusal.of(estimate)
    if not estimate.fits or missing is not None:
        answer["int8"] = _as_int8([model for model, _ in chosen])
    return answer


def _locate(
    answer: dict[str, Any], methods: Sequence[tuple[Improved, Method]], board: Board
) -> None:
    """Name the board's memory of each planned memory, and its capacity."""
    regions = {row["name"]: row["memory"] for row in answer.get("regions", ())}
    sizes = {memory.name: memory.size for memory in board.memories}
    names = prefixes([method for _, method in methods])
    planned = [
        name
        for name, (model, method) in zip(names, methods, strict=True)
        if model.replanned.get(method.name) is not None
    ]
    for name, facts in zip(planned, answer["methods"], strict=True):
        for memory in facts["memories"]:
            region = f"planned_{memory['id']}"
            where = regions.get(f"{name}_{region}", regions.get(f"shared_{region}"))
            memory |= {"memory": where, "capacity": sizes.get(where or "")}


def _gains(estimate: Estimate) -> dict[str, Any]:
    """What placements cost, code's among them, and what moving them would save."""
    traffic: dict[str, Any] = estimate.placed.facts["traffic"]
    placements = traffic.get("placements", [])
    kernels = gains.code_costs(estimate)
    saving = gains.of(estimate, kernels, placements)
    members = gains.members_of(estimate)
    code = gains.code_placements(members, kernels) if members is not None else []
    waiting = round(sum(cost.cycles[cost.memory] for cost in kernels))
    saved = max((gain.saved for gain in saving), default=0)
    return {
        "traffic": traffic | {"placements": [*code, *placements]},
        "code": {
            "cycles": waiting,
            "least": waiting - saved,
            "kernels": [cost.to_json() for cost in kernels],
        },
        "gains": [gain.to_json() for gain in saving],
    }


def _chosen(job: Job) -> tuple[Pipeline, SdkError | None]:
    """With models and their kernels; no kernels, and why, where some are missing."""
    pipeline = Pipeline(job)
    try:
        pipeline.check()
    except UsageError:
        raise
    except SdkError as error:
        chosen = [_without_kernels(model, job) for model in job.models]
        return Pipeline(job, chosen), error
    return pipeline, None


def _without_kernels(model: Model, job: Job) -> Chosen:
    """What a program says by itself: no method arena, no scratch."""
    known, passes = job.options.rules.known, job.options.passes
    improved = repack.repack(model, known, passes, job.board)
    methods = improved.program.methods
    needs = [
        MethodNeeds(index, (), (), arena=0, temp=0, slots=0, changing=False)
        for index in range(len(methods))
    ]
    return Chosen(improved, Selection(methods, tuple(needs), {}, (), {}, known))


def _estimate(pipeline: Pipeline, missing: SdkError | None) -> Estimate:
    """The linked estimate; an assumed one where the tools to link are missing."""
    if missing is not None:  # nor is anything spread: that needs the kernels' accesses
        return pipeline.assumed("kernels are missing", spread=False)
    return pipeline.estimate()


def _as_int8(models: Sequence[Improved]) -> dict[str, int]:
    """Activations and constants if every float32 were int8; the instructions stay."""
    plans = [plan for model in models for plan in model.replanned.values()]
    constants = 0
    for model in models:
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


# ---- rows ----------------------------------------------------------------------------


def row_regions_of(job: Job, models: Iterable[Improved]) -> list[dict[str, Any]]:
    """Of each model that has regions, or would have some with `--rows smallest`. What
    is only proposed was not run, and is only told."""
    return [facts for model in models for facts in _row_regions(job, model)]


def _row_regions(job: Job, model: Improved) -> Iterator[dict[str, Any]]:
    known = job.options.rules.known
    if model.stock is None:
        return
    keep = repack.shared(model.program, known)
    if model.has_rows:
        yield _row_facts(model, model.program, known) | {"used": True, "saved": 0}
        return
    here = execute.Computer(boards.computer(job.board), known, repack.no_runner)
    plain = replace(
        model.program,
        methods=tuple(map(effects.without_scratch, model.program.methods)),
    )
    proposals = rows.apply(edit.draft(plain), here, keep)
    if not proposals:
        return
    best = min(
        (each for draft in proposals for each in _late(draft, here, keep)),
        key=lambda program: _planned_bytes(program, known, keep),
    )
    after = _planned_bytes(best, known, keep) + _scratch(model.program)
    saved = _planned_bytes(model.program, known, keep) - after
    if saved > 0:
        yield _row_facts(model, best, known) | {"used": False, "saved": saved}


def _late(
    draft: edit.Draft, here: execute.Computer, keep: frozenset[int]
) -> Iterator[Program]:
    """A proposal, and what the passes after that of rows may make of it."""
    yield draft.program
    yield from (later.program for later in in_place.apply(draft, here, keep))


def _planned_bytes(program: Program, known: KernelList, keep: frozenset[int]) -> int:
    return sum(
        replan(method, known, keep, check=False).planned for method in program.methods
    )


def _scratch(program: Program) -> int:
    """Bytes of scratch in the plans of methods, at most at a time in each: with rows
    it may have a place beside all else."""
    return sum(
        max(
            (
                _tensor_bytes(method.values[v])
                for v in effects.scratch_of(method).values()
            ),
            default=0,
        )
        for method in program.methods
    )


def _row_facts(model: Improved, program: Program, known: KernelList) -> dict[str, Any]:
    regions = [
        (method, region)
        for method in program.methods
        for region in row_regions.regions(method)
    ]
    return {
        "model": model.name,
        "over": sum(len(forms.over_calls(method, known)) for method in program.methods),
        "regions": [
            {
                "method": method.name,
                "first": region.enter,
                "last": region.rows,
                "layers": region.rows - region.enter - 1,
                "slab": _tensor_bytes(method.values[region.slab]),
                "table": _tensor_bytes(method.values[region.table]),
            }
            for method, region in regions
        ],
    }


def _tensor_bytes(value: types.Value) -> int:
    return value.nbytes if isinstance(value, types.Tensor) else 0


def rows_summary(facts: dict[str, Any]) -> str:
    """One line for people."""
    regions = facts["regions"]
    tables = sum(region["table"] for region in regions)
    count = _count(sum(region["layers"] for region in regions))
    over = _count(facts["over"])
    if facts["used"]:
        slab = max((region["slab"] for region in regions), default=0)
        return (
            f"rows: {count} of {facts['model']} run row by row, with line buffers of"
            f" up to {slab:,} bytes and {tables:,} bytes of tables; {over} over"
            " their inputs"
        )
    return (
        f"rows: `--rows smallest` would save {facts['saved']:,} bytes of activations of"
        f" {facts['model']}: {count} row by row, {tables:,} bytes of tables; {over}"
        " over their inputs"
    )


def _count(layers: int) -> str:
    return "1 layer" if layers == 1 else f"{layers} layers"
