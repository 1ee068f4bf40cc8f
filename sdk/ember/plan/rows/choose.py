"""A method becomes the regions of rows that need the least memory at its peak.

A region counts as one moment: the windows, its inputs and outputs and all that lives
past it. The least peak over all ways to cut the method into regions and plain calls is
found by dynamic programming; among those that come near it, the one with the fewest
calls in regions, and then in those without the columns beside the image.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ember.kernels import KernelList
from ember.plan import effects, lifetimes
from ember.plan.rows import cascade, reads, schedule, table
from ember.plan.rows.cascade import Cascade
from ember.plan.rows.reads import RowCall
from ember.plan.rows.schedule import OutOfStepError, Schedule
from ember.program import Method, types
from ember.program.types import ALIGN

_SPARE = 64  # a part of the least peak that is given for faster regions
_MOST_CALLS = 96  # of a region that is looked at


@dataclass(frozen=True)
class _Range:
    first: int
    end: int
    cost: int  # bytes alive
    cascade: Cascade | None  # None: a plain call


@dataclass(frozen=True)
class Pair:
    """An output may lie over an input that starts `by` bytes later."""

    source: int  # values
    out: int
    by: int
    saved: int  # bytes


class Chooser:
    """With `over`, an output may lie over rows of an input that were read. `scratch`
    are bytes, by instruction; `sided` those where the columns beside the image lie in
    windows. None where they are not known."""

    def __init__(
        self,
        method: Method,
        known: KernelList,
        scratch: Sequence[int] = (),
        sided: Sequence[int] = (),
        *,
        over: bool = False,
    ) -> None:
        self.method = method
        self.scratch = scratch or [0] * len(method.instructions)
        self.sided = sided or self.scratch
        self.over = over
        self.effects = effects.of(method, known)
        self.stores = lifetimes.of(method, known, check=False).storages
        self.store_of = {
            value: number
            for number, store in enumerate(self.stores)
            for value in store.values
        }
        self.owners: dict[int, int | None] = {}
        self.calls = [self._call(n) for n in range(len(method.instructions))]
        self.schedules: dict[tuple[int, int, bool], Schedule | None] = {}

    def _call(self, index: int) -> RowCall | None:
        call = reads.of_call(self.method, index)
        if call is None:
            return None
        owners: dict[int, int] = {}
        for read in call.reads:
            owner = self._owner(read.value)
            if owner is None:
                return None
            owners[read.value] = owner
        return reads.resolved(call, owners)

    def _owner(self, value: int) -> int | None:
        if value not in self.owners:
            self.owners[value] = self._found_owner(value)
        return self.owners[value]

    def _found_owner(self, value: int) -> int | None:
        """The value that is written where `value` lies, as a whole; None where others
        lie there too."""
        number = self.store_of.get(value)
        if number is None or not self._is_whole(number):
            return None
        group = self.stores[number].values.keys()
        given = group & set(self.method.inputs)
        for effect in self.effects:
            given |= (effect.writes | effect.updates) & group
        owner = min(given, default=value)
        same = [self.method.values[n] for n in (owner, value)]
        rows = {reads.rows(t) for t in same if isinstance(t, types.Tensor)}
        alike = len(given) <= 1 and all(map(reads.is_image, same)) and len(rows) == 1
        return owner if alike else None

    def _is_whole(self, number: int) -> bool:
        """Whether all values of a storage fill it."""
        store = self.stores[number]
        tensors = (self.method.values[value] for value in store.values)
        return all(
            isinstance(tensor, types.Tensor) and tensor.nbytes == store.size
            for tensor in tensors
        )

    def regions(self) -> list[Schedule]:
        """In the order of their calls; none where rows lower no peak."""
        ranges = self._ranges()
        while True:
            chosen = self._chosen(ranges)
            wrong = [each for each in chosen if self._true(each) != each]
            if not wrong:
                schedules = (self._scheduled(each) for each in chosen if each.cascade)
                return [region for region in schedules if region is not None]
            for each in wrong:
                true = self._true(each)
                ranges[each.end].remove(each)
                ranges[each.end] += [true] if true else []

    def _true(self, each: _Range) -> _Range | None:
        """A region with what its schedule says; None where it has none."""
        if each.cascade is None:
            return each
        region = self._scheduled(each)
        if region is None:
            return None
        return replace(each, cost=self._cost(each.cascade, region))

    def _scheduled(self, each: _Range) -> Schedule | None:
        assert each.cascade is not None
        key = each.first, each.end, each.cascade.has_sides
        if key not in self.schedules:
            try:
                known = schedule.of(each.cascade)
            except OutOfStepError:
                known = None
            fits = known is not None and table.fits(known)
            self.schedules[key] = known if fits else None
        return self.schedules[key]

    # ---- ranges ------------------------------------------------------------------

    def _ranges(self) -> list[list[_Range]]:
        """By their end."""
        count = len(self.method.instructions)
        by_end: list[list[_Range]] = [[] for _ in range(count + 1)]
        for first in range(count):
            plain = _Range(
                first,
                first + 1,
                self._alive(first, first + 1, set(), self.scratch),
                None,
            )
            by_end[first + 1].append(plain)
            for each in self._regions_from(first):
                by_end[each.end].append(each)
        return by_end

    def _regions_from(self, first: int) -> Iterator[_Range]:
        calls = []
        for index in range(first, min(first + _MOST_CALLS, len(self.calls))):
            call = self.calls[index]
            if call is None:
                return
            calls.append(call)
            if len(calls) > 1 or self.over:
                for chain in self._cascades(calls):
                    yield _Range(first, index + 1, self._cost(chain), chain)

    def _cost(self, chain: Cascade, region: Schedule | None = None) -> int:
        """Bytes alive in a region; without its schedule never too many."""
        first, last = (chain.calls[n].index for n in (0, -1))
        scratch = self.sided if chain.has_sides else self.scratch
        cost = self._alive(first, last + 1, self._inner(chain), scratch) + chain.slab
        if not self.over:
            return cost
        deltas = schedule.over(region) if region else {}
        return cost - max((each.saved for each in self.pairs(chain, deltas)), default=0)

    def pairs(
        self, chain: Cascade, deltas: Mapping[tuple[int, int], int]
    ) -> Iterator[Pair]:
        """Inputs that nobody needs after a region, with what may lie over them."""
        last = chain.calls[-1].index
        for out in chain.outputs:
            for value in dict.fromkeys(chain.inputs):
                store = self.stores[self.store_of[value]]
                kept = store.is_state or not self._is_whole(self.store_of[value])
                if kept or store.points.last > last:
                    continue
                numbers = [n for n, v in enumerate(chain.inputs) if v == value]
                where = chain.outputs.index(out)
                by = max([0, *(deltas.get((n, where), 0) for n in numbers)])
                yield Pair(value, out, by, self._saved(value, out, by))

    def _saved(self, value: int, out: int, by: int) -> int:
        source, target = (self._room(self.store_of[v]) for v in (value, out))
        return source + target - max(-(-by // ALIGN) * ALIGN + source, target)

    def _cascades(self, calls: Sequence[RowCall]) -> Iterator[Cascade]:
        """With and without columns beside the image in its windows."""
        plain = self._cascade(calls, sides=False)
        wide = self._cascade(calls, sides=True) if plain else None
        yield from (chain for chain in (plain, wide) if chain)

    def _cascade(self, calls: Sequence[RowCall], *, sides: bool) -> Cascade | None:
        first, last = calls[0].index, calls[-1].index
        out = {call.out for call in calls}
        wanted = set()
        for value in out:
            store = self.stores[self.store_of[value]]
            if store.points.last > last or store.is_state:
                wanted.add(value)
            if self._owner(value) != value:
                return None  # shares its memory with others
        wanted.add(calls[-1].out)
        chain = cascade.of(self.method, calls, frozenset(wanted), sides=sides)
        if chain is None:
            return None
        for value in chain.inputs:
            if self.store_of[value] in {self.store_of[out] for out in chain.outputs}:
                return None
        written = {
            value
            for index in range(first, last + 1)
            for value in self.effects[index].writes | self.effects[index].updates
        }
        return None if written & set(chain.inputs) else chain

    def _inner(self, chain: Cascade) -> set[int]:
        """Storages that the region needs no more."""
        values = {call.out for call in chain.calls} - set(chain.outputs)
        values |= {value for call in chain.calls for value in call.scratch}
        return {self.store_of[value] for value in values if value in self.store_of}

    def _alive(
        self, first: int, end: int, without: set[int], scratch: Sequence[int]
    ) -> int:
        """Bytes alive at any moment from `first` up to `end`, and scratch."""
        most = -(-max(scratch[first:end]) // ALIGN) * ALIGN
        return most + sum(
            self._room(number)
            for number, store in enumerate(self.stores)
            if number not in without
            and any(a < end and first < b for a, b in store.points.runs)
        )

    def _room(self, store: int) -> int:
        return -(-self.stores[store].size // ALIGN) * ALIGN

    # ---- the choice --------------------------------------------------------------

    def _chosen(self, by_end: Sequence[Sequence[_Range]]) -> list[_Range]:
        peak = _least_peak(by_end)
        peak += peak // _SPARE
        fewest: list[tuple[_Slow, _Range | None]] = [((0, 0), None)]
        for ranges in by_end[1:]:
            options = [
                (_added(fewest[each.first][0], each), number)
                for number, each in enumerate(ranges)
                if each.cost <= peak and fewest[each.first][0] != _NEVER
            ]
            if options:
                count, number = min(options)
                fewest.append((count, ranges[number]))
            else:
                fewest.append((_NEVER, None))
        chosen = []
        last = fewest[-1][1]
        while last is not None:
            chosen.append(last)
            last = fewest[last.first][1]
        return chosen[::-1]


_Slow = tuple[int, int]  # calls in regions, and those whose windows have no sides
_NEVER: _Slow = (-1, 0)


def _added(before: _Slow, each: _Range) -> _Slow:
    if each.cascade is None:
        return before
    count = len(each.cascade.calls)
    return before[0] + count, before[1] + (0 if each.cascade.has_sides else count)


def _least_peak(by_end: Sequence[Sequence[_Range]]) -> int:
    peaks = [0]
    for ranges in by_end[1:]:
        peaks.append(min(max(peaks[each.first], each.cost) for each in ranges))
    return peaks[-1]
