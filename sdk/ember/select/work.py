"""What a method needs becomes a bound of the elementary steps of one execution.

The runtime counts them while it loads (ember_node_work() in node.h): about one for each
element that a kernel reads, writes or multiplies. A method with a loop, or with a call
whose shapes are known only at run time, has none: its execution ends by a budget.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from ember.program import DelegateCall, JumpFalseCall, Method
from ember.select.resolve import MethodNeeds

CALL_STEPS = 32  # of each instruction, beside those of its kernel: EMBER_CALL_STEPS


@dataclass(frozen=True)
class NodeWork:
    """An instruction of the program that is loaded."""

    instruction: int
    operator: str
    steps: int  # each time it runs, at most


@dataclass(frozen=True)
class Work:
    model: str
    method: str
    steps: int | None  # of one execution, at most; None: without bound
    one_pass: int  # of each instruction once, as far as shapes are known
    why: str = ""  # it has no bound
    nodes: tuple[NodeWork, ...] = ()


def of(model: str, method: Method, needs: MethodNeeds) -> Work:
    why = ""
    if _loops(method):
        why = "it has a loop"
    elif needs.unsized:
        why = "shapes depend on data"
    steps = None if why else needs.steps
    return Work(
        model, method.name, steps, needs.steps, why, tuple(_nodes(method, needs))
    )


def _nodes(method: Method, needs: MethodNeeds) -> Iterator[NodeWork]:
    of_kernels = {call.instruction: call.steps for call in needs.calls}
    for index, instruction in enumerate(method.instructions):
        steps = of_kernels.get(index, 0)
        if isinstance(instruction, DelegateCall) and needs.delegate_steps:
            steps = needs.delegate_steps[instruction.delegate_index]
        yield NodeWork(index, method.name_of(instruction), steps + CALL_STEPS)


def _loops(method: Method) -> bool:
    return any(
        isinstance(instruction, JumpFalseCall) and instruction.target <= index
        for index, instruction in enumerate(method.instructions)
    )


def to_json(works: Iterable[Work]) -> dict[str, Any]:
    """`steps` of the longest method; None: one has no bound, a budget must be set."""
    rows = list(works)
    steps = [row.steps for row in rows if row.steps is not None]
    whole = max(steps, default=0) if len(steps) == len(rows) else None
    return {"steps": whole, "methods": [asdict(row) for row in rows]}
