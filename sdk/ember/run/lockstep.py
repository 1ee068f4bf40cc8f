"""A case on two boards becomes pairs of what their nodes read and wrote.

A program becomes what is watched: the values that its instructions touch. The reference
executes every node with what the same node of the subject read. Only a stretch of the
execution is held at a time; the next one begins with another execution.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ember.boards import Board
from ember.cases import Case, batch, inputs
from ember.cases.batch import AFTER, BEFORE, Capture, Feed, NodeValues, ValueWatch
from ember.errors import SdkError
from ember.kernels import KernelList
from ember.plan import lifetimes
from ember.program import Method, types
from ember.run import testing, verdicts
from ember.run.testing import Settings
from ember.toolchain.emulator import RunResult

if TYPE_CHECKING:  # a reference of few commands
    from ember.run.pytorch import PyTorch


ROOM = 32 * 1024 * 1024  # bytes of nodes that are held at a time
ROOM_ON_LINE = 64 * 1024  # that a serial line carries in seconds
_HEADS = 36  # bytes of a NODE record before its values
_NO_ROOM = "its watches"  # are larger than the memory: runner_main.c

Watches = tuple[tuple[ValueWatch, ...], ...]  # of each method that the case uses
Outputs = tuple[tuple[inputs.Value, ...], ...]  # of each run


@dataclass(frozen=True)
class Side:
    """A board, and how it is used."""

    board: Board
    settings: Settings

    @property
    def room(self) -> int:
        return ROOM if self.settings.line is None else ROOM_ON_LINE


@dataclass(frozen=True)
class Recorded:
    """What a side wrote of a stretch of the execution."""

    nodes: tuple[NodeValues, ...]
    outputs: Outputs
    problem: str | None  # why it did not end well

    @property
    def ended_in(self) -> NodeValues | None:
        """What the instruction read that did not end."""
        last = self.nodes[-1] if self.nodes else None
        unfinished = self.problem is not None and last is not None
        return last if unfinished and last and last.when == BEFORE else None


@dataclass(frozen=True)
class BothSides:
    """The same stretch of both sides."""

    actual: Recorded
    expected: Recorded

    def pairs(self) -> Iterator[tuple[NodeValues, NodeValues]]:
        for actual, expected in zip(
            self.actual.nodes, self.expected.nodes, strict=False
        ):
            if actual.key != expected.key:
                raise SdkError(
                    "the two boards take different paths at executed instruction"
                    f" {actual.event}: one executes instruction {actual.instruction},"
                    f" the other {expected.instruction}"
                )
            yield actual, expected


class ManyWatchesError(SdkError):
    """The board has too little memory for the list of what is watched."""


class Lockstep:
    """Two sides that execute the same case."""

    def __init__(
        self,
        case: Case,
        subject: Side,
        reference: Side,
        answers: PyTorch | None = None,
    ) -> None:
        """`answers` go before what the reference says of a node."""
        self.case = case
        self.subject = subject
        self.reference = reference
        self.answers = answers
        by_name = {method.name: method for method in case.program.methods}
        self.methods = [by_name[name] for name in case.methods]
        known = subject.settings.rules.known
        self.watched = [watched(method, known) for method in self.methods]

    def number(self, run: int) -> int:
        """Of the method of a run."""
        return self.case.methods.index(self.case.runs[run].method)

    def method(self, run: int) -> Method:
        return self.methods[self.number(run)]

    def watches(self, instructions: range) -> Watches:
        """All that these instructions read and write."""
        return tuple(each.watches(instructions) for each in self.watched)

    def windows(self, watches: Watches) -> Iterator[BothSides]:
        """The execution in stretches; the last one has the outputs."""
        first, room = 0, self.subject.room
        while True:
            capture = Capture(watches, room, first)
            actual = self.record(self.subject, capture)
            runs = range(len(self.case.runs))
            feeds = tuple(tuple(self._feeds(actual.nodes, run)) for run in runs)
            expected = self.record(
                self.reference, replace(capture, room=2 * room, feeds=feeds)
            )
            if expected.problem is not None and actual.problem is None:
                raise SdkError(self._fails(self.reference, expected))
            yield BothSides(actual, self._answered(expected))
            if actual.problem is not None:
                raise SdkError(self._fails(self.subject, actual))
            if _bytes(actual.nodes) < room:
                return
            first = actual.nodes[-1].event + 1

    def _answered(self, expected: Recorded) -> Recorded:
        if self.answers is None:
            return expected
        nodes = self.answers.answered(
            expected.nodes,
            lambda run: (self.method(run), self.watched[self.number(run)]),
        )
        return replace(expected, nodes=tuple(nodes))

    def subject_runs(self, watches: Watches) -> Iterator[Recorded]:
        """The execution of the subject in stretches; the last one has the outputs."""
        first, room = 0, self.subject.room
        while True:
            recorded = self.record(self.subject, Capture(watches, room, first))
            if recorded.problem is not None:
                raise SdkError(self._fails(self.subject, recorded))
            yield recorded
            if _bytes(recorded.nodes) < room:
                return
            first = recorded.nodes[-1].event + 1

    def record(self, side: Side, capture: Capture) -> Recorded:
        result, output = testing.captured(self.case, side.board, side.settings, capture)
        answer = batch.answer(output)
        problem = self._problem(side, result, answer)
        outputs = answer.results[0].outputs if answer.results else ()
        return Recorded(
            tuple(batch.nodes(output)), tuple(item.values for item in outputs), problem
        )

    def _problem(
        self, side: Side, result: RunResult, answer: batch.Answer
    ) -> str | None:
        if answer.memory is None or not answer.results:
            return result.problem or "it wrote no results"
        got = answer.results[0]
        verdicts.check(self.case, 0, got)
        if got.status == batch.NO_MEMORY and _NO_ROOM in got.message:
            raise ManyWatchesError(f"{self.case.name} does not fit {side.board.name}")
        return None if got.status == batch.OK else verdicts.failure(self.case, got)

    def _fails(self, side: Side, recorded: Recorded) -> str:
        """Such as: add on mps2-an386: it crashed; in instruction 3 (aten::add.out)."""
        what = f"{self.case.name} on {side.board.name}: {recorded.problem}"
        last = recorded.ended_in
        if last is None:
            return what
        name = operator(self.method(last.run), last.instruction)
        return f"{what} (in instruction {last.instruction}, {name})"

    def _feeds(self, nodes: Sequence[NodeValues], run: int) -> Iterator[Feed]:
        """What the subject's nodes of a run read."""
        each = self.watched[self.number(run)]
        for node in nodes:
            if node.run == run and node.when == BEFORE:
                indices = each.before(node.instruction)
                pairs = zip(indices, node.values, strict=True)
                fed = tuple(
                    (index, value.data)
                    for index, value in pairs
                    if isinstance(value, inputs.TensorValue)
                )
                yield Feed(node.event, fed)


