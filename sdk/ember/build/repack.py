"""A model becomes a smaller one: passes, memory planned anew, nothing unused.

What it writes is a valid ET12 program that computes the same, here and in ExecuTorch.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ember import program
from ember.boards import Board
from ember.build import runner
from ember.kernels import KernelList
from ember.kernels.rules import Rules
from ember.model import Model
from ember.plan import check as plan_check
from ember.plan import lifetimes, trim
from ember.plan.improved import Improved
from ember.plan.passes.improve import improve
from ember.plan.replan import replan
from ember.program import Program


def repack(
    model: Model,
    known: KernelList,
    passes: Sequence[str] = (),
    board: Board | None = None,
) -> Improved:
    """`model` packed, after `passes` for a board; as it is when it calls an operator
    that is not in `known`, which choosing kernels then tells with every other gap."""
    methods = model.program.methods
    if any(name not in known.operators for m in methods for name in m.operator_names):
        return Improved.of(model)
    keep = _shared(model.program, known)
    began = time.process_time()
    packed = _packed(model, known, keep)
    planned = time.process_time()
    passed = improve(packed, known, passes, board, keep, host_runner)
    seconds = time.process_time() - planned
    if passed.draft.program is not packed.program:
        seconds += planned - began  # the plan that passes start from
        again = replace(packed, program=passed.draft.program)
        packed = _with_stock(_packed(again, known, keep), packed)
    return replace(
        packed,
        origins=passed.draft.origins,
        passes=passed.outcomes,
        pass_seconds=seconds,
    )


def host_runner(board: Board, rules: Rules) -> Path:
    """Firmware that runs programs, with every kernel that the rules allow."""
    return runner.general(board, rules=rules)


def _packed(model: Model, known: KernelList, keep: frozenset[int]) -> Improved:
    methods = model.program.methods
    plans = {one.name: replan(one, known, keep) for one in methods}
    packed = trim.trimmed(
        replace(model.program, methods=tuple(plans[one.name].method for one in methods))
    )
    plans = {one.name: replace(plans[one.name], method=one) for one in packed.methods}
    if packed == model.program:
        packed = model.program  # which is written already
    content = program.content(packed)
    plan_check.check(model.program, program.parse(content), known)
    return replace(
        Improved.of(model),
        content=content,
        program=packed,
        stock=model.program,
        replanned=plans,
    )


def _with_stock(model: Improved, before: Improved) -> Improved:
    """What was found in the program as it was read, of a model packed again."""
    plans = {
        name: replace(
            one,
            stock=before.replanned[name].stock,
            conflict=before.replanned[name].conflict,
        )
        for name, one in model.replanned.items()
    }
    return replace(model, stock=before.stock, replanned=plans)


def _shared(one: Program, known: KernelList) -> frozenset[int]:
    """Of several methods the memories, but the first, in which one keeps state: the
    others may share it."""
    if len(one.methods) == 1:
        return frozenset()
    return frozenset(
        storage.memory_id
        for method in one.methods
        for storage in lifetimes.of(method, known).storages
        if storage.is_state and storage.memory_id > 1
    )
