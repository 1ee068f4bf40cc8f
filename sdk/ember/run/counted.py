"""A model and the line of a board become a profile in cycles of the board's counter.

The board has the test runner in its flash (`ember test --port`); it executes the model
once, and reads ember_port_cycles() around each instruction of the method.
"""

from __future__ import annotations

from pathlib import Path
from typing import cast

from ember import boards, cases
from ember.boards import Board
from ember.build import runner
from ember.cases import ATOL, RTOL, Case, batch
from ember.errors import SdkError
from ember.hil.line import Line
from ember.plan import macs
from ember.program import Method
from ember.run import once, profile, verdicts
from ember.run.profile import Profile
from ember.run.run import NodeRun, name_of
from ember.run.views import details


def on_line(order: once.Order, line: Line) -> Profile:
    """An SdkError when the board does not answer, or counts no cycles."""
    subject = once.subject(order)
    rules = subject.plans.rules
    board = rules.narrowed(boards.load(subject.board))
    firmware = None
    case = _case(subject)
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
    nodes = profile.of_nodes(subject.method, _nodes(subject.method, counted))
    profiled = Profile(
        model=subject.model.name,
        board=board.name,
        unit="cycles",
        load=None,
        execute=counted.whole,
        nodes=nodes,
        operators=profile.of_operators(nodes),
    )
    return details.of_program(profiled, subject.method, board, rules.known)


def _case(subject: once.Subject) -> Case:
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


def _nodes(method: Method, counted: batch.Counted) -> list[NodeRun]:
    calls = {index: (op, call) for index, op, call in method.kernel_calls()}
    nodes: list[NodeRun] = []
    for index, (cycles, executions) in enumerate(counted.nodes):
        instruction = method.instructions[index]
        op, call = calls.get(index, (name_of(method, instruction), None))
        products = macs.of_call(method, op, call) if call else None
        nodes.append(NodeRun(index, index, op, None, cycles, executions, products))
    return nodes
