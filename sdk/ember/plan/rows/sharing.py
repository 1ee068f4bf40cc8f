"""The steps of a cascade become the place of each window in the slab.

Windows share bytes that they never need at once: the rows of one that were read for the
last time, and what another one holds only until the next call.

A part of a window is one of its rows, or what is beside the image at an end of one. A
row is needed from the step that brings it to the last one that reads it; it moves up
with each row that comes in behind it. Moving writes all of a window, which is needed
then.

Rows may move up early: when those of the window were read, and not when the next call
writes one. Then it is the last row of the window that is free meanwhile, not the first.
A step is two moments: that of its action, and that of early moves behind it.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum

from ember.files.tensors import align_up
from ember.plan.rows.cascade import Cascade, Window
from ember.program.types import ALIGN

FEW, MANY = 5_000, 800_000  # pairs of windows that are looked at, about
_TRIES = 1_000  # at most


@dataclass(frozen=True)
class Slab:
    starts: tuple[int, ...]  # of each window, bytes
    unread: int  # where unread results begin, those of one call
    size: int
    early: frozenset[int] = frozenset()  # windows whose rows move up early


def slab(
    cascade: Cascade,
    steps: Sequence[Action],
    work: int = FEW,
    under: Collection[int] = (),
) -> Slab:
    """`under` are windows of one input that is not needed afterwards: what is used late
    may overlap rows of it that were read."""
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
    total: int  # with the input below it


class _Placer:
    def __init__(
        self, cascade: Cascade, steps: Sequence[Action], under: Collection[int] = ()
    ) -> None:
        self.windows = cascade.windows
        self.input = max((image_bytes(self.windows[n]) for n in under), default=0)
        self.uses = uses(cascade, steps)
        self.read = read_before(cascade, steps, self.uses, under) if under else {}
        self.steps = len(steps)
        may_move = unmoving(cascade) is not None
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
        """Distances in bytes from a to b that are not allowed: from, to."""
        if (a, b) not in self.known_gaps:
            gaps = joined(
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
            cut = parts(
                self.windows[number], self.uses[number], self.steps, early=early
            )
            self.parts[window] = [(part, part.bits) for part in cut]
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
    """Bytes of the whole tensor that a window holds rows of."""
    return window.image * window.image_bytes


# ---- when each part is needed --------------------------------------------------------


class What(IntEnum):
    """EMBER_ROWS_* of kernels/rows/rows.h."""

    SKIP = 0
    FILL = 1
    IN = 2
    RUN = 3
    OUT = 4
    LEAST = 5


@dataclass(frozen=True)
class Action:
    what: What
    window: int
    which: int = 0  # input, call or output


@dataclass(frozen=True)
class WindowPart:
    """Bytes of a window that are needed at the same moments."""

    start: int
    end: int
    times: tuple[tuple[int, int], ...]  # first and last moment of each, in their order

    @property
    def bits(self) -> int:
        return sum((1 << last + 1) - (1 << first) for first, last in self.times)


@dataclass(frozen=True)
class WindowUse:
    """What a step does to rows [first, first + count) of a window."""

    step: int
    first: int
    count: int
    writes: bool
    moves: bool = False  # all rows up by one, before that
    by_call: bool = False


def uses(cascade: Cascade, steps: Sequence[Action]) -> dict[int, list[WindowUse]]:
    """The uses of each window that is not a row of another, in the order of steps."""
    by_window: dict[int, list[WindowUse]] = {
        number: [] for number, window in enumerate(cascade.windows) if not window.is_row
    }
    for step, action in enumerate(steps):
        for number, use in _of(cascade, step, action):
            by_window[number].append(use)
    return by_window


def _of(cascade: Cascade, step: int, action: Action) -> Iterator[tuple[int, WindowUse]]:
    number = cascade.last_home(action.window)
    rows = cascade.windows[number].rows
    if action.what is What.OUT:
        yield number, WindowUse(step, rows - 1, 1, writes=False)
    elif action.what is What.RUN:
        yield from _of_run(cascade, step, action)
    else:
        count = 0 if action.what is What.SKIP else 1
        yield number, WindowUse(step, rows - count, count, writes=True, moves=rows > 1)


def _of_run(
    cascade: Cascade, step: int, action: Action
) -> Iterator[tuple[int, WindowUse]]:
    """Rows move before the call reads, and it writes in the end."""
    moved = cascade.windows[action.window]
    if moved.rows > 1:
        yield (
            action.window,
            WindowUse(step, moved.rows, 0, writes=True, moves=True, by_call=True),
        )
    for source in cascade.sources[action.which]:
        window, extent = cascade.windows[source.window], source.read.extent
        number = cascade.last_home(source.window)
        first = window.rows - window.ahead - source.lag - extent
        first = cascade.windows[number].rows - 1 if window.is_row else first
        yield number, WindowUse(step, first, extent, writes=False)
    home, count = cascade.last_home(action.which), cascade.calls[action.which].step
    yield home, WindowUse(step, cascade.windows[home].rows - count, count, writes=True)


def read_before(
    cascade: Cascade,
    steps: Sequence[Action],
    by_window: Mapping[int, Sequence[WindowUse]],
    inputs: Collection[int],
) -> dict[int, int]:
    """By window that is not a row of another: bytes that all of the windows `inputs`
    have read of one input before its first use."""
    read = dict.fromkeys(inputs, 0)
    first = {number: its[0].step for number, its in by_window.items() if its}
    begun: dict[int, list[int]] = {}
    for number, step in first.items():
        begun.setdefault(step, []).append(number)
    before: dict[int, int] = {}
    for step, action in enumerate(steps):
        before |= dict.fromkeys(begun.get(step, ()), min(read.values()))
        if action.what is What.IN and action.window in read:
            read[action.window] += cascade.windows[action.window].image_bytes
    return before


def parts(
    window: Window, uses: Sequence[WindowUse], steps: int, *, early: bool
) -> list[WindowPart]:
    """The parts of a window; what is beside the image stays, and sums are added to."""
    always = ((0, 2 * steps),)
    if window.renewed:
        return [WindowPart(0, window.size, always)]
    window_parts = []
    for row, times in enumerate(_Rows(window.rows).times(uses, early=early)):
        start = row * window.row_bytes
        end, beside = start + window.row_bytes, window.beside
        if beside:
            window_parts.append(WindowPart(start, start + beside, always))
            window_parts.append(WindowPart(end - beside, end, always))
        window_parts.append(WindowPart(start + beside, end - beside, times))
    return window_parts


@dataclass
class _Rows:
    """When the rows of a window are needed. A row counts as needed only once it is
    read; until then it has a past: in which rows it was, and when."""

    count: int
    pasts: list[list[tuple[int, int, int]]] = field(init=False)
    since: list[int | None] = field(init=False)
    needed: list[list[tuple[int, int]]] = field(init=False)

    def __post_init__(self) -> None:
        self.pasts = [[] for _ in range(self.count)]
        self.since = [None] * self.count
        self.needed = [[] for _ in range(self.count)]

    def times(
        self, uses: Sequence[WindowUse], *, early: bool
    ) -> Iterator[tuple[tuple[int, int], ...]]:
        before: int | None = None  # the step of the use before
        for use in uses:
            now = 2 * use.step
            if use.moves and not (early and use.by_call):
                self._move(now)
            elif use.moves and before is not None:
                self._move(2 * before + 1)
            for row in range(use.first, use.first + use.count):
                if use.writes:
                    self._write(row, now)
                else:
                    self._read(row, now)
            before = use.step
        return (joined(times, apart=2) for times in self.needed)

    def _move(self, now: int) -> None:
        for row, since in enumerate(self.since):
            self.needed[row].append((now, now))
            if since is not None:
                self.pasts[row].append((row, since, now))
        self.pasts = [*self.pasts[1:], []]
        self.since = [None if n is None else now for n in self.since[1:]] + [None]

    def _write(self, row: int, now: int) -> None:
        self.since[row], self.pasts[row] = now, []
        self.needed[row].append((now, now))

    def _read(self, row: int, now: int) -> None:
        since = self.since[row]
        if since is None:
            return
        for past, first, last in self.pasts[row]:
            self.needed[past].append((first, last))
        self.pasts[row] = []
        self.needed[row].append((since, now))
        self.since[row] = now


def joined(
    ranges: Iterable[tuple[int, int]], apart: int
) -> tuple[tuple[int, int], ...]:
    """One in place of those that begin less than `apart` behind the end of another."""
    wider: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if wider and first < wider[-1][1] + apart:
            wider[-1] = wider[-1][0], max(wider[-1][1], last)
        else:
            wider.append((first, last))
    return tuple(wider)


def unmoving(cascade: Cascade) -> int | None:
    """A window that moves nothing when it moves."""
    numbers = (n for n, window in enumerate(cascade.windows) if window.rows == 1)
    return next(numbers, None)


def moved_early(
    cascade: Cascade, steps: Sequence[Action], early: Collection[int]
) -> tuple[Action, ...]:
    """The steps with rows of the windows `early` moved up as soon as they may be."""
    still = unmoving(cascade)
    if not early or still is None:
        return tuple(steps)
    new = [*steps]
    behind: dict[int, list[int]] = {}  # windows that move behind a step
    for number, its_uses in uses(cascade, steps).items():
        before = None
        for use in its_uses if number in early else ():
            if use.moves and use.by_call:
                new[use.step] = replace(new[use.step], window=still)
                if before is not None:
                    behind.setdefault(before, []).append(number)
            before = use.step
    actions: list[Action] = []
    for step, action in enumerate(new):
        actions.append(action)
        actions += [Action(What.SKIP, number) for number in behind.get(step, ())]
    return tuple(actions)
