"""A packed model becomes what lies where and when in its planned memories, as JSON.

{"model", "method", "instructions": [operators],
 "memories": [{"id", "bytes", "peak": {"instruction", "operator", "bytes", "tensors"}}],
 "tensors": [{"name", "type", "memory", "offset", "bytes", "alive": [[first, last]]}]}

`memory` is the number of a planned memory. Moments are instructions; -1 is the entry,
their number the exit.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any

from ember.kernels import KernelList
from ember.plan import effects
from ember.plan.improved import Improved
from ember.plan.replan import Placed, Replanned
from ember.program import Method, types
from ember.program.types import ALIGN

_TOP = 8  # tensors that make a peak


def of_all(
    pairs: Iterable[tuple[Improved, Method]], known: KernelList
) -> list[dict[str, Any]]:
    """The methods of packed models that were planned anew, as JSON."""
    planned = ((model, model.replanned.get(method.name)) for model, method in pairs)
    return [_of(model, plan, known) for model, plan in planned if plan is not None]


def _of(model: Improved, plan: Replanned, known: KernelList) -> dict[str, Any]:
    names = _Names(plan.method, known)
    steps = range(len(plan.method.instructions))
    return {
        "model": model.name,
        "method": plan.method.name,
        "instructions": [names.operator(index) for index in steps],
        "memories": [_memory(plan, one, names) for one in plan.packed],
        "tensors": [_tensor(one, names) for one in plan.placed],
    }


def _tensor(one: Placed, names: _Names) -> dict[str, Any]:
    value = names.chief(one)
    return {
        "name": names.of(value),
        "type": str(names.method.values[value]),
        "values": sorted(one.storage.values),
        "memory": one.memory_id,
        "offset": one.offset,
        "bytes": one.storage.size,
        "state": one.storage.is_state,
        "alive": [[first, end - 1] for first, end in one.storage.points.runs],
    }


def _memory(plan: Replanned, number: int, names: _Names) -> dict[str, Any]:
    inside = [one for one in plan.placed if one.memory_id == number]
    at = _peak(inside)
    here = (one for one in inside if at in one.storage.points)
    alive = [one for one in here if one.storage.size > 0]
    alive.sort(key=lambda one: -one.storage.size)
    return {
        "id": number,
        "bytes": plan.method.planned_sizes[number],
        "peak": {
            "instruction": at,
            "operator": names.operator(at),
            "bytes": _size(alive),
            "tensors": [_tensor(one, names) for one in alive[:_TOP]],
            "more": max(len(alive) - _TOP, 0),
        },
    }


def _peak(inside: Sequence[Placed]) -> int:
    """The first moment at which most bytes matter."""
    changes: dict[int, int] = {}
    for one in inside:
        for first, end in one.storage.points.runs:
            changes[first] = changes.get(first, 0) + _size([one])
            changes[end] = changes.get(end, 0) - _size([one])
    moments = sorted(changes)
    sizes = itertools.accumulate(changes[at] for at in moments)
    peaks = zip(moments, sizes, strict=True)
    return min(peaks, key=lambda peak: (-peak[1], peak[0]), default=(-1, 0))[0]


def _size(placed: Sequence[Placed]) -> int:
    return sum(-(-one.storage.size // ALIGN) * ALIGN for one in placed)


class _Names:
    """What people call the values of a method."""

    def __init__(self, method: Method, known: KernelList) -> None:
        self.method = method
        self.inputs = _first_places(method.inputs)
        self.outputs = _first_places(method.outputs)
        self.makers: dict[int, int] = {}  # value -> the first instruction that writes
        for index, own in enumerate(effects.of(method, known)):
            for value in sorted(own.writes | own.updates):
                self.makers.setdefault(value, index)

    def operator(self, index: int) -> str:
        if index < 0:
            return "entry"
        if index >= len(self.method.instructions):
            return "exit"
        one = self.method.instructions[index]
        if isinstance(one, types.KernelCall):
            return self.method.operators[one.op_index].full_name
        if isinstance(one, types.DelegateCall):
            return f"delegate {self.method.delegates[one.delegate_index].id}"
        return type(one).__name__.removesuffix("Call")

    def chief(self, placed: Placed) -> int:
        """The most telling value: an input, then what is written first."""
        last = len(self.method.instructions)
        return min(
            placed.storage.values,
            key=lambda value: (
                value not in self.inputs,
                self.makers.get(value, last),
                value,
            ),
        )

    def of(self, value: int) -> str:
        found = self.method.values[value]
        if value in self.inputs:
            return f"input {self.inputs[value]}"
        if isinstance(found, types.Tensor) and found.name:
            return found.name
        index = self.makers.get(value)
        if index is None:
            return f"value {value}"
        name = f"{self.operator(index)}, instruction {index}"
        if value in self.outputs:
            name += f" (output {self.outputs[value]})"
        return name


def _first_places(values: Sequence[int]) -> dict[int, int]:
    """Where each value stands first."""
    return {value: place for place, value in reversed(list(enumerate(values)))}
