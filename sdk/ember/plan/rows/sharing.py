"""The steps of a cascade become where each window lies in the slab.

Windows share bytes that they never need at once: the rows of one that were read for the
last time, and what another one holds only until the next call.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ember.files.segments import align_up
from ember.plan.rows import needs
from ember.plan.rows.cascade import Cascade, Window
from ember.plan.rows.needs import Action, WindowPart
from ember.program.types import ALIGN

FEW, MANY = 5_000, 800_000  # pairs of windows that are looked at, about
_TRIES = 1_000  # at most


@dataclass(frozen=True)
class Slab:
    starts: tuple[int, ...]  # of each window, bytes
    unread: int  # where results begin that nobody reads, those of one call
    size: int
    early: frozenset[int] = frozenset()  # windows whose rows move up early


def slab(
    cascade: Cascade,
    steps: Sequence[Action],
    work: int = FEW,
    under: Collection[int] = (),
) -> Slab:
    """`under` are windows of one input that nobody needs afterwards: what is used late
    may lie over rows of it that were read."""
    best = _Placer(cascade, steps, under).best(work)
    unread = max((call.unread_bytes for call in cascade.calls), default=0)
    numbers = range(len(cascade.windows))
    starts = [_start(cascade, number, best.offsets) for number in numbers]
    early = frozenset(number for number, early in best.order if early)
    return Slab(tuple(starts), best.end, best.end + unread, early)


def _start(cascade: Cascade, number: int, offsets: Mapping[int, int]) -> int:
    last = cascade.last_home(number)
    if last == number:
        return offsets[number]
    window = cascade.windows[last]
    return offsets[last] + (window.rows - 1) * window.row_bytes + window.beside


_Moved = tuple[int, bool]  # a window, and whether its rows move up early
_Gaps = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class _Placed:
    order: tuple[_Moved, ...]
    offsets: Mapping[int, int]
    end: int
    total: int  # with the input that lies under it


class _Placer:
    def __init__(
        self, cascade: Cascade, steps: Sequence[Action], under: Collection[int] = ()
    ) -> None:
        self.windows = cascade.windows
        self.input = max((image_bytes(self.windows[n]) for n in under), default=0)
        self.uses = needs.uses(cascade, steps)
        self.read = needs.read_before(cascade, steps, self.uses, under) if under else {}
        self.steps = len(steps)
        may_move = needs.unmoving(cascade) is not None
        self.may_be_early = {
            number
            for number, uses in self.uses.items()
            if may_move and any(use.moves and use.by_call for use in uses)
        }
        self.parts: dict[_Moved, list[tuple[WindowPart, int]]] = {}
        self.known_gaps: dict[tuple[_Moved, _Moved], _Gaps] = {}

    def best(self, work: int) -> _Placed:
        """From the largest on; then a few are taken earlier, or moved early, by
        chance."""
        chance = random.Random(1)  # noqa: S311
        bound = self._bound()
        best = min(
            map(self._placed, self._orders()), key=lambda each: (each.total, each.end)
        )
        for _ in range(min(_TRIES, work // max(len(self.uses), 1) ** 2)):
            if best.end <= bound and not self.input:
                break
            trial = self._placed(self._changed(best.order, chance))
            if (trial.total, trial.end) <= (best.total, best.end):
                best = trial
        return best

    def _orders(self) -> Iterator[tuple[_Moved, ...]]:
        largest = sorted(self.uses, key=lambda n: -self.windows[n].room)
        yield tuple((number, False) for number in largest)
        turns = itertools.cycle((False, True))
        yield tuple(
            (number, number in self.may_be_early and next(turns)) for number in largest
        )

    def _changed(
        self, order: Sequence[_Moved], chance: random.Random
    ) -> tuple[_Moved, ...]:
        new = [*order]
        for _ in range(1 + chance.randrange(3)):
            number, early = new.pop(chance.randrange(len(new)))
            if number in self.may_be_early and chance.randrange(2):
                early = not early
            new.insert(chance.randrange(len(new) + 1), (number, early))
        return tuple(new)

    def _placed(self, order: tuple[_Moved, ...]) -> _Placed:
        """Each window at the lowest place that is free."""
        offsets: dict[int, int] = {}
        end = 0
        for n, window in enumerate(order):
            taken = sorted(
                (offsets[other[0]] + first, offsets[other[0]] + last)
                for other in order[:n]
                for first, last in self._gaps(other, window)
            )
            start = 0
            for first, last in taken:
                if first < start < last:
                    start = align_up(last, ALIGN)
            offsets[window[0]] = start
            end = max(end, start + self.windows[window[0]].room)
        return _Placed(order, offsets, end, max(end, self.input + self._by(offsets)))

    def _by(self, offsets: Mapping[int, int]) -> int:
        """Bytes by which the input starts later than the slab."""
        if not self.input:
            return 0
        later = (
            offsets[number] + self.windows[number].room - read
            for number, read in self.read.items()
            if read < self.input
        )
        return align_up(max(later), ALIGN)

    def _gaps(self, a: _Moved, b: _Moved) -> _Gaps:
        """By how many bytes b may not start later than a: between each two of these."""
        if (a, b) not in self.known_gaps:
            gaps = needs.joined(
                (
                    (mine.start - theirs.end, mine.end - theirs.start)
                    for mine, bits in self._parts(a)
                    for theirs, others in self._parts(b)
                    if bits & others
                ),
                apart=0,
            )
            self.known_gaps[a, b] = gaps
            self.known_gaps[b, a] = tuple((-last, -first) for first, last in gaps[::-1])
        return self.known_gaps[a, b]

    def _parts(self, window: _Moved) -> Sequence[tuple[WindowPart, int]]:
        if window not in self.parts:
            number, early = window
            parts = needs.parts(
                self.windows[number], self.uses[number], self.steps, early=early
            )
            self.parts[window] = [(part, part.bits) for part in parts]
        return self.parts[window]

    def _bound(self) -> int:
        """Bytes that are needed at once, wherever they are in their windows."""
        change: dict[int, int] = {}
        for number in self.uses:
            for part, _ in self._parts((number, False)):
                for first, last in part.times:
                    size = part.end - part.start
                    change[first] = change.get(first, 0) + size
                    change[last + 1] = change.get(last + 1, 0) - size
        return max(itertools.accumulate(change[step] for step in sorted(change)))


def image_bytes(window: Window) -> int:
    """Of the whole tensor."""
    return window.image * window.image_bytes
