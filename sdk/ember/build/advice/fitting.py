"""A job becomes placed models at once where there is ample room, else by a link.

Used before there is firmware: for a new project, or sources for another build system.
Refuses only what `ember build` refuses, in the same words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ember.boards import Board
from ember.build import choosing, flow, placing
from ember.build.advice import refusal, trials
from ember.build.assumed import Assumed
from ember.build.estimate import Estimate
from ember.build.jobs import Job
from ember.build.placing import Placed
from ember.errors import SdkError
from ember.plan.improved import Chosen
from ember.plan.memories import NoRoomByRulesError
from ember.toolchain import linker


def place(job: Job, chosen: Sequence[Chosen], board: Board) -> Placed:
    """The models of `job`, whose board may have some memories of `board` only."""
    guess = Assumed(job.options.stack or linker.DEFAULT_STACK)
    try:
        placed = placing.place(job, chosen, guess)
        if not placed.shortages:
            return placed
    except NoRoomByRulesError:
        pass  # a rule of the project has no room for a guess
    estimate = _linked(job, board)
    if job.board is board:
        return estimate.placed
    settled = Assumed(estimate.stack, estimate.linked, spread=False)
    chosen = flow.chosen_for(estimate, job, chosen)
    return placing.place(job, chosen, settled)


def _linked(job: Job, board: Board) -> Estimate:
    """Linked as by `ember build` for `board`, but in the memories of the job."""
    part = board.model_copy(update={"memories": job.board.memories})
    estimate = _estimate(job, part)
    if estimate.fits:
        return estimate
    whole = estimate if job.board is board else _estimate(job, board)
    if whole.fits:
        raise _more_memories(job, board, estimate)
    raise refusal.error(whole, choosing.choose(whole.job), prepared=False)


def _estimate(job: Job, board: Board) -> Estimate:
    there = replace(job, board=board)
    return trials.estimate(there, choosing.choose(there))


def _more_memories(job: Job, board: Board, estimate: Estimate) -> SdkError:
    names = ", ".join(model.name for model in job.models)
    memories = " and ".join(memory.name for memory in job.board.memories)
    lacking = ", ".join(
        linker.lacking(shortage.memory, shortage.needed, shortage.capacity)
        for shortage in estimate.shortages
    )
    return SdkError(
        f"{names} fits {board.name} only with other memories than {memories}, which"
        f" sources are planned for: {lacking}",
        hint="use `ember build`, or `ember pack` with CMake: they use every memory",
    )
