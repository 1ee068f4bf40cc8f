"""A packed model becomes what lies where and when in its planned memories, as JSON.

{"model", "method", "instructions": [operators],
 "modules": [paths in the model, or null],
 "memories": [{"id", "bytes", "alive",
               "peak": {"instruction", "operator", "module", "bytes",
                        "tensors"}}],
 "tensors": [{"name", "module", "type", "memory", "offset", "bytes",
              "alive": [[first, last]]}]}

`memory` is the number of a planned memory. Moments are instructions; -1 is the entry,
their number the exit. `alive` has the bytes in use at the entry, at each instruction
and at the exit; those of the peak include what aligns them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any

from ember.kernels import KernelList
from ember.plan import effects, lifetimes
from ember.plan.improved import Improved
from ember.plan.lifetimes import Storage
from ember.plan.replan import PlacedStorage, Replanned
from ember.plan.rows import row_regions
from ember.program import Method, types
from ember.program import names as program_names
from ember.program.types import ALIGN

_TOP = 8  # tensors that make a peak


def of_all(
    pairs: Iterable[tuple[Improved, Method]], known: KernelList
) -> list[dict[str, Any]]:
    """The methods of packed models that the SDK planned, as JSON."""
    planned = ((model, model.replanned.get(method.name)) for model, method in pairs)
    return [_of(model, plan, known) for model, plan in planned if plan is not None]


def of_packed(model: str, method: Method, known: KernelList) -> dict[str, Any]:
    """The same of one method as a program has it, whoever planned it: all its memories
    with their tensors. Layers that run row by row lie over each other: of these
    neither memories nor tensors are listed."""
    if any(row_regions.regions(method)):
        return _facts(model, method, (), (), known)
    storages = lifetimes.of(method, known, check=False).storages
    placed = [PlacedStorage(s, s.memory_id, _start(method, s)) for s in storages]
    used = [number for number, size in enumerate(method.planned_sizes) if size]
    return _facts(model, method, used, placed, known)


def _start(method: Method, storage: Storage) -> int:
    """Where a storage begins: before the first of its values, in bytes."""
    starts = []
    for value, inside in storage.values.items():
        tensor = method.values[value]
        assert isinstance(tensor, types.Tensor) and tensor.allocation is not None
        starts.append(tensor.allocation.offset - inside)
    return min(starts)


def _of(model: Improved, plan: Replanned, known: KernelList) -> dict[str, Any]:
    return _facts(model.name, plan.method, plan.packed, plan.placed, known)


def _facts(
    model: str,
    method: Method,
    numbers: Iterable[int],
    placed: Sequence[PlacedStorage],
    known: KernelList,
) -> dict[str, Any]:
    names = ValueNames(method, known)
    steps = range(len(method.instructions))
    return {
        "model": model,
        "method": method.name,
        "instructions": [names.operator(index) for index in steps],
        "modules": [names.module(index) for index in steps],
        "memories": [_memory(method, placed, number, names) for number in numbers],
        "tensors": [_tensor(item, names) for item in placed],
    }


def _tensor(placed: PlacedStorage, names: ValueNames) -> dict[str, Any]:
    value = names.chief(placed)
    return {
        "name": names.of(value),
        "module": names.module(names.makers.get(value, -1)),
        "type": str(names.method.values[value]),
        "values": sorted(placed.storage.values),
        "memory": placed.memory_id,
        "offset": placed.offset,
        "bytes": placed.storage.size,
        "state": placed.storage.is_state,
        "alive": [[first, end - 1] for first, end in placed.storage.points.runs],
    }


def _memory(
    method: Method, everything: Sequence[PlacedStorage], number: int, names: ValueNames
) -> dict[str, Any]:
    inside = [placed for placed in everything if placed.memory_id == number]
    at = _peak(inside)
    here = (placed for placed in inside if at in placed.storage.points)
    alive = [placed for placed in here if placed.storage.size > 0]
    alive.sort(key=lambda placed: -placed.storage.size)
    return {
        "id": number,
        "bytes": method.planned_sizes[number],
        "alive": _alive(inside, len(method.instructions)),
        "peak": {
            "instruction": at,
            "operator": names.operator(at),
            "module": names.module(at),
            "bytes": _size(alive),
            "tensors": [_tensor(placed, names) for placed in alive[:_TOP]],
            "more": max(len(alive) - _TOP, 0),
        },
    }


def _alive(inside: Iterable[PlacedStorage], instructions: int) -> list[int]:
    changes = [0] * (instructions + 3)
    for placed in inside:
        for first, end in placed.storage.points.runs:
            changes[first + 1] += placed.storage.size
            changes[end + 1] -= placed.storage.size
    return list(itertools.accumulate(changes))[:-1]


def _peak(inside: Sequence[PlacedStorage]) -> int:
    """The first moment at which most bytes matter."""
    changes: dict[int, int] = {}
    for placed in inside:
        for first, end in placed.storage.points.runs:
            changes[first] = changes.get(first, 0) + _size([placed])
            changes[end] = changes.get(end, 0) - _size([placed])
    moments = sorted(changes)
    sizes = itertools.accumulate(changes[at] for at in moments)
    peaks = zip(moments, sizes, strict=True)
    return min(peaks, key=lambda peak: (-peak[1], peak[0]), default=(-1, 0))[0]


def _size(placed: Sequence[PlacedStorage]) -> int:
    return sum(-(-item.storage.size // ALIGN) * ALIGN for item in placed)


class ValueNames:
    """What people call the values of a method."""

    def __init__(self, method: Method, known: KernelList) -> None:
        self.method = method
        self.inputs = _first_places(method.inputs)
        self.outputs = _first_places(method.outputs)
        self.makers: dict[int, int] = {}  # value -> the first instruction that writes
        for index, effect in enumerate(effects.of(method, known)):
            for value in sorted(effect.writes | effect.updates):
                self.makers.setdefault(value, index)

    def operator(self, index: int) -> str:
        if index < 0:
            return "entry"
        if index >= len(self.method.instructions):
            return "exit"
        instruction = self.method.instructions[index]
        if isinstance(instruction, types.KernelCall):
            return self.method.operator_names[instruction.op_index]
        if isinstance(instruction, types.DelegateCall):
            return f"delegate {self.method.delegates[instruction.delegate_index].id}"
        return type(instruction).__name__.removesuffix("Call")

    def module(self, index: int) -> str | None:
        """Of the model; None: the model itself, or unknown."""
        if 0 <= index < len(self.method.instructions):
            return program_names.module_of(self.method, index) or None
        return None

    def chief(self, placed: PlacedStorage) -> int:
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
        tensor = self.method.values[value]
        if value in self.inputs:
            return f"input {self.inputs[value]}"
        if isinstance(tensor, types.Tensor) and tensor.name:
            return tensor.name
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
