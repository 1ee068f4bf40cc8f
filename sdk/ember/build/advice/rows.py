"""Packed models become what regions of rows take, or would save."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from ember import boards
from ember.build import repack
from ember.build.jobs import Job
from ember.kernels import KernelList
from ember.plan import own_scratch
from ember.plan.improved import Improved
from ember.plan.passes import edit, execute, in_place, rows
from ember.plan.replan import replan
from ember.plan.rows import forms, row_regions
from ember.program import Program, types


def of(job: Job, models: Iterable[Improved]) -> list[dict[str, Any]]:
    """Of each model that has regions, or would have some with `--rows smallest`. What
    is only proposed was not run, and is only told."""
    return [facts for model in models for facts in _of(job, model)]


def _of(job: Job, model: Improved) -> Iterator[dict[str, Any]]:
    known = job.options.rules.known
    if model.stock is None:
        return
    keep = repack.shared(model.program, known)
    if model.has_rows:
        yield _facts(model, model.program) | {"used": True, "saved": 0}
        return
    here = execute.Computer(boards.computer(job.board), known, repack.no_runner)
    plain = replace(
        model.program, methods=tuple(map(own_scratch.without, model.program.methods))
    )
    proposals = rows.apply(edit.draft(plain), here, keep)
    if not proposals:
        return
    best = min(
        (each for draft in proposals for each in _late(draft, here, keep)),
        key=lambda program: _planned(program, known, keep),
    )
    after = _planned(best, known, keep) + _scratch(model.program)
    saved = _planned(model.program, known, keep) - after
    if saved > 0:
        yield _facts(model, best) | {"used": False, "saved": saved}


def _late(
    draft: edit.Draft, here: execute.Computer, keep: frozenset[int]
) -> Iterator[Program]:
    """A proposal, and what the passes after that of rows may make of it."""
    yield draft.program
    yield from (later.program for later in in_place.apply(draft, here, keep))


def _planned(program: Program, known: KernelList, keep: frozenset[int]) -> int:
    return sum(
        replan(method, known, keep, check=False).planned for method in program.methods
    )


def _scratch(program: Program) -> int:
    """Bytes of scratch that lies in the plans of methods, at most at a time in each:
    with rows it may lie beside all else."""
    return sum(
        max(
            (_size(method.values[v]) for v in own_scratch.covered(method).values()),
            default=0,
        )
        for method in program.methods
    )


def _facts(model: Improved, program: Program) -> dict[str, Any]:
    regions = [
        (method, region)
        for method in program.methods
        for region in row_regions.regions(method)
    ]
    return {
        "model": model.name,
        "over": sum(len(forms.over_calls(method)) for method in program.methods),
        "regions": [
            {
                "method": method.name,
                "first": region.enter,
                "last": region.rows,
                "layers": region.rows - region.enter - 1,
                "slab": _size(method.values[region.slab]),
                "table": _size(method.values[region.table]),
            }
            for method, region in regions
        ],
    }


def _size(value: types.Value) -> int:
    return value.nbytes if isinstance(value, types.Tensor) else 0


def summary(facts: dict[str, Any]) -> str:
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
