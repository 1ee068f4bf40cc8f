"""The steps of a cascade become the moments at which each part of a window is needed.

A part is a row of a window, or what lies beside the image at an end of one. A row is
needed from the step that brings it to the last one that reads it; it moves up with each
row that comes in behind it. Moving writes all of a window, so that is needed then.

Rows may move up early: when those of the window were read, and not when the next call
writes one. Then it is the last row of the window that is free meanwhile, not the first.
A step is two moments: that of its action, and that of early moves behind it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum

from ember.plan.rows.cascade import Cascade, Window


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
    """Of each window that is no row of another, in the order of steps."""
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
    own, count = cascade.last_home(action.which), cascade.calls[action.which].made
    yield own, WindowUse(step, cascade.windows[own].rows - count, count, writes=True)


def read_before(
    cascade: Cascade,
    steps: Sequence[Action],
    by_window: Mapping[int, Sequence[WindowUse]],
    inputs: Collection[int],
) -> dict[int, int]:
    """Of each window that is no row of another: bytes that all of the windows `inputs`
    have read of one input before its first use."""
    read = dict.fromkeys(inputs, 0)
    first = {number: own[0].step for number, own in by_window.items() if own}
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
    """Of a window; what lies beside the image stays, and sums are added to."""
    always = ((0, 2 * steps),)
    if window.renewed:
        return [WindowPart(0, window.size, always)]
    own_parts = []
    for row, times in enumerate(_Rows(window.rows).times(uses, early=early)):
        start = row * window.row_bytes
        end, beside = start + window.row_bytes, window.beside
        if beside:
            own_parts.append(WindowPart(start, start + beside, always))
            own_parts.append(WindowPart(end - beside, end, always))
        own_parts.append(WindowPart(start + beside, end - beside, times))
    return own_parts


@dataclass
class _Rows:
    """When the rows of a window are needed. What is there is not known to be so before
    somebody reads it; until then it has a past: rows, and when it was there."""

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
