"""Moments (say, instructions) become a set of runs, as small as the runs are few.

A buffer of a long program is alive at thousands of moments in a row: as a plain set,
all buffers together would take the square of the program's length.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Set

Run = tuple[int, int]  # the first moment, and the one behind the last


class Moments(Set[int]):
    """Runs are ascending, and none touches the next."""

    __slots__ = ("runs",)

    def __init__(self, runs: tuple[Run, ...] = ()) -> None:
        self.runs = runs

    @staticmethod
    def of(points: Iterable[int]) -> Moments:
        if isinstance(points, Moments):
            return points
        return Moments.of_runs((point, point + 1) for point in points)

    @staticmethod
    def of_runs(runs: Iterable[Run]) -> Moments:
        """Of runs in any order, that may overlap; none is empty."""
        merged: list[Run] = []
        for first, end in sorted(runs):
            if merged and first <= merged[-1][1]:
                merged[-1] = (merged[-1][0], max(merged[-1][1], end))
            else:
                merged.append((first, end))
        return Moments(tuple(merged))

    @property
    def last(self) -> int:
        return self.runs[-1][1] - 1

    def union(self, *others: Set[int]) -> Moments:
        runs = (run for moments in (self, *others) for run in Moments.of(moments).runs)
        return Moments.of_runs(runs)

    def __contains__(self, point: object) -> bool:
        if not isinstance(point, int):
            return False
        at = bisect_right(self.runs, point, key=lambda run: run[0]) - 1
        return at >= 0 and point < self.runs[at][1]

    def __iter__(self) -> Iterator[int]:
        for first, end in self.runs:
            yield from range(first, end)

    def __len__(self) -> int:
        return sum(end - first for first, end in self.runs)

    def __bool__(self) -> bool:
        return bool(self.runs)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Moments):
            return self.runs == other.runs
        return super().__eq__(other)

    __hash__ = Set._hash

    def __and__(self, other: Set[object]) -> Moments:
        if isinstance(other, Moments):
            return Moments(tuple(_shared(self.runs, other.runs)))
        return Moments.of(
            moment for moment in other if isinstance(moment, int) and moment in self
        )

    def __repr__(self) -> str:
        return f"Moments({self.runs})"


def _shared(ours: tuple[Run, ...], theirs: tuple[Run, ...]) -> Iterator[Run]:
    this = other = 0
    while this < len(ours) and other < len(theirs):
        first = max(ours[this][0], theirs[other][0])
        end = min(ours[this][1], theirs[other][1])
        if first < end:
            yield first, end
        if ours[this][1] < theirs[other][1]:
            this += 1
        else:
            other += 1
