"""A model becomes a smaller one: passes, memory planned again, nothing unused.

The result is a valid ET12 program that computes the same, here and in ExecuTorch. Once
kernels are chosen, their weights and scratch change it again (pipeline.py).
"""

from __future__ import annotations

import operator
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ember import boards, program
from ember.boards import Board
from ember.errors import SdkError, problem_list
from ember.firmware import runner
from ember.firmware.jobs import Job
from ember.kernels import KernelList
from ember.model import Model, describe
from ember.plan import check as plan_check
from ember.plan import effects, kernel_scratch, lifetimes
from ember.plan.check import rows as check_rows
from ember.plan.improved import Improved
from ember.plan.passes import FED, layout
from ember.plan.passes.execute import Computer, Executable, FirmwareOf
from ember.plan.passes.improve import improve
from ember.plan.replan import Replanned, replan, trimmed
from ember.plan.rows import rewrite, row_regions
from ember.program import Method, Program, edit, remembered
from ember.program.edit import Draft
from ember.select import prepack
from ember.select.rules import Rules
from ember.select.selection import Selection

Scratch = Mapping[str, Mapping[int, int]]


def with_buffers(model: Model) -> Model:
    """The model with memory for the buffers that it leaves to its caller."""
    adopted = edit.adopted(model.program)
    if adopted is model.program:
        return model
    return replace(model, program=adopted, content=program.content(adopted))


def without_steps(model: Model, names: Sequence[str]) -> Model:
    """The model without the constant methods whose values its header has, unless
    `--method` names them."""
    dropped = describe.steps(model.program) - {*names}
    if not dropped:
        return model
    methods = (each for each in model.program.methods if each.name not in dropped)
    slim = replace(model.program, methods=tuple(methods))
    return replace(model, program=slim, content=program.content(slim))


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
    first = last = _Planned.of(model.program, known, keep)
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
        last = _Planned.of(before, known, keep, check=False).with_stock(first)
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
        last = trimmed(after)
        return replace(model, program=last, content=program.content(last))
    keep = shared(model.program, known)
    planned = _Planned.of(after, known, keep, check=False)
    plan_check.check(after, program.read_back(planned.program), known)
    plans = planned.with_stock(_Planned(model.program, model.replanned)).plans
    return replace(
        model,
        program=planned.program,
        content=program.content(planned.program),
        replanned=plans,
    )


def _fed(model: Model, draft: Draft, known: KernelList) -> Draft:
    """The draft with a row of its input at a time."""
    before = draft.program
    methods = tuple(map(rewrite.fed, before.methods))
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
    wrong = list(check_rows.fed_problems(before, after, writes, known))
    if wrong:
        raise SdkError(
            problem_list("an input that comes row by row is read wrongly", wrong),
            hint="this is a bug in Ember: please report it with the model, and go on"
            " with --rows smallest",
        )
    placed = replace(
        after,
        methods=tuple(
            rewrite.placed_fed(old, method, known)
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
        more += layout.operators(model.program)

    def firmware(board: Board, rules: Rules) -> Path:
        return runner.for_programs(board, [model.program], rules=rules, more=more)

    return firmware


@dataclass(frozen=True)
class _Planned:
    """A program with its memory planned again, nothing unused; not yet checked."""

    program: Program
    plans: Mapping[str, Replanned]  # by method

    @staticmethod
    def of(
        before: Program, known: KernelList, keep: frozenset[int], *, check: bool = True
    ) -> _Planned:
        """Without `check` the plan of `before` is trusted."""
        plans = {
            method.name: replan(method, known, keep, check=check)
            for method in before.methods
        }
        methods = tuple(plans[method.name].method for method in before.methods)
        smaller = trimmed(replace(before, methods=methods))
        if smaller == before:
            smaller = before  # which may be written already
        return _Planned(
            smaller,
            {
                method.name: replace(plans[method.name], method=method)
                for method in smaller.methods
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

    def with_stock(self, first: _Planned) -> _Planned:
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


# ---- what chosen kernels change ------------------------------------------------------


def with_convolutions_packed(
    model: Improved, selection: Selection, job: Job
) -> Improved:
    """The model with weights of convolutions in the layout of their kernels. Pinned
    calls keep their operator; with rows, no weights become longer, because the longer
    ones are for whole images."""
    rules = job.options.rules
    if any(name == model.name for name, _, _ in rules.calls):
        return model
    after = prepack.convolutions(
        model.program,
        selection.needs,
        rules.allowed(job.board),
        rules.pins,
        known=rules.known,
        optimize="size" if model.has_rows else job.options.optimize,
    )
    return model if after is model.program else again(model, after, rules.known)


def with_weights_packed(model: Improved, selection: Selection) -> Improved:
    """The model with all other weights in the layout of their kernels; unchanged if no
    kernel packs any."""
    result = prepack.prepack(model, selection.needs)
    if result is None:
        return model
    return replace(
        model,
        program=result.program,
        content=program.content(result.program),
        data=result.data,
        packed=result.sizes,
    )


def with_scratch_in_holes(model: Improved, selection: Selection, job: Job) -> Improved:
    """The model with scratch in the holes of its plan; unchanged if scratch stays
    outside, because methods share it or the project gives it a place."""
    steering = job.options.steering
    is_steered = "scratch" in {*steering.place, *steering.align}
    is_single = sum(map(len, job.methods)) == len(model.program.methods) == 1
    if is_steered or not is_single or model.stock is None:
        return model
    filled = kernel_scratch.filled(model, selection.needs[0], job.options.rules.known)
    return filled or model


def scratch_of(model: Improved, selection: Selection | None) -> Scratch:
    """Bytes of scratch by method and index in the program as it was read; empty if a
    call has no kernel."""
    scratch: dict[str, dict[int, int]] = {}
    if selection is None or model.stock is None:
        return scratch
    for method, needs in zip(selection.methods, selection.needs, strict=True):
        sizes = scratch.setdefault(method.name, {})
        origins = selection.origins.get(method.name) or model.origins[method.name]
        for call in needs.calls:
            origin = origins[call.instruction]
            sizes[origin] = max(sizes.get(origin, 0), call.scratch)
    return scratch
