"""A job becomes firmware: improved, chosen, placed, packed, compiled, linked.

Each stage is a module of this room; its record holds the one before. There is one loop:
placing assumes sizes of stack, code and variables that are known only after the link.
It ends when the link takes no more than was assumed, or when the board is too small.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ember.build import certificate, choosing, packing, placing
from ember.build.assumed import Assumed
from ember.build.estimate import Estimate
from ember.build.jobs import Job
from ember.build.linking import Linking
from ember.plan.improved import Chosen
from ember.plan.memories import NoRoomByRulesError
from ember.toolchain.libraries import Libraries


def settle(
    folder: Path, job: Job, chosen: Sequence[Chosen], libs: Libraries, scratch: Path
) -> Estimate:
    """The package in `folder`; in `scratch` the objects, and firmware.elf where it
    fits: if need be with layers that run row by row, unless the job forbids that."""
    estimate = _settled(folder, job, chosen, libs, scratch)
    if estimate.fits or job.options.rows != "fit":
        return estimate
    smaller = replace(job, options=replace(job.options, rows="smallest"))
    by_rows = choosing.choose(smaller)
    if not any(model.has_rows for model, _ in by_rows):
        return estimate
    try:
        other = _settled(folder, smaller, by_rows, libs, scratch)
    except NoRoomByRulesError:
        other = estimate
    return other if other.fits else _settled(folder, job, chosen, libs, scratch)


def chosen_for(
    estimate: Estimate, job: Job, chosen: Sequence[Chosen]
) -> Sequence[Chosen]:
    """What an estimate was made of: `chosen`, or the same with regions of rows."""
    if estimate.job.options.rows == job.options.rows:
        return chosen
    return choosing.choose(replace(job, options=estimate.job.options))


def _settled(
    folder: Path, job: Job, chosen: Sequence[Chosen], libs: Libraries, scratch: Path
) -> Estimate:
    linking = Linking(folder, job, libs, scratch)
    first = assumed = Assumed(job.options.stack or certificate.first_stack(job.board))
    while True:
        try:
            placed = placing.place(job, chosen, assumed)
        except NoRoomByRulesError:  # a rule of the project has no room for a guess
            if assumed.linked is not None:
                raise
            assumed = replace(assumed, linked={})
            continue
        packed = packing.pack(folder, job, placed)
        compiled = linking.compile(packed)
        if compiled.stack.bytes > assumed.stack:
            assumed = replace(assumed, stack=compiled.stack.bytes)
            continue
        memories = linking.link(compiled, packed)
        estimate = Estimate(job, placed, memories, packed, compiled)
        if estimate.fits and not placed.shortages:
            return estimate
        if not assumed.covers(estimate.linked):
            assumed = assumed.grown(estimate.linked)
        elif assumed.spread and not job.options.steering:
            # Once more without copies, which stack and code pay for.
            assumed = replace(assumed, spread=False, stack=first.stack)
        else:
            return estimate
