"""The steps of a cascade become where each window lies in the slab.

Windows of one row that are never needed at the same step share bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

from ember.plan.rows.cascade import Cascade


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
class Slab:
    starts: tuple[int, ...]  # of each window, bytes
    unread: int  # where results begin that nobody reads, those of one call
    size: int


def slab(cascade: Cascade, steps: Sequence[Action]) -> Slab:
    needed = _needed(cascade, steps)
    placed: dict[int, int] = {}
    at = 0
    for number, window in enumerate(cascade.windows):
        if window.home is None and number not in needed:
            placed[number] = at
            at += window.room
    end = at
    shared: list[int] = []
    for number in sorted(needed, key=lambda n: -cascade.windows[n].room):
        start, room = at, cascade.windows[number].room
        rivals = (n for n in shared if needed[n] & needed[number])
        for other in sorted(rivals, key=placed.__getitem__):
            if start + room <= placed[other]:
                break
            start = max(start, placed[other] + cascade.windows[other].room)
        placed[number] = start
        shared.append(number)
        end = max(end, start + room)
    unread = max((call.unread_bytes for call in cascade.calls), default=0)
    starts = [_start(cascade, number, placed) for number in range(len(cascade.windows))]
    return Slab(tuple(starts), end, end + unread)


def _start(cascade: Cascade, number: int, placed: dict[int, int]) -> int:
    last = cascade.last_home(number)
    if last == number:
        return placed[number]
    window = cascade.windows[last]
    return placed[last] + (window.rows - 1) * window.row_bytes + window.beside


def _needed(cascade: Cascade, steps: Sequence[Action]) -> dict[int, int]:
    """Of each window of one row, the steps at which its content is needed, as bits."""
    begun: dict[int, int] = {}
    until: dict[int, int] = {}
    bits = {n: 0 for n, window in enumerate(cascade.windows) if window.is_lone}

    def close(window: int) -> None:
        if window in begun:
            first = begun[window]
            bits[window] |= (1 << until[window] + 1) - (1 << first)

    def touch(window: int, step: int, *, begins: bool) -> None:
        if window not in bits:
            return
        if begins or window not in begun:
            close(window)
            begun[window] = step
        until[window] = step

    for step, action in enumerate(steps):
        home = cascade.last_home(action.window)
        if action.what is not What.RUN:
            touch(home, step, begins=action.what is not What.OUT)
            continue
        for source in cascade.sources[action.which]:
            touch(cascade.last_home(source.window), step, begins=False)
        own = cascade.last_home(action.which)
        touch(own, step, begins=action.window == own)
    for window in bits:
        close(window)
    return bits
