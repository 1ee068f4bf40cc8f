"""Buffers and several memories become a memory and an offset for each buffer.

The least cost under the capacities, as near as local search comes (spread.c): it counts
bytes that are alive at once. Then every memory is packed; what sticks out, for gaps
between others, is taken out and goes where it still fits. Deterministic: effort is
counted in steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ember.plan import offsets
from ember.plan.offsets import Placement
from ember.plan.offsets.buffers import Buffer, Moments, lower_bound, padded, sections

STEPS = 40_000_000  # of the search over memories: about a tenth of a second
_PACKING_STEPS = 3_000_000
_ROUNDS = 2  # what went to another memory first may be swapped then
_MOST_BACK = 200  # packings tried to put back what was left out


@dataclass(frozen=True)
class Item:
    """A buffer, and what it costs in each memory; None where it is not allowed."""

    buffer: Buffer
    costs: tuple[int | None, ...]
    is_block: bool = False  # apart from what is packed, and always there


@dataclass(frozen=True)
class Assignment:
    where: tuple[int | None, ...]  # of each item its memory; None: no room anywhere
    offsets: tuple[int, ...]  # in the packed part of that memory; 0 for a block
    packed: tuple[Placement, ...]  # of each memory
    cost: int  # of all items that have room


def spread(
    items: Sequence[Item], capacities: Sequence[int], steps: int = STEPS
) -> Assignment:
    """A memory for every item, so that each holds no more than its capacity (bytes)."""
    return _Search(items, capacities, steps).found()


class _Search:
    def __init__(
        self, items: Sequence[Item], capacities: Sequence[int], steps: int
    ) -> None:
        self.items = items
        self.capacities = list(capacities)
        self.steps = steps
        self.nowhere = len(capacities)
        worst = 1 + sum(max((c or 0 for c in item.costs), default=0) for item in items)
        # One more memory for what finds no room; any other is better.
        self.costs = [
            (*item.costs, worst * (1 + padded(item.buffer) // 16)) for item in items
        ]
        self.tries = 0  # packings that putting back may still try
        self.used = [n for n, item in enumerate(items) if item.buffer.size > 0]

    def found(self) -> Assignment:
        where = self._assigned(self.capacities)
        crowded = [m for m in range(self.nowhere) if self._drop(m, where)]
        if crowded:
            self._put_back(where)
        return self._spread(where)

    def _drop(self, memory: int, where: list[int]) -> bool:
        """Take out of a memory what does not fit when it is packed; whether any."""
        members = self._members(memory, where)
        room = self._room(memory, where)
        placed = self._packed(memory, where)
        if placed.height <= room:
            return False
        for number, offset in zip(members, placed.offsets, strict=True):
            if offset + padded(self.items[number].buffer) > room:
                where[number] = self.nowhere
        return True

    def _assigned(self, room: Sequence[int]) -> list[int]:
        """The memory of each item, for memories of these capacities."""
        where = [self.nowhere] * len(self.items)
        for number in range(len(self.items)):
            if number not in self.used:
                costs = self.costs[number]
                where[number] = min(
                    (c, m) for m, c in enumerate(costs) if c is not None
                )[1]
        if not self.used:
            return where
        buffers = [self.items[number].buffer for number in self.used]
        problem = offsets.Problem(buffers, sections(buffers))
        chosen = problem.spread(
            self._order(problem),
            [*room, 1 << 60],
            [self.costs[number] for number in self.used],
            self.steps,
        )
        for number, memory in zip(self.used, chosen, strict=True):
            where[number] = memory
        return where

    def _order(self, problem: offsets.Problem) -> list[int]:
        """What gains most by a good memory, per byte and moment, comes first."""

        def density(n: int) -> float:
            costs = [c for c in self.costs[self.used[n]][:-1] if c is not None]
            gain = max(costs) - min(costs) if len(costs) > 1 else 1 << 40
            return gain / (padded(problem.buffers[n]) * len(problem.where.of[n]))

        return sorted(range(len(self.used)), key=lambda n: (-density(n), n))

    def _room(self, memory: int, where: Sequence[int]) -> int:
        """Bytes of a memory that blocks leave."""
        blocks = (
            padded(item.buffer)
            for item, there in zip(self.items, where, strict=True)
            if item.is_block and there == memory
        )
        return self.capacities[memory] - sum(blocks)

    def _members(self, memory: int, where: Sequence[int]) -> list[int]:
        return [
            number
            for number, item in enumerate(self.items)
            if where[number] == memory and not item.is_block
        ]

    def _packed(self, memory: int, where: Sequence[int]) -> Placement:
        buffers = [self.items[n].buffer for n in self._members(memory, where)]
        room = max(self._room(memory, where), 0)
        return offsets.place(buffers, room, _PACKING_STEPS)

    def _put_back(self, where: list[int]) -> None:
        """Move items to memories that are better for them while they can be packed,
        in the place of another one where that costs less."""
        self.tries = _MOST_BACK
        for _ in range(_ROUNDS):
            wishes = [
                (cost - self._price(n, where[n]), n, m)
                for n in self.used
                for m, cost in enumerate(self.costs[n])
                if cost is not None and cost < self._price(n, where[n])
            ]
            for _, number, memory in sorted(wishes):
                gain = self._price(number, where[number]) - self._price(number, memory)
                if gain > 0 and not self._moved(where, number, memory):
                    self._swap(where, number, memory, gain)

    def _moved(self, where: list[int], number: int, memory: int) -> bool:
        """Move an item if the memory can still be packed; whether it was."""
        old, where[number] = where[number], memory
        members = [self.items[n].buffer for n in self._members(memory, where)]
        room = self._room(memory, where)
        if lower_bound(members) <= room and self.tries > 0:
            self.tries -= 1
            if self._packed(memory, where).height <= room:
                return True
        where[number] = old
        return False

    def _swap(self, where: list[int], number: int, memory: int, gain: int) -> None:
        old = where[number]
        points = Moments.of(self.items[number].buffer.points)
        losses = sorted(
            (self._price(n, old) - self._price(n, memory), n)
            for n in self._members(memory, where)
            if self.costs[n][old] is not None and points & self.items[n].buffer.points
        )
        for loss, other in losses:
            if loss >= gain:
                return
            where[other] = old
            if self._fits(old, where) and self._moved(where, number, memory):
                return
            where[other] = memory

    def _fits(self, memory: int, where: Sequence[int]) -> bool:
        if memory == self.nowhere:
            return True
        return self._packed(memory, where).height <= self._room(memory, where)

    def _price(self, number: int, memory: int) -> int:
        cost = self.costs[number][memory]
        assert cost is not None
        return cost

    def _cost(self, where: Sequence[int]) -> int:
        return sum(
            self.costs[n][m] or 0 for n, m in enumerate(where) if m != self.nowhere
        )

    def _spread(self, where: Sequence[int]) -> Assignment:
        offsets = [0] * len(self.items)
        packed = []
        for memory in range(self.nowhere):
            place = self._packed(memory, where)
            for number, offset in zip(
                self._members(memory, where), place.offsets, strict=True
            ):
                offsets[number] = offset
            packed.append(place)
        return Assignment(
            tuple(None if m == self.nowhere else m for m in where),
            tuple(offsets),
            tuple(packed),
            self._cost(where),
        )
