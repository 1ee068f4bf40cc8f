"""Storages become offsets where some may lie over others: outputs over rows of inputs.

Such a pair is alive together, and yet may share bytes if the input starts a number of
bytes later than the output, or more. Orders of best fit are tried, some by chance: the
same ones each time.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ember.plan.lifetimes import Storage
from ember.plan.offsets import Moments
from ember.program.types import ALIGN

_STARTS, _TRIES = 8, 400

Over = Mapping[tuple[int, int], int]  # (input, output): bytes the input starts later


@dataclass(frozen=True)
class PlacedStorages:
    offsets: tuple[int, ...]
    height: int


def place(storages: Sequence[Storage], over: Over) -> PlacedStorages:
    """Offsets of storages; numbers in `over` are places in `storages`."""
    placer = _Placer(storages, over)
    numbers = list(range(len(storages)))
    keys = [
        lambda n: -placer.sizes[n],
        lambda n: -placer.sizes[n] * len(storages[n].points),
        lambda n: storages[n].points.runs[0][0] if len(storages[n].points) else 0,
        lambda n: -storages[n].points.last if len(storages[n].points) else 0,
    ]
    orders = [sorted(numbers, key=key) for key in keys]
    best = min((placer.placed(order) for order in orders), key=_height)
    bound = placer.bound()
    for number in range(_STARTS):
        if best.height <= bound:
            break
        other = _searched(placer, orders[0], bound, random.Random(number))  # noqa: S311
        best = min(best, other, key=_height)
    return best


def _searched(
    placer: _Placer, order: Sequence[int], bound: int, chance: random.Random
) -> PlacedStorages:
    """From one order on: what is worse is not followed."""
    best = placer.placed(order)
    for _ in range(_TRIES):
        if best.height <= bound:
            break
        other = _shuffled(order, chance)
        trial = placer.placed(other)
        if trial.height <= best.height:
            best, order = trial, other
    return best


def bytes_alive(storages: Sequence[Storage], over: Over) -> Mapping[int, int]:
    """At each moment, if one pair of each input overlaps as far as it may."""
    rooms = [-(-store.size // ALIGN) * ALIGN for store in storages]
    alive: dict[int, int] = {}
    for moment in {point for store in storages for point in store.points}:
        there = {n for n, store in enumerate(storages) if moment in store.points}
        alive[moment] = sum(rooms[n] for n in there)
        for (source, out), by in over.items():
            if {source, out} <= there:
                room = -(-max(by, 0) // ALIGN) * ALIGN + rooms[source]
                both = max(room, rooms[out])
                alive[moment] -= max(rooms[source] + rooms[out] - both, 0)
    return alive


def _height(placed: PlacedStorages) -> int:
    return placed.height


def _shuffled(order: Sequence[int], chance: random.Random) -> list[int]:
    """A few storages are taken earlier."""
    other = list(order)
    for _ in range(1 + chance.randrange(3)):
        moved = other.pop(chance.randrange(len(other)))
        other.insert(chance.randrange(len(other) + 1), moved)
    return other


class _Placer:
    def __init__(self, storages: Sequence[Storage], over: Over) -> None:
        self.storages = storages
        self.sizes = [-(-store.size // ALIGN) * ALIGN for store in storages]
        self.over = {pair: -(-by // ALIGN) * ALIGN for pair, by in over.items()}
        self.rivals = [
            [
                other
                for other, theirs in enumerate(storages)
                if other != number and _meet(own.points, theirs.points)
            ]
            for number, own in enumerate(storages)
        ]

    def bound(self) -> int:
        """No placement is lower."""
        return max(bytes_alive(self.storages, self.over).values(), default=0)

    def placed(self, order: Sequence[int]) -> PlacedStorages:
        """Each storage where it makes the whole grow least, from below or above."""
        offsets: dict[int, int] = {}
        low = high = 0
        for number in order:
            size = self.sizes[number]
            best = min(
                (max(high, at + size) - min(low, at), abs(at), at)
                for at in self._free(number, offsets)
            )
            offsets[number] = best[2]
            low, high = min(low, best[2]), max(high, best[2] + size)
        numbers = range(len(self.storages))
        return PlacedStorages(tuple(offsets[n] - low for n in numbers), high - low)

    def _free(self, number: int, offsets: Mapping[int, int]) -> list[int]:
        """Offsets at the edges of what is taken by rivals."""
        taken = sorted(
            self._taken(number, other, offsets[other])
            for other in self.rivals[number]
            if other in offsets
        )
        free, end = [], None
        for first, past in taken:
            if first >= past:
                continue
            if end is None or first >= end:
                free.append(first)
                if end is not None:
                    free.append(end)
                end = past
            else:
                end = max(end, past)
        return [*free, 0 if end is None else end]

    def _taken(self, number: int, other: int, at: int) -> tuple[int, int]:
        """Between these two offsets, which are free, a storage may not start."""
        first, past = at - self.sizes[number], at + self.sizes[other]
        if (number, other) in self.over:  # it is the input
            past = min(past, at + self.over[number, other])
        if (other, number) in self.over:
            first = max(first, at - self.over[other, number])
        return first, past


def _meet(a: Moments, b: Moments) -> bool:
    return any(
        first < end and start < past for first, past in a.runs for start, end in b.runs
    )
