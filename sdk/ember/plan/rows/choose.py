"""A method becomes the regions of rows that need the least memory at its peak.

A region counts as one moment: the windows, its inputs and outputs and all that lives
past it. The least peak over all ways to cut the method into regions and plain calls is
found by dynamic programming; among those that come near it, the one with the fewest
calls in regions, and then in those without the columns beside the image.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ember.files.tensors import align_up
from ember.plan import traffic
from ember.plan.rows import cascade, ranges, schedule, sharing
from ember.plan.rows.cascade import Cascade
from ember.plan.rows.lives import RowLives, in_pieces, most
from ember.plan.rows.ranges import Range
from ember.plan.rows.schedule import OutOfStepError, Schedule
from ember.program.types import ALIGN

# Parts of the least peak, given for fewer calls in regions, and, at least, for windows
# that have the columns beside the image.
_SPARE, _SPARE_SIDES = 1 / 64, 1 / 11


@dataclass(frozen=True)
class Pair:
    """An output may overlap an input that starts `by` bytes later."""

    source: int  # values
    out: int
    by: int
    saved: int  # bytes


@dataclass(frozen=True)
class ChosenRows:
    regions: Sequence[Schedule]
    over: Sequence[int]  # calls whose whole results are written over their inputs


class Chooser:
    """With `over`, an output may overlap rows of an input that were read. `scratch` is
    in bytes, by instruction; `sided` applies where windows have the columns beside the
    image. Both are empty where they are unknown."""

    def __init__(
        self,
        lives: RowLives,
        scratch: Sequence[int] = (),
        sided: Sequence[int] = (),
        *,
        over: bool = False,
    ) -> None:
        self.lives = lives
        self.scratch = scratch or [0] * len(lives.calls)
        self.sided = sided or self.scratch
        self.over = over
        self.schedules: dict[tuple[int, int, bool, bool], Schedule | None] = {}

    def ranges(self) -> list[list[Range]]:
        """By their end."""
        return ranges.by_end(self.lives, self.scratch, self.sided, over=self.over)

    def choice(self) -> ChosenRows:
        """In the order of their calls; none where that lowers no peak."""
        by_end = self.ranges()
        spare_sides = self._spare_sides()
        while True:
            chosen = _chosen(by_end, spare_sides)
            wrong = [each for each in chosen if self._true(each) != each]
            if not wrong:
                regions = [self._smallest(each) for each in chosen if each.by_rows]
                return ChosenRows(regions, [each.first for each in chosen if each.over])
            for each in wrong:
                true = self._true(each)
                by_end[each.end].remove(each)
                by_end[each.end] += [true] if true else []

    def _spare_sides(self) -> float:
        """The part that products at borders add, which take kernels twice as long."""
        method = self.lives.method
        known, calls = self.lives.known, range(len(self.lives.calls))
        macs = [traffic.macs_of(method, known, n) for n in calls]
        at_borders = sum(
            count * 2 * max(read.beside for read in call.reads) / call.tensor.sizes[-1]
            for count, call in zip(macs, self.lives.calls, strict=True)
            if call and call.reads
        )
        return max(2 * at_borders / max(sum(macs), 1), _SPARE_SIDES)

    def _true(self, each: Range) -> Range | None:
        """A region with the cost of its schedule; None where it has none."""
        if not each.by_rows:
            return each
        region = self.scheduled(each)
        if region is None:
            return None
        return replace(each, cost=self.cost(region))

    def scheduled(self, each: Range) -> Schedule | None:
        """The schedule of a region; None where it cannot run so."""
        key = each.first, each.end, each.has_sides, each.in_pieces
        if key not in self.schedules:
            self.schedules[key] = self._schedule(each)
        return self.schedules[key]

    def _smallest(self, each: Range) -> Schedule:
        """The schedule of a chosen region, with more search for a small slab."""
        fed = each.first < self.lives.fed_until()
        few = self.scheduled(each)
        assert few is not None
        many = schedule.of(
            few.cascade,
            whole_inputs=fed,
            work=sharing.MANY,
            under=self._under(few.cascade),
        )
        return many if schedule.fits_table(many) else few

    def _schedule(self, each: Range) -> Schedule | None:
        chain = self._cascade(each)
        if chain is None:
            return None
        fed = self.lives.fed if each.first < self.lives.fed_until() else None
        if fed is not None and chain.inputs != (fed,):
            return None
        try:
            region = schedule.of(
                chain, whole_inputs=fed is not None, under=self._under(chain)
            )
        except OutOfStepError:
            return None
        return region if schedule.fits_table(region) else None

    def _cascade(self, each: Range) -> Cascade | None:
        lives, last = self.lives, each.end - 1
        calls = [call for call in lives.calls[each.first : each.end] if call]
        wanted = {call.out for call in calls if lives.is_wanted(call.out, last)}
        wanted.add(calls[-1].out)
        parts = [part for call in calls for part in lives.parts(call.index)]
        if each.in_pieces:
            parts = [piece for piece in map(in_pieces, calls) if piece]
        chain = cascade.of(parts, frozenset(wanted), sides=each.has_sides)
        if chain is None:
            return None
        outputs = {lives.store_of[out] for out in chain.outputs}
        if any(lives.store_of[value] in outputs for value in chain.inputs):
            return None
        written = {
            value
            for effect in lives.effects[each.first : each.end]
            for value in effect.writes | effect.updates
        }
        return None if written & set(chain.inputs) else chain

    def cost(self, region: Schedule) -> int:
        """Bytes alive in a region."""
        chain, lives = region.cascade, self.lives
        first, last = (chain.calls[n].index for n in (0, -1))
        scratch = self.sided if chain.has_sides else self.scratch
        calls = [call for call in lives.calls[first : last + 1] if call]
        inner = set().union(*(lives.inner(call, last) for call in calls))
        gone = (lives.room(n) for n in inner if lives.meets(n, first, last + 1))
        cost = lives.alive(first, last + 1) - sum(gone) + region.slab.size
        cost += most(scratch, first, last + 1)
        if not self.over:
            return cost
        pairs = self._pairs(chain, schedule.over(region))
        saved = [each.saved for each in pairs]
        return cost - max([0, self._saved_by_slab(region), *saved])

    def _under(self, chain: Cascade) -> int | None:
        """The largest input that the slab may overlap."""
        last = chain.calls[-1].index
        values = {
            value
            for value in chain.inputs
            if self.over
            and self.lives.planes(value) == 1
            and self.lives.may_be_overwritten(value, last)
        }
        return max(values, key=self._room, default=None)

    def _room(self, value: int) -> int:
        return self.lives.room(self.lives.store_of[value])

    def _saved_by_slab(self, region: Schedule) -> int:
        value = self._under(region.cascade)
        if value is None:
            return 0
        deltas = schedule.over_slab(region)
        if not deltas:
            return 0
        inputs = enumerate(region.cascade.inputs)
        by = max(deltas[n] for n, each in inputs if each == value)
        return self._shared(self._room(value), region.slab.size, by)

    def _pairs(
        self, chain: Cascade, deltas: Mapping[tuple[int, int], int]
    ) -> Iterator[Pair]:
        """Inputs that are not needed after a region, with what may overlap them."""
        last = chain.calls[-1].index
        for out in chain.outputs:
            for value in dict.fromkeys(chain.inputs):
                if not self.lives.may_be_overwritten(value, last):
                    continue
                numbers = [n for n, v in enumerate(chain.inputs) if v == value]
                where = chain.outputs.index(out)
                by = max([0, *(deltas.get((n, where), 0) for n in numbers)])
                yield Pair(value, out, by, self._saved(value, out, by))

    def _saved(self, value: int, out: int, by: int) -> int:
        return self._shared(self._room(value), self._room(out), by)

    def _shared(self, source: int, target: int, by: int) -> int:
        return source + target - max(align_up(by, ALIGN) + source, target)


def _chosen(by_end: Sequence[Sequence[Range]], spare_sides: float) -> list[Range]:
    """`spare_sides` is a part of the least peak."""
    least = _least_peak(by_end)
    peak, sided = (int(least * (1 + part)) for part in (_SPARE, spare_sides))
    fewest: list[tuple[_Slow, Range | None]] = [((0, 0), None)]
    for ending in by_end[1:]:
        options = [
            (_added(fewest[each.first][0], each), number)
            for number, each in enumerate(ending)
            if each.cost <= (sided if each.has_sides else peak)
            and fewest[each.first][0] != _NEVER
        ]
        if options:
            count, number = min(options)
            fewest.append((count, ending[number]))
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
_NOT_AT_ALL = 1 << 62  # bytes


def _added(before: _Slow, each: Range) -> _Slow:
    return before[0] + each.count, before[1] + (0 if each.has_sides else each.count)


def _least_peak(by_end: Sequence[Sequence[Range]]) -> int:
    peaks = [0]
    for ending in by_end[1:]:
        costs = (max(peaks[each.first], each.cost) for each in ending)
        peaks.append(min(costs, default=_NOT_AT_ALL))
    return peaks[-1]
