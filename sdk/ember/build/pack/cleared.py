"""A planned method becomes the spans of its memory that must be zero when it is loaded.

These are its states without an initial value: what a run reads before it writes it.
All else is written before it is read, so nobody has to clear it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ember.plan.improved import Improved
from ember.plan.regions import MethodPlan
from ember.plan.replan import PlacedStorage
from ember.program import types
from ember.program.types import ALIGN


@dataclass(frozen=True)
class Cleared:
    """Bytes of a planned memory, which counts from 0 here."""

    memory: int
    start: int
    size: int


def of(model: Improved, placed: MethodPlan) -> list[Cleared]:
    """Nothing is known of memories that were not planned anew: they are cleared
    whole."""
    plan = model.replanned.get(placed.method.name)
    spans: list[Cleared] = []
    tensors = dict(placed.method.tensors)
    for memory, region in enumerate(placed.planned):
        number = memory + 1
        if region is None or (plan and number in plan.copied):
            continue
        if plan and number in plan.packed:
            states = [
                item
                for item in plan.placed
                if item.memory_id == number and _starts_at_zero(item, tensors)
            ]
            spans += _joined(memory, states)
        else:
            spans.append(Cleared(memory, 0, region.size))
    return spans


def _starts_at_zero(placed: PlacedStorage, tensors: Mapping[int, types.Tensor]) -> bool:
    storage = placed.storage
    filled = any(
        start == 0
        and tensors[value].data_index > 0
        and tensors[value].nbytes >= storage.size
        for value, start in storage.values.items()
    )
    return storage.is_state and storage.size > 0 and not filled


def _joined(memory: int, states: list[PlacedStorage]) -> Iterator[Cleared]:
    """Nothing else lies between the end of a storage and the next multiple of ALIGN."""
    start = end = 0
    for state in sorted(states, key=lambda item: item.offset):
        if state.offset > -(-end // ALIGN) * ALIGN or end == 0:
            if end:
                yield Cleared(memory, start, end - start)
            start = state.offset
        end = max(end, state.offset + state.storage.size)
    if end:
        yield Cleared(memory, start, end - start)
