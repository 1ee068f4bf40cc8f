"""A job is tried out: linked in a scratch folder that is removed, or not linked."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from ember.build import flow, jobs, placing
from ember.build.assumed import Assumed
from ember.build.estimate import Estimate
from ember.build.jobs import Job
from ember.build.occupied import Occupied
from ember.plan.improved import Chosen
from ember.plan.regions import room
from ember.toolchain import linker
from ember.toolchain.libraries import Libraries
from ember.toolchain.tools import MissingToolError


def estimate(job: Job, chosen: Sequence[Chosen]) -> Estimate:
    """The linked estimate; an assumed one where the tools to link are missing."""
    try:
        libs = jobs.libraries_of(job.board, job.options)
        return linked(job, chosen, libs)
    except MissingToolError as error:
        return assumed(job, chosen, error.what)


def linked(job: Job, chosen: Sequence[Chosen], libs: Libraries) -> Estimate:
    """The estimate that `ember build` makes."""
    with tempfile.TemporaryDirectory(prefix="ember-estimate-") as temporary:
        folder, scratch = Path(temporary) / "build", Path(temporary) / "objects"
        folder.mkdir()
        scratch.mkdir()
        return flow.settle(folder, job, chosen, libs, scratch)


def assumed(
    job: Job, chosen: Sequence[Chosen], reason: str, *, spread: bool = True
) -> Estimate:
    """Without a link, because of `reason`: code and stack are guesses."""
    stack = job.options.stack or linker.DEFAULT_STACK
    placed = placing.place(job, chosen, Assumed(stack, spread=spread))
    guess = room.guessed(job.board)
    model = {plan.weights: plan.model_bytes for plan in placed.plans}
    memories = []
    for facts in placed.facts["memories"]:
        name = facts["name"]
        pieces = {"room for code and variables": guess.get(name, 0)}
        pieces["the model"] = model.get(name, 0)
        pieces["the stack"] = stack if name == placed.plans[0].stack_memory else 0
        used = facts["used"] + guess.get(name, 0)
        pieces = {what: size for what, size in pieces.items() if size}
        memories.append(Occupied(name, facts["capacity"], used, pieces))
    return Estimate(job, placed, tuple(memories), reason=reason)