def operator(method: Method, instruction: int) -> str:
    """What an instruction does, in a word or two."""
    for index, name, _ in method.kernel_calls():
        if index == instruction:
            return name
    called = method.instructions[instruction]
    if isinstance(called, types.DelegateCall):
        return method.delegates[called.delegate_index].id
    return type(called).__name__.removesuffix("Call").lower()


def _bytes(nodes: Sequence[NodeValues]) -> int:
    """What the runner counts."""
    data = (
        len(value.data)
        for node in nodes
        for value in node.values
        if isinstance(value, inputs.TensorValue)
    )
    return sum(data) + _HEADS * len(nodes)


# ---- what is watched -----------------------------------------------------------------


@dataclass(frozen=True)
class Watched:
    """Of a method, by instruction: tensors that can change, by value index."""

    reads: tuple[tuple[int, ...], ...]
    updates: tuple[tuple[int, ...], ...]  # read, and then written in part
    results: tuple[tuple[int, ...], ...]  # written, without scratch; and scalars

    def watches(self, instructions: range) -> tuple[ValueWatch, ...]:
        return tuple(
            ValueWatch(index, when, value)
            for index in instructions
            for when, values in (
                (BEFORE, self.before(index)),
                (AFTER, self.results[index]),
            )
            for value in values
        )

    def before(self, instruction: int) -> tuple[int, ...]:
        return tuple(sorted({*self.reads[instruction], *self.updates[instruction]}))


def watched(method: Method, known: KernelList) -> Watched:
    """SdkError for an unknown operator."""
    effects = lifetimes.of(method, known, check=False).effects
    reads, updates, results = [], [], []
    for index, effect in enumerate(effects):
        scratch = _scratch(method, known, method.instructions[index])
        written = (effect.writes | effect.updates) - scratch
        written |= {target for target, _ in effect.handles}
        written |= _scalars(method, method.instructions[index])
        reads.append(_changing(method, effect.reads))
        updates.append(_changing(method, effect.updates))
        results.append(tuple(sorted(written)))
    return Watched(tuple(reads), tuple(updates), tuple(results))


def _changing(method: Method, values: frozenset[int]) -> tuple[int, ...]:
    """Tensors that are no constants."""
    kept = []
    for value in sorted(values):
        tensor = method.values[value]
        if isinstance(tensor, types.Tensor) and not (
            tensor.is_constant or tensor.role == "external"
        ):
            kept.append(value)
    return tuple(kept)


def _scalars(method: Method, instruction: types.Instruction) -> frozenset[int]:
    """Numbers that an instruction computes: the result of a call, or of a move."""
    match instruction:
        case types.KernelCall(args=args) if args:
            result = instruction.result
        case types.MoveCall(move_to=result):
            pass
        case _:
            return frozenset()
    scalar = types.Int | types.Bool | types.Double
    return frozenset({result} if isinstance(method.values[result], scalar) else ())


def _scratch(
    method: Method, known: KernelList, instruction: types.Instruction
) -> frozenset[int]:
    if not isinstance(instruction, types.KernelCall):
        return frozenset()
    return frozenset(known.named(method, instruction).scratch)
