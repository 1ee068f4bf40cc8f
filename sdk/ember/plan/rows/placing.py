"""A method becomes the one whose outputs of regions overlap rows of their inputs.

Storages become offsets where some may overlap. Such a pair is alive together, and yet
may share bytes if the input starts a number of bytes later than the output, or more.
Orders of best fit are tried, some by chance: the same ones each time.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from ember.kernels import KernelList
from ember.plan import lifetimes
from ember.plan.lifetimes import Storage
from ember.plan.offsets.buffers import Moments
from ember.plan.rows import row_regions
from ember.plan.rows.lives import RowLives
from ember.program import Method, types
from ember.program.edit import with_values
from ember.program.types import ALIGN


def pairs(method: Method, stores: Sequence[lifetimes.Storage]) -> Over:
    """Pairs of storages, by their place in `stores`: an input, and an output or a slab
    that may overlap it, with the bytes by which the input starts later. Where an output
    has the very place of an input, both are one storage, which is there before."""
    number = {value: n for n, store in enumerate(stores) for value in store.values}
    return {
        (number[source], number[out]): by
        for region in row_regions.regions(method)
        for (source, out), by in region.over.items()
        if stores[number[source]].points.last == region.rows
        and not stores[number[source]].is_state
        and stores[number[out]].points.runs[0][0] >= region.enter
        and _is_whole(method, stores[number[source]])
        and (out == region.slab or _is_whole(method, stores[number[out]]))
    }


def placed(method: Method, known: KernelList) -> Method:
    """The method with storages placed in least memory, outputs over inputs."""
    stores = lifetimes.of(method, known, check=False).storages
    plan = place(stores, pairs(method, stores))
    used = method.used_values()
    gone: Mapping[int, types.Value] = {
        value: types.Null()
        for value, tensor in method.tensors
        if tensor.allocation is not None and value not in used
    }
    there = moved(method, stores, plan.offsets)
    return replace(
        with_values(method, {**gone, **there}),
        planned_sizes=tuple(
            plan.height if size else 0 for size in method.planned_sizes
        ),
    )


def in_place(method: Method, lives: RowLives, calls: Iterable[int]) -> Method:
    """The method with the results of calls where their inputs are."""
    values = list(method.values)
    for index in calls:
        call, source = lives.calls[index], lives.over_source(index)
        assert call is not None and source is not None
        home = values[source]
        assert isinstance(home, types.Tensor)
        for value in lives.stores[lives.store_of[call.out]].values:
            tensor = values[value]
            assert isinstance(tensor, types.Tensor)
            values[value] = replace(tensor, allocation=home.allocation)
    return replace(method, values=tuple(values))


def _is_whole(method: Method, store: lifetimes.Storage) -> bool:
    """Whether all values of a storage fill it."""
    return all(
        isinstance(tensor, types.Tensor) and tensor.nbytes == store.size
        for tensor in (method.values[value] for value in store.values)
    )


def moved(
    method: Method, stores: Sequence[lifetimes.Storage], offsets: Sequence[int]
) -> dict[int, types.Value]:
    values: dict[int, types.Value] = {}
    for store, offset in zip(stores, offsets, strict=True):
        for value, inside in store.values.items():
            tensor = method.values[value]
            assert isinstance(tensor, types.Tensor)
            place = types.Allocation(store.memory_id, offset + inside)
            values[value] = replace(tensor, allocation=place)
    return values


# ---- the search for offsets ----------------------------------------------------------


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
    best = min(map(placer.placed, orders), key=_height)
    bound = placer.bound()
    for number in range(_STARTS):
        if best.height <= bound:
            break
        other = _searched(placer, orders[0], bound, random.Random(number))  # noqa: S311
        best = min(best, other, key=_height)
    return best.placed()


def _searched(
    placer: _Placer, order: Sequence[int], bound: int, chance: random.Random
) -> _Trial:
    """The best trial reached from one order; worse ones are not followed."""
    best = placer.placed(order)
    for _ in range(_TRIES):
        if best.height <= bound:
            break
        best = placer.no_worse(_shuffled(best.order, chance), best) or best
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


def _height(trial: _Trial) -> int:
    return trial.height


def _shuffled(order: Sequence[int], chance: random.Random) -> list[int]:
    """A few storages are taken earlier."""
    other = list(order)
    for _ in range(1 + chance.randrange(3)):
        moved = other.pop(chance.randrange(len(other)))
        other.insert(chance.randrange(len(other) + 1), moved)
    return other


class _Step(NamedTuple):
    """Where a storage was placed, and the lowest and highest byte until then."""

    at: int
    low: int
    high: int


@dataclass(frozen=True)
class _Trial:
    order: Sequence[int]
    steps: Sequence[_Step]  # in this order
    height: int

    def placed(self) -> PlacedStorages:
        low = self.steps[-1].low if self.steps else 0
        at = {n: step.at for n, step in zip(self.order, self.steps, strict=True)}
        return PlacedStorages(tuple(at[n] - low for n in range(len(at))), self.height)


def _same_start(order: Sequence[int], other: Sequence[int]) -> int:
    """How many numbers two orders of the same ones begin with alike."""
    pairs = enumerate(zip(order, other, strict=True))
    return next((place for place, (a, b) in pairs if a != b), len(order))


class _Placer:
    def __init__(self, storages: Sequence[Storage], over: Over) -> None:
        self.storages = storages
        self.sizes = [-(-store.size // ALIGN) * ALIGN for store in storages]
        self.over = {pair: -(-by // ALIGN) * ALIGN for pair, by in over.items()}
        self.rivals = [
            [
                (other, *edges)
                for other, theirs in enumerate(storages)
                if other != number and _meet(store.points, theirs.points)
                if sum(edges := self._edges(number, other)) > 0
            ]
            for number, store in enumerate(storages)
        ]

    def _edges(self, number: int, other: int) -> tuple[int, int]:
        """How far below and above the offset of `other` a storage may start: between
        these two places, it may not."""
        below, above = self.sizes[number], self.sizes[other]
        below = min(below, self.over.get((other, number), below))
        return below, min(above, self.over.get((number, other), above))

    def bound(self) -> int:
        """A height below which there is no placement."""
        return max(bytes_alive(self.storages, self.over).values(), default=0)

    def placed(self, order: Sequence[int]) -> _Trial:
        """Each storage where it makes the whole grow least, from below or above."""
        trial = self._placed(order, [], None)
        assert trial is not None
        return trial

    def no_worse(self, order: Sequence[int], best: _Trial) -> _Trial | None:
        """The same, unless it is higher than `best`, which may begin alike."""
        kept = _same_start(order, best.order)
        return self._placed(order, list(best.steps[:kept]), best.height)

    def _placed(
        self, order: Sequence[int], steps: list[_Step], most: int | None
    ) -> _Trial | None:
        """With the first steps as given; None as soon as it is higher than `most`."""
        kept = len(steps)
        offsets: list[int | None] = [None] * len(self.storages)
        for number, step in zip(order, steps, strict=False):
            offsets[number] = step.at
        low, high = (steps[-1].low, steps[-1].high) if steps else (0, 0)
        for number in order[kept:]:
            height, _, at = self._least(number, offsets, low, high)
            if most is not None and height > most:
                return None
            offsets[number] = at
            low, high = min(low, at), max(high, at + self.sizes[number])
            steps.append(_Step(at, low, high))
        return _Trial(order, steps, high - low)

    def _least(
        self, number: int, offsets: Sequence[int | None], low: int, high: int
    ) -> tuple[int, int, int]:
        """The height of the whole, and the offset that is nearest to 0 for it."""
        size, least = self.sizes[number], None
        for at in self._free(number, offsets):
            past = at + size
            height = (past if past > high else high) - (at if at < low else low)
            growth = (height, abs(at), at)
            if least is None or growth < least:
                least = growth
        assert least is not None  # there is room at either end
        return least

    def _free(self, number: int, offsets: Sequence[int | None]) -> list[int]:
        """Offsets at the edges of what is taken by rivals."""
        taken = [
            (at - below, at + above)
            for other, below, above in self.rivals[number]
            if (at := offsets[other]) is not None
        ]
        taken.sort()
        free, end = [], None
        for first, past in taken:
            if end is None or first >= end:
                free.append(first)
                if end is not None:
                    free.append(end)
                end = past
            elif past > end:
                end = past
        return [*free, 0 if end is None else end]


def _meet(a: Moments, b: Moments) -> bool:
    return any(
        first < end and start < past for first, past in a.runs for start, end in b.runs
    )
