"""A case on two boards becomes the first node that differs beyond tolerance.

Every node is judged separately, by its outputs for what it read (lockstep.py): errors
of the nodes before it do not count. What a node reads is compared too: a difference
there shows that something was overwritten after it was computed. Integers must be
equal. Floats of two right kernels differ by roundings, which grow with the largest
number that the node read or wrote.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from ember import program
from ember.cases import Case, CaseTensor, compare, inputs
from ember.cases.batch import AFTER, BEFORE, Capture, NodeValues, ValueWatch
from ember.cases.compare import FirstDifference
from ember.files.tensors import DType
from ember.program import Method
from ember.run import verdicts
from ember.run.lockstep import (
    BothSides,
    Lockstep,
    ManyWatchesError,
    Outputs,
    Recorded,
    Side,
)

if TYPE_CHECKING:  # a reference of few commands
    from ember.run.pytorch import PyTorch


@dataclass(frozen=True)
class Off:
    """A tensor that a node read, against that of a reference run from the start."""

    value: int
    difference: FirstDifference


@dataclass(frozen=True)
class Wrong:
    """An executed instruction that made a wrong value."""

    run: int
    method: Method
    event: int
    instruction: int
    execution: int  # of this instruction in this run, from 0
    value: int | None  # None: inside a delegate, or the board ended in this node
    difference: FirstDifference
    inside: int | None = None  # the node of the delegate
    read_by: int | None = None  # it overwrote what this instruction reads later
    inputs: tuple[Off, ...] = ()  # that were already off


def find(
    case: Case,
    subject: Side,
    reference: Side,
    tolerance: Tolerance,
    answers: PyTorch | None = None,
) -> tuple[Wrong | None, Outputs]:
    """The first wrong node, and the outputs where there is none; SdkError when a side
    does not execute the case to its end."""
    search = _Search(Lockstep(case, subject, reference, answers), tolerance)
    longest = max(len(method.instructions) for method in search.both.methods)
    return search.first(range(longest)), search.outputs


@dataclass
class _Past:
    """What was executed before a node."""

    executions: dict[tuple[int, int], int] = field(default_factory=dict)
    written: dict[tuple[int, int], int] = field(default_factory=dict)  # events
    read: float = 0.0  # the largest number that the node that executes read

    def add(self, node: NodeValues, results: Iterable[int]) -> None:
        key = (node.run, node.instruction)
        self.executions[key] = self.executions.get(key, 0) + 1
        self.written.update({(node.run, value): node.event for value in results})


class _Search:
    def __init__(self, both: Lockstep, tolerance: Tolerance) -> None:
        self.both = both
        self.tolerance = tolerance
        self.outputs: Outputs = ()  # of the subject, once it has ended

    def first(self, instructions: range) -> Wrong | None:
        """Of these instructions; parts of them are watched one after the other where
        the board has no room for all."""
        try:
            return self._among(instructions)
        except ManyWatchesError:
            if len(instructions) == 1:
                raise
        middle = instructions.start + len(instructions) // 2
        parts = (
            self.first(range(instructions.start, middle)),
            self.first(range(middle, instructions.stop)),
        )
        wrong = [part for part in parts if part is not None]
        return min(wrong, key=lambda part: part.event, default=None)

    def _among(self, instructions: range) -> Wrong | None:
        past = _Past()
        last = None
        for window in self.both.windows(self.both.watches(instructions)):
            last = window
            for actual, expected in window.pairs():
                wrong = self._of_node(actual, expected, past)
                if wrong is not None:
                    return wrong
            wrong = self._of_end(window, past)
            if wrong is not None:
                return wrong
        assert last is not None
        self.outputs = last.actual.outputs
        return self._of_outputs(last.actual, last.expected, past)

    def _of_node(
        self, actual: NodeValues, expected: NodeValues, past: _Past
    ) -> Wrong | None:
        if actual.inside is not None:
            return self._of_inner(actual, expected, past)
        each = self.both.watched[self.both.number(actual.run)]
        instruction = actual.instruction
        before = actual.when == BEFORE
        indices = each.before(instruction) if before else each.results[instruction]
        judged = each.reads[instruction] if before else indices
        read = 0.0 if before else past.read
        for value, difference in self._differences(indices, actual, expected, read):
            if value in judged:
                return self._wrong(actual, value, difference, past)
        if before:
            past.read = largest(actual.values)
        else:
            past.add(actual, indices)
        return None

    def _of_end(self, window: BothSides, past: _Past) -> Wrong | None:
        """The instruction in which only the subject ended: by a fault, or a check."""
        node, problem = window.actual.ended_in, window.actual.problem
        if node is None or problem is None or window.expected.problem is not None:
            return None
        ended = FirstDifference((), problem, None, 0, 0, problem)
        return self._wrong(replace(node, when=AFTER), None, ended, past)

    def _of_inner(
        self, actual: NodeValues, expected: NodeValues, past: _Past
    ) -> Wrong | None:
        """Of a node inside a delegate: what it read came from nodes of the same."""
        for got, want in zip(actual.values, expected.values, strict=True):
            difference = self.tolerance.difference(None, got, want, past.read)
            if difference is not None:
                return self._wrong(actual, None, difference, past)
        past.read = max(past.read, largest(actual.values))
        return None

    def _differences(
        self,
        indices: Sequence[int],
        actual: NodeValues,
        expected: NodeValues,
        read: float = 0.0,
    ) -> Iterator[tuple[int, FirstDifference]]:
        method = self.both.method(actual.run)
        pairs = zip(indices, actual.values, expected.values, strict=True)
        for value, got, want in pairs:
            declared = method.values[value]
            difference = self.tolerance.difference(declared, got, want, read)
            if difference is not None:
                yield value, difference

    def _wrong(
        self,
        node: NodeValues,
        value: int | None,
        difference: FirstDifference,
        past: _Past,
    ) -> Wrong:
        wrong = Wrong(
            node.run,
            self.both.method(node.run),
            node.event,
            node.instruction,
            past.executions.get((node.run, node.instruction), 0),
            value,
            difference,
            node.inside,
        )
        if node.when == AFTER or value is None:
            return replace(wrong, inputs=tuple(self._inputs(wrong)))
        began = past.written.get((node.run, value), 0)
        return self._overwriter(wrong, value, began) or wrong

    def _inputs(self, wrong: Wrong) -> Iterator[Off]:
        """What the node read, where it differs from a reference run from the start."""
        number = self.both.number(wrong.run)
        indices = self.both.watched[number].before(wrong.instruction)
        watches = [ValueWatch(wrong.instruction, BEFORE, value) for value in indices]
        sides = (
            self._nodes(side, number, watches, wrong.event, 1)
            for side in (self.both.subject, self.both.reference)
        )
        for actual, expected in zip(*sides, strict=False):
            for value, difference in self._differences(indices, actual, expected):
                yield Off(value, difference)

    def _nodes(
        self,
        side: Side,
        number: int,
        watches: Sequence[ValueWatch],
        first: int,
        room: int,
    ) -> tuple[NodeValues, ...]:
        """What is watched in one method, of an execution from the start."""
        count = len(self.both.methods)
        each = tuple(tuple(watches) if n == number else () for n in range(count))
        return self.both.record(side, Capture(each, room, first)).nodes

    # ---- what was overwritten --------------------------------------------------------

    def _of_outputs(
        self, actual: Recorded, expected: Recorded, past: _Past
    ) -> Wrong | None:
        """An output that is wrong though every node was right."""
        for run, pair in enumerate(zip(actual.outputs, expected.outputs, strict=False)):
            method = self.both.method(run)
            for value, got, want in zip(method.outputs, *pair, strict=True):
                declared = method.values[value]
                difference = self.tolerance.difference(declared, got, want)
                if difference is None:
                    continue
                end = len(method.instructions)
                wrong = Wrong(run, method, 2**32 - 2, end, 0, value, difference)
                return self._overwriter(wrong, value, past.written.get((run, value), 0))
        return None

    def _overwriter(self, wrong: Wrong, value: int, began: int) -> Wrong | None:
        """The instruction that changed a value after the event that wrote it, which the
        reference does not change there; None if there is none."""
        number = self.both.number(wrong.run)
        count = len(wrong.method.instructions)
        watches = [ValueWatch(index, AFTER, value) for index in range(count)]
        sides = (
            self._nodes(side, number, watches, began, side.room)
            for side in (self.both.subject, self.both.reference)
        )
        before: tuple[NodeValues, NodeValues] | None = None
        executions: dict[int, int] = {}
        for pair in zip(*sides, strict=False):
            actual, expected = pair
            if actual.inside is not None:
                continue
            if actual.run != wrong.run or actual.event >= wrong.event:
                continue
            changes = before is not None and actual.values != before[0].values
            if changes and before is not None and expected.values == before[1].values:
                difference = self.tolerance.difference(
                    wrong.method.values[value], actual.values[0], before[0].values[0]
                )
                return replace(
                    wrong,
                    event=actual.event,
                    instruction=actual.instruction,
                    execution=executions.get(actual.instruction, 0),
                    difference=difference or wrong.difference,
                    read_by=wrong.instruction,
                )
            before = pair
            executions[actual.instruction] = executions.get(actual.instruction, 0) + 1
        return None


# ---- tolerance -----------------------------------------------------------------------


_RTOL = 1e-4
_HALVES = {DType.FLOAT16: 2e-3, DType.BFLOAT16: 1.6e-2}  # of types of few bits
_OF_LARGEST = 0.1  # of rtol: of the largest number that the node makes
_OF_READ = 0.01  # of the largest that it reads


@dataclass(frozen=True)
class Tolerance:
    rtol: float | None = None  # given by the user
    atol: float | None = None

    def difference(
        self,
        declared: program.Value | None,
        actual: inputs.Value,
        expected: inputs.Value,
        read: float = 0.0,
    ) -> FirstDifference | None:
        """Of a value that is `declared` so (None: in no dim order); `read` is the
        largest number that the node read."""
        got, want = (_logical(declared, item) for item in (actual, expected))
        rtol = self.rtol if self.rtol is not None else _rtol(want)
        atol = self.atol
        if atol is None:
            atol = _OF_LARGEST * rtol * _largest(want) + _OF_READ * rtol * read
        return compare.difference(got, want, rtol=rtol, atol=atol)


def largest(given: Iterable[inputs.Value]) -> float:
    """The largest finite number in float tensors."""
    return max((_largest(_logical(None, value)) for value in given), default=0.0)


def _logical(declared: program.Value | None, value: inputs.Value) -> object:
    if declared is None:
        declared = program.Null()
    return verdicts.logical(declared, value)


def _rtol(value: object) -> float:
    return _HALVES.get(value.dtype, _RTOL) if isinstance(value, CaseTensor) else _RTOL


def _largest(value: object) -> float:
    if isinstance(value, float):
        return abs(value) if np.isfinite(value) else 0.0
    if not isinstance(value, CaseTensor) or not value.dtype.is_float:
        return 0.0
    numbers = np.abs(compare.numbers(value))
    return float(np.max(numbers, initial=0.0, where=np.isfinite(numbers)))
