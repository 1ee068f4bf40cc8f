"""A model and the line of a board become a run in cycles of the board's counter.

The board has the test runner in its flash (`ember test --port`); it executes the model
once, and reads ember_port_cycles() around each instruction of the method.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from ember import boards, cases
from ember.boards import Board
from ember.cases import ATOL, RTOL, Case, batch
from ember.errors import SdkError
from ember.firmware import runner
from ember.hil.line import Line
from ember.kernels import KernelList
from ember.plan import traffic
from ember.program import Method, names
from ember.run import once, profile, verdicts
from ember.run.profile import Profile
from ember.run.run import NodeRun
from ember.run.views import details


@dataclass(frozen=True)
class CountedRun:
    """An execution of a method, and what its instructions took."""

    subject: once.Subject
    board: Board
    cycles: int  # of the execution
    nodes: tuple[NodeRun, ...]  # of every instruction of the method as it was read

    def profile(self) -> Profile:
        rows = profile.of_nodes(self.subject.method, self.nodes)
        profiled = Profile(
            model=self.subject.model.name,
            board=self.board.name,
            unit="cycles",
            load=None,
            execute=self.cycles,
            nodes=rows,
            operators=profile.of_operators(rows),
        )
        known = self.subject.plans.rules.known
        return details.of_program(profiled, self.subject.method, self.board, known)


def on_line(order: once.Order, line: Line) -> CountedRun:
    """An SdkError when the board does not answer, or counts no cycles."""
    subject = once.subject(order)
    rules = subject.plans.rules
    board = rules.narrowed(boards.load(subject.board))
    firmware = None
    case = case_of(subject)
    if line.needs_firmware:
        firmware = runner.serial(board, [case], rules=rules)
    output = _output(board, firmware, case, line, order.timeout)
    counted = output.cycles
    if counted is None or len(counted.nodes) != len(subject.method.instructions):
        raise SdkError(
            f"the test runner on {board.name} does not count cycles",
            hint="flash it again: this version of Ember brings a newer one",
        )
    if not counted.whole:
        raise SdkError(f"{board.name} has no counter of cycles")
    nodes = tuple(_nodes(subject.method, rules.known, counted))
    return CountedRun(subject, board, counted.whole, nodes)


def case_of(subject: once.Subject) -> Case:
    """What is executed once, as a case that expects nothing."""
    model, method = subject.model, subject.method
    declared = zip(method.input_values, subject.inputs, strict=True)
    given = tuple(verdicts.logical(tensor, value) for tensor, value in declared)
    run = cases.Run(method.name, cast("tuple[cases.Value, ...]", given), ())
    return Case(
        name=model.name,
        path=model.path,
        content=model.content,
        bundled=False,
        program=model.program,
        data=model.data,
        runs=(run,),
        rtol=RTOL,
        atol=ATOL,
    )


def _output(
    board: Board,
    firmware: Path | None,
    case: Case,
    line: Line,
    timeout_s: float | None,
) -> batch.Output:
    stream = batch.stream([batch.record(case, 0, timed=True)])
    limit = timeout_s or board.runner.timeout_s
    result, written = line.run(board, firmware, stream, limit)
    answer = batch.answer(written)
    who = f"{case.name} on {board.name}"
    if not answer.results:
        raise SdkError(f"{who}: {result.problem or 'the test runner gave no results'}")
    (got,) = answer.results
    verdicts.check(case, 0, got)
    if got.status != batch.OK:
        raise SdkError(f"{who}: {verdicts.failure(case, got)}")
    return got.outputs[0]


def _nodes(method: Method, known: KernelList, counted: batch.Counted) -> list[NodeRun]:
    calls = {index: (op, call) for index, op, call in method.kernel_calls()}
    nodes: list[NodeRun] = []
    for index, (cycles, executions) in enumerate(counted.nodes):
        instruction = method.instructions[index]
        op, call = calls.get(index, (method.name_of(instruction), None))
        products = traffic.macs_of_call(method, known, call) if call else None
        module = names.module_of(method, index)
        node = NodeRun(index, index, op, None, cycles, executions, products)
        nodes.append(replace(node, module=module))
    return nodes
