"""A model becomes a smaller one: passes, memory planned anew, nothing unused.

The result is a valid ET12 program that computes the same, here and in ExecuTorch.
"""

from __future__ import annotations

import operator
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ember import boards, program
from ember.boards import Board
from ember.build import runner
from ember.errors import SdkError, problem_list
from ember.kernels import KernelList
from ember.kernels.rules import Rules
from ember.model import Model
from ember.plan import check as plan_check
from ember.plan import effects, lifetimes, trim
from ember.plan.check import rows as check_rows
from ember.plan.improved import Improved
from ember.plan.passes import FED, channels
from ember.plan.passes.edit import Draft
from ember.plan.passes.execute import Computer, Executable, FirmwareOf
from ember.plan.passes.improve import improve
from ember.plan.replan import Replanned, replan
from ember.plan.rows import fed, row_regions
from ember.program import Method, Program, remembered

Scratch = Mapping[str, Mapping[int, int]]


def repack(
    model: Model,
    known: KernelList,
    passes: Sequence[str] = (),
    board: Board | None = None,
    scratch: Scratch | None = None,
    sided: Scratch | None = None,
) -> Improved:
    """`model`, packed after `passes` for a board, on which calls have `scratch` bytes,
    by method and index, `sided` where their rows have the columns beside the image.

    It stays as it is when it calls an operator that is not `known`: choosing kernels
    reports that with every other gap.
    """
    methods = model.program.methods
    if any(name not in known.operators for m in methods for name in m.operator_names):
        return Improved.of(model)
    keep = shared(model.program, known)
    began = time.process_time()
    first = last = _Packed.of(model.program, known, keep)
    planned = time.process_time()
    here = Computer(
        boards.computer(board),
        known,
        _runner_of(model, passes),
        model.data,
        scratch or {},
        sided or {},
    )
    reference = first.reference(model)
    passed = improve(model, first.program, reference, here, passes, keep)
    if FED in passes:
        passed = replace(passed, draft=_fed(model, passed.draft, known))
    seconds = time.process_time() - planned
    before = passed.draft.program
    if before is first.program:
        before = model.program
    else:
        seconds += planned - began  # the plan that passes start from
        plan_check.check(model.program, first.program, known)
        last = _Packed.of(before, known, keep, check=False).with_stock(first)
    _forget((*methods, *first.program.methods), last.program.methods)
    plan_check.check(before, program.read_back(last.program), known)
    return replace(
        Improved.of(model),
        content=program.content(last.program),
        program=last.program,
        stock=model.program,
        replanned=last.plans,
        origins=passed.draft.origins,
        passes=passed.outcomes,
        pass_seconds=seconds,
    )


def _forget(methods: Iterable[Method], but: Sequence[Method]) -> None:
    """What was found out about methods goes, except about those that count from now
    on."""
    for method in methods:
        if all(method is not each for each in but):
            remembered.forget(method)


def again(model: Improved, after: Program, known: KernelList) -> Improved:
    """The model as `after`, whose calls have other constants, planned and trimmed."""
    if model.stock is None:
        last = trim.trimmed(after)
        return replace(model, program=last, content=program.content(last))
    keep = shared(model.program, known)
    packed = _Packed.of(after, known, keep, check=False)
    plan_check.check(after, program.read_back(packed.program), known)
    plans = packed.with_stock(_Packed(model.program, model.replanned)).plans
    return replace(
        model,
        program=packed.program,
        content=program.content(packed.program),
        replanned=plans,
    )


def _fed(model: Model, draft: Draft, known: KernelList) -> Draft:
    """The draft with a row of its input at a time."""
    before = draft.program
    methods = tuple(map(fed.fed, before.methods))
    if all(map(operator.is_, methods, before.methods)):
        raise SdkError(
            f"--rows fed: no input of {model.name} can come row by row",
            hint="all that reads the first image among the inputs must be layers that"
            " docs/memory.md lists, in one region that begins the method",
        )
    after = replace(before, methods=methods)
    writes = {
        method.name: [e.writes | e.updates for e in effects.of(method, known)]
        for method in methods
    }
    wrong = list(check_rows.fed_problems(before, after, writes))
    if wrong:
        raise SdkError(
            problem_list("an input that comes row by row is read wrongly", wrong),
            hint="this is a bug in Ember: please report it with the model, and go on"
            " with --rows smallest",
        )
    placed = replace(
        after,
        methods=tuple(
            fed.placed(old, method, known)
            for old, method in zip(before.methods, methods, strict=True)
        ),
    )
    plan_check.check(after, placed, known)
    return replace(draft, program=placed)


def no_runner(board: Board, rules: Rules) -> Path:
    """For what only proposes programs."""
    raise AssertionError("nothing is run")


def _runner_of(model: Model, passes: Sequence[str]) -> FirmwareOf:
    """Firmware that runs programs with the operators that a model calls, and those that
    passes may add."""
    more = list(row_regions.OPERATORS if {"rows", FED} & {*passes} else ())
    if "channels" in passes:
        more += channels.operators(model.program)

    def firmware(board: Board, rules: Rules) -> Path:
        return runner.for_programs(board, [model.program], rules=rules, more=more)

    return firmware


@dataclass(frozen=True)
class _Packed:
    """A program with its memory planned anew, nothing unused; not yet checked."""

    program: Program
    plans: Mapping[str, Replanned]  # by method

    @staticmethod
    def of(
        before: Program, known: KernelList, keep: frozenset[int], *, check: bool = True
    ) -> _Packed:
        """Without `check` the plan of `before` is trusted."""
        plans = {
            method.name: replan(method, known, keep, check=check)
            for method in before.methods
        }
        methods = tuple(plans[method.name].method for method in before.methods)
        packed = trim.trimmed(replace(before, methods=methods))
        if packed == before:
            packed = before  # which may be written already
        return _Packed(
            packed,
            {
                method.name: replace(plans[method.name], method=method)
                for method in packed.methods
            },
        )

    def reference(self, model: Model) -> Executable:
        """The program whose results passes must keep.

        It is the model as it was read, with this plan where its own plan destroys
        something.
        """
        if any(plan.conflict for plan in self.plans.values()):
            return Executable.of(self.program)
        return Executable(model.program, model.content)

    def with_stock(self, first: _Packed) -> _Packed:
        """This, with what was found in the program as it was read."""
        plans = {
            name: replace(
                plan, stock=first.plans[name].stock, conflict=first.plans[name].conflict
            )
            for name, plan in self.plans.items()
        }
        return replace(self, plans=plans)


def shared(program: Program, known: KernelList) -> frozenset[int]:
    """The memories after the first in which one of several methods keeps state.

    Other methods may share them.
    """
    if len(program.methods) == 1:
        return frozenset()
    return frozenset(
        storage.memory_id
        for method in program.methods
        for storage in lifetimes.of(method, known).storages
        if storage.is_state and storage.memory_id > 1
    )
