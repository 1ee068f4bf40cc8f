"""A method and its storages become the method with a plan of its own.

Every planned memory is packed anew by lifetimes; state keeps its content, so memories
with state that several methods share stay as they are. Values that nothing touches
lose their memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ember.kernels import KernelList
from ember.plan import lifetimes, offsets
from ember.plan.lifetimes import Storage
from ember.plan.rows import row_regions
from ember.program import Method, types
from ember.program.types import ALIGN


@dataclass(frozen=True)
class PlacedStorage:
    """A storage, and where it starts in a planned memory."""

    storage: Storage
    memory_id: int
    offset: int


@dataclass(frozen=True)
class Replanned:
    """Sizes in bytes, over all planned memories of the method."""

    method: Method
    packed: tuple[int, ...]  # ids of the memories that are planned anew
    placed: tuple[PlacedStorage, ...]  # all that lies in them
    planned: int
    lower_bound: int
    stock: int
    proved: bool  # nothing smaller is possible
    conflict: str | None  # what the program's own plan destroys
    copied: tuple[int, ...] = ()  # ids of memories with copies of constants

    @property
    def has_state(self) -> bool:
        """Whether a run finds what the last one left in memories planned anew."""
        return any(placed.storage.is_state for placed in self.placed)


def replan(
    method: Method,
    known: KernelList,
    keep: frozenset[int] = frozenset(),
    *,
    check: bool = True,
) -> Replanned:
    """The method with its memories packed, but for those with the ids of `keep` and
    those in which an output of a region of rows lies over an input.

    Without `check` the method's own plan is trusted.
    """
    lives = lifetimes.of(method, known, check=check)
    keep = keep | row_regions.overlapping(method)
    sizes = list(method.planned_sizes)
    moves: dict[int, int] = {}  # value -> offset
    everything: list[PlacedStorage] = []
    bound, proved = 0, True
    for memory in range(1, len(sizes)):
        if memory in keep:
            bound += sizes[memory]
            continue
        group = [item for item in lives.storages if item.memory_id == memory]
        placed = offsets.place([item.buffer() for item in group])
        for storage, offset in zip(group, placed.offsets, strict=True):
            for value, start in storage.values.items():
                moves[value] = offset + start
            everything.append(PlacedStorage(storage, memory, offset))
        bound += placed.lower_bound
        proved = proved and placed.proved
        sizes[memory] = -(-placed.height // ALIGN) * ALIGN
    return Replanned(
        method=replace(
            method,
            values=_values(method, moves, keep),
            planned_sizes=tuple(sizes),
        ),
        packed=tuple(number for number in range(1, len(sizes)) if number not in keep),
        placed=tuple(everything),
        planned=sum(sizes),
        lower_bound=bound,
        stock=method.planned_bytes,
        proved=proved,
        conflict=lives.conflict,
    )


def _values(
    method: Method, moves: Mapping[int, int], keep: frozenset[int]
) -> tuple[types.Value, ...]:
    return tuple(
        _value(value, moves.get(index), keep)
        for index, value in enumerate(method.values)
    )


def _value(value: types.Value, offset: int | None, keep: frozenset[int]) -> types.Value:
    if not isinstance(value, types.Tensor) or value.allocation is None:
        return value
    if value.allocation.memory_id in keep:
        return value
    if offset is None:
        return types.Null()
    return replace(value, allocation=replace(value.allocation, offset=offset))
