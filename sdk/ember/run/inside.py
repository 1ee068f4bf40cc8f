"""Marks inside of delegates become what the nodes of their graphs took."""

from __future__ import annotations

import math
import string
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ember.cycles.estimate import NOT_ESTIMATED, Cycles
from ember.errors import SdkError
from ember.files import xnnpack
from ember.plan import macs
from ember.program import DelegateCall, Method
from ember.run.costs import Cost, summed

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


def has_graphs(method: Method) -> bool:
    """Whether a method calls delegates that run nodes with hooks."""
    return any(_graph(method, index) for index in range(len(method.instructions)))


def of_steps(
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
            macs=macs.of_node(node),
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
