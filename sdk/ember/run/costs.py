"""Marks and trace of a run become costs of regions, steps and nodes of delegates."""

from __future__ import annotations

import itertools
import math
import string
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ember.boards import Board
from ember.cycles import estimate
from ember.cycles.estimate import NOT_ESTIMATED, Cycles, Estimator
from ember.errors import SdkError
from ember.files import xnnpack
from ember.plan import traffic
from ember.program import DelegateCall, Method
from ember.toolchain.emulator import RunResult


@dataclass(frozen=True)
class Cost:
    """Of a region; None: nobody counted."""

    instructions: int | None = None  # or packets
    cycles: Cycles = NOT_ESTIMATED


@dataclass(frozen=True)
class Costs:
    """What the marked regions of a run took."""

    result: RunResult
    estimator: Estimator | None  # None: no cycles

    @classmethod
    def of(cls, board: Board, firmware: Path, result: RunResult) -> Costs:
        """With cycles, where the run has a trace."""
        trace = result.trace
        return cls(result, estimate.of_run(board, firmware, trace) if trace else None)

    def region(self, word: int) -> Cost:
        """The first one of `word`."""
        return next(iter(self.regions(word)), Cost())

    def regions(self, word: int) -> list[Cost]:
        marks = enumerate(self.result.marks)
        places = [place for place, mark in marks if mark.word == word]
        pairs = zip(places[0::2], places[1::2], strict=False)
        return [self._between(*pair) for pair in pairs]

    def _between(self, begin: int, end: int) -> Cost:
        marks, trace = self.result.marks, self.result.trace
        cycles = NOT_ESTIMATED
        if self.estimator is not None and trace is not None:
            cycles = self.estimator.of(trace.between(begin, end))
        return Cost(marks[end].count - marks[begin].count, cycles)


def summed(figures: Iterable[Cycles]) -> Cycles:
    row = list(figures)
    return Cycles(
        added(cycles.core for cycles in row), added(cycles.board for cycles in row)
    )


def added(figures: Iterable[int | None]) -> int | None:
    """None when nobody knew one of them."""
    row = list(figures)
    return None if None in row else sum(figure or 0 for figure in row)


# ---- inside of delegates -------------------------------------------------------------


_BYTE = 8  # bits


@dataclass(frozen=True)
class InsideRun:
    """A node of a delegate's graph, and what all its executions took."""

    index: int
    op: str  # "FullyConnected"
    kernel: str | None
    instructions: int
    cycles: Cycles
    executions: int
    macs: int | None  # of one execution, for the bounds of dynamic shapes
    moved: int  # bytes of its values, of one execution
    module: str = ""  # of the model; empty: the model itself, or unknown


def has_graphs(method: Method) -> bool:
    """Whether a method calls delegates that run nodes with hooks."""
    return any(_graph(method, index) for index in range(len(method.instructions)))


def inside_of_steps(
    method: Method,
    facts: Mapping[str, Any],
    steps: Sequence[int],
    costs: Sequence[Cost],
) -> dict[int, tuple[InsideRun, ...]]:
    """For each call of a delegate, its nodes; `steps` are the instructions that were
    executed, `costs` those of the nodes inside of them, in order.

    facts -- of the method, in the selection of kernels
    """
    graphs = {index: _graph(method, index) for index in {*steps}}
    if sum(len(graphs[index]) for index in steps) != len(costs):
        raise SdkError("the nodes of delegates that ran are not those of their graphs")
    waiting = iter(costs)
    taken: dict[int, list[list[Cost]]] = {}
    for index in steps:
        for row in taken.setdefault(index, [[] for _ in graphs[index]]):
            row.append(next(waiting))
    return {
        index: tuple(_nodes(method, facts, index, graphs[index], rows))
        for index, rows in taken.items()
        if rows
    }


def _graph(method: Method, index: int) -> tuple[xnnpack.Node, ...]:
    """The nodes that an instruction runs; none, where it calls no such delegate."""
    instruction = method.instructions[index]
    if not isinstance(instruction, DelegateCall):
        return ()
    delegate = method.delegates[instruction.delegate_index]
    if delegate.id != xnnpack.BACKEND:
        return ()
    return xnnpack.parse(delegate.data).nodes


def _nodes(
    method: Method,
    facts: Mapping[str, Any],
    index: int,
    graph: Sequence[xnnpack.Node],
    costs: Sequence[Sequence[Cost]],
) -> Iterator[InsideRun]:
    instruction = method.instructions[index]
    assert isinstance(instruction, DelegateCall)
    kernels = _kernels(facts, instruction.delegate_index)
    for place, (node, row) in enumerate(zip(graph, costs, strict=True)):
        yield InsideRun(
            index=place,
            op=node.kind,
            kernel=kernels[place] if place < len(kernels) else None,
            instructions=sum(cost.instructions or 0 for cost in row),
            cycles=summed(cost.cycles for cost in row) if row else NOT_ESTIMATED,
            executions=len(row),
            macs=traffic.macs_of_node(node),
            moved=sum(_bytes(value) for value in (*node.inputs, *node.outputs)),
        )


def _kernels(facts: Mapping[str, Any], delegate: int) -> list[str]:
    for known in facts.get("delegates", ()):
        if known["index"] == delegate:
            return [node["variant"] or node["kernel"] for node in known["nodes"]]
    return []


def _bytes(value: xnnpack.Value) -> int:
    return math.ceil(math.prod(value.shape) * _bits(value.datatype) / _BYTE)


def _bits(datatype: str) -> int:
    """Of an element: what its name ends in."""
    digits = datatype.lstrip(string.ascii_letters)
    return int(digits) if digits else 0


# ---- steps ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Step:
    """One execution of an instruction, and of the nodes inside of a delegate."""

    index: int  # of the instruction
    cost: Cost
    inside: tuple[Cost, ...] = ()


@dataclass(frozen=True)
class Traced:
    """What the instructions took that were executed, and nodes inside of delegates."""

    steps: list[int]
    costs: list[Cost]
    within: list[Cost]  # of nodes inside of delegates, as they ran
    inside: dict[int, tuple[InsideRun, ...]]

    def in_order(self) -> Iterator[Step]:
        waiting = iter(self.within)
        for index, cost in zip(self.steps, self.costs, strict=False):
            nodes = len(self.inside.get(index, ()))
            yield Step(index, cost, tuple(itertools.islice(waiting, nodes)))
