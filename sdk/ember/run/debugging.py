"""A case and two boards become a report on the first node that is wrong."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ember import kernels
from ember.boards import Board
from ember.cases import Case, batch, compare
from ember.errors import SdkError
from ember.files import xnnpack
from ember.firmware import runner
from ember.hil.line import Line
from ember.program import names, types
from ember.run import first_wrong, poison, pytorch, verdicts
from ember.run.first_wrong import Off, Tolerance, Wrong
from ember.run.lockstep import Outputs, Side, operator
from ember.run.pytorch import PyTorch
from ember.run.testing import Settings
from ember.select import resolve
from ember.select.rules import Rules
from ember.toolchain import libraries


@dataclass(frozen=True)
class DebugOrder:
    """What is debugged, and how."""

    case: Case
    board: Board
    against: Board
    rules: Rules  # of the board that is debugged
    tolerance: Tolerance
    passes: Sequence[str] | None = None  # None: the program as it is, not packed
    optimize: libraries.Optimize = libraries.DEFAULT_OPTIMIZE
    timeout_s: float | None = None
    line: Line | None = None
    pytorch: bool = False  # what it knows, it judges; `against` the rest


@dataclass(frozen=True)
class DebugReport:
    case: str
    board: str
    against: str
    first: Wrong | None
    kernel: str | None  # of the wrong node
    problem: str | None  # what differs from the case though no node is wrong
    judged: tuple[int, int] | None = None  # nodes that PyTorch knew, of how many calls

    def to_json(self) -> dict[str, Any]:
        return {
            "case": self.case,
            "board": self.board,
            "against": self.against,
            "first": None if self.first is None else _wrong(self.first, self.kernel),
            "problem": self.problem,
        } | ({} if self.judged is None else {"judged": list(self.judged)})


def debug(order: DebugOrder) -> DebugReport:
    if order.pytorch:
        pytorch.need()
    case = _plain(order.case)
    if order.passes is not None:
        known = order.rules.known
        case, _ = poison.packed(case, known, order.passes, order.board)
    settings = Settings(
        timeout_s=order.timeout_s,
        count=False,
        optimize=order.optimize,
        rules=order.rules,
        line=order.line,
    )
    reference = Settings(
        timeout_s=order.timeout_s, count=False, rules=_rules_of_reference(order, case)
    )
    answers = PyTorch(case) if order.pytorch else None
    wrong, outputs = first_wrong.find(
        case,
        Side(order.board, settings),
        Side(order.against, reference),
        order.tolerance,
        answers,
    )
    return DebugReport(
        case.name,
        order.board.name,
        "pytorch" if order.pytorch else order.against.name,
        wrong,
        None if wrong is None else _kernel(order, case, wrong),
        _problem(case, outputs) if wrong is None else None,
        None if answers is None else answers.judges,
    )


def _plain(case: Case) -> Case:
    """Without the bundle, whose checks on the board are of no use here."""
    return replace(case, content=case.pte, bundled=False)


class _OwnKernels(Rules):
    """Ember's kernels; the user's only for operators that Ember does not have."""

    def allowed(self, board: Board) -> dict[str, tuple[str, ...]]:
        ours = kernels.load().all(board.isa)
        return super().allowed(board) | ours


def _rules_of_reference(order: DebugOrder, case: Case) -> Rules:
    known = kernels.load().operators
    names = {op for method in case.program.methods for op in method.operator_names}
    return Rules() if names <= set(known) else _OwnKernels(order.rules.folders)


def _problem(case: Case, outputs: Outputs) -> str | None:
    """What differs from what the case expects."""
    for number, (run, got) in enumerate(zip(case.runs, outputs, strict=False)):
        logical = verdicts.outputs(case, batch.Output(number, 0, 0, got))
        verdict = compare.outputs(logical, run.outputs, rtol=case.rtol, atol=case.atol)
        if verdict.problem is not None:
            return f"{verdicts.where(case, number)}{verdict.problem}"
    return None


# ---- what is known of the wrong node -------------------------------------------------


def _kernel(order: DebugOrder, case: Case, wrong: Wrong) -> str | None:
    """The kernel that the board chose; None if that is decided at run time."""
    names = [method.name for method in case.program.methods]
    allowed, _ = runner.needs([case.program], order.board, order.rules)
    try:
        (needs,) = resolve.resolve(
            case.content,
            case.data,
            order.board,
            [names.index(wrong.method.name)],
            known=order.rules.known,
            allowed=allowed,
        ).methods
    except SdkError:
        return None
    if wrong.inside is not None:
        called = wrong.method.instructions[wrong.instruction]
        assert isinstance(called, types.DelegateCall)
        inside = needs.delegates.get(called.delegate_index)
        return None if inside is None else inside.nodes[wrong.inside].kernel
    calls = {call.instruction: call.kernel for call in needs.calls}
    return calls.get(wrong.instruction)


def name_of(wrong: Wrong) -> str:
    """The operator; of a node inside a delegate, what it is called there."""
    method = wrong.method
    name = operator(method, wrong.instruction)
    called = method.instructions[wrong.instruction]
    if wrong.inside is None or not isinstance(called, types.DelegateCall):
        return name
    delegate = method.delegates[called.delegate_index]
    if delegate.id != xnnpack.BACKEND:
        return f"{name} node {wrong.inside}"
    return f"{name} {xnnpack.parse(delegate.data).nodes[wrong.inside].kind}"


def module_of(wrong: Wrong) -> str:
    return names.module_of(wrong.method, wrong.instruction, wrong.inside)


def source_of(wrong: Wrong) -> types.Frame | None:
    """The line of the model that it came from, if the export kept it."""
    return names.source_of(wrong.method, wrong.instruction, wrong.inside)


def _wrong(wrong: Wrong, kernel: str | None) -> Mapping[str, Any]:
    frame = source_of(wrong)
    return {
        "instruction": wrong.instruction,
        "operator": name_of(wrong),
        "module": module_of(wrong) or None,
        "delegate_node": wrong.inside,
        "kernel": kernel,
        "tensor": wrong.value,
        "type": None if wrong.value is None else str(wrong.method.values[wrong.value]),
        "index": list(wrong.difference.index),
        "expected": _number(wrong.difference.expected),
        "found": _number(wrong.difference.actual),
        "differing": wrong.difference.count,
        "elements": wrong.difference.of,
        "method": wrong.method.name,
        "run": wrong.run,
        "execution": wrong.execution,
        "overwrites_input_of": wrong.read_by,
        "inputs_off": [_off(off) for off in wrong.inputs],
        "source": None if frame is None else f"{frame.filename}:{frame.line}",
    }


def _off(off: Off) -> Mapping[str, Any]:
    return {
        "tensor": off.value,
        "index": list(off.difference.index),
        "expected": _number(off.difference.expected),
        "found": _number(off.difference.actual),
    }


def _number(value: object) -> object:
    """JSON knows no infinities and no NaN."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value
