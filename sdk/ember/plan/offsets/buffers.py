"""Buffers: their sizes in bytes, and the moments at which they are alive.

Moments (say, instructions) are a set of runs, as small as the runs are few. A buffer of
a long program is alive at thousands of moments in a row: as plain sets, those of all
buffers together would take the square of the program's length.

A table of buffers has the columns id, lower, upper and size, as in the benchmarks of
MiniMalloc.
"""

from __future__ import annotations

import csv
import itertools
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from pathlib import Path

from ember.errors import SdkError


@dataclass(frozen=True)
class Buffer:
    """`points` are the moments (say, instructions) at which the bytes matter.

    They need not be one interval: what lives in one branch only has the points of that
    branch, and so conflicts with nothing of the other.
    """

    size: int  # bytes
    points: Set[int]
    align: int = 16  # bytes, a power of two
    fixed: int | None = None  # the offset it must have


@dataclass(frozen=True)
class Sections:
    """The sections that each buffer is alive in, and how many sections there are.

    A section stands for moments that are all covered by one of them: no other has a
    buffer alive that this one has not.
    """

    of: tuple[Moments, ...]
    count: int


def sections(buffers: Sequence[Buffer]) -> Sections:
    """Buffers conflict exactly where they share a section."""
    kept: list[int] = []  # of each section its buffers, as bits
    for now in _alive(buffers):
        while kept and kept[-1] | now == now:
            kept.pop()
        if not kept or kept[-1] | now != kept[-1]:
            kept.append(now)
    runs: list[list[Run]] = [[] for _ in buffers]
    began: dict[int, int] = {}
    before = 0
    for section, together in enumerate([*kept, 0]):
        for number in _ones(before ^ together):
            if together >> number & 1:
                began[number] = section
            else:
                runs[number].append((began[number], section))
        before = together
    return Sections(tuple(Moments(tuple(of_buffer)) for of_buffer in runs), len(kept))


def _alive(buffers: Sequence[Buffer]) -> Iterator[int]:
    """The buffers that are alive, as bits, whenever that changes."""
    changes: dict[int, list[int]] = {}
    for number, buffer in enumerate(buffers):
        for run in Moments.of(buffer.points).runs:
            for point in run:
                changes.setdefault(point, []).append(number)
    now = 0
    for point in sorted(changes):
        for number in changes[point]:
            now ^= 1 << number
        yield now


def _ones(bits: int) -> Iterator[int]:
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest


def padded(buffer: Buffer) -> int:
    """Bytes up to the next multiple of the alignment."""
    return -(-buffer.size // buffer.align) * buffer.align


def lower_bound(buffers: Sequence[Buffer]) -> int:
    """The least that any placement needs: the most bytes alive at once.

    Each is counted up to its alignment where all have the same one, else as it is.
    """
    one_alignment = len({buffer.align for buffer in buffers}) <= 1
    changes: dict[int, int] = {}  # bytes, by moment
    least = 0
    for buffer in buffers:
        size = padded(buffer) if one_alignment else buffer.size
        for first, end in Moments.of(buffer.points).runs:
            changes[first] = changes.get(first, 0) + size
            changes[end] = changes.get(end, 0) - size
        if buffer.points and buffer.fixed is not None:
            least = max(least, buffer.fixed + size)
    sums = itertools.accumulate(changes[point] for point in sorted(changes))
    return max(least, max(sums, default=0))


def overlap(
    buffers: Sequence[Buffer], offsets: Sequence[int]
) -> tuple[int, int] | None:
    """Two buffers that are alive together and share a byte; None if there are none.

    Independent of how the offsets were found: it looks at every moment.
    """
    by_point: dict[int, list[int]] = {}
    for number, buffer in enumerate(buffers):
        if buffer.size > 0:
            for point in buffer.points:
                by_point.setdefault(point, []).append(number)
    for numbers in by_point.values():
        numbers.sort(key=lambda number: offsets[number])
        for below, above in itertools.pairwise(numbers):
            if offsets[below] + buffers[below].size > offsets[above]:
                return below, above
    return None


# ---- moments -------------------------------------------------------------------------


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
        """From runs in any order, which may overlap; none is empty."""
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
        return isinstance(point, int) and self.meets(point, point + 1)

    def meets(self, first: int, end: int) -> bool:
        """Whether any moment from `first` up to `end` is one of these."""
        at = bisect_left(self.runs, end, key=lambda run: run[0]) - 1
        return at >= 0 and first < self.runs[at][1]

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


# ---- tables of buffers ---------------------------------------------------------------


_COLUMNS = ("id", "lower", "upper", "size")


def read_csv(path: Path) -> dict[str, Buffer]:
    """Buffers by id, alive from moment `lower` up to but without `upper`.

    They need no alignment. SdkError names the line that is wrong.
    """
    try:
        with path.open(newline="", encoding="utf-8") as lines:
            rows = csv.DictReader(lines)
            missing = [name for name in _COLUMNS if name not in (rows.fieldnames or ())]
            if missing:
                raise SdkError(
                    f"{path} has no column {missing[0]!r}",
                    hint=f"its first line names the columns: {','.join(_COLUMNS)}",
                )
            by_id: dict[str, tuple[int, int, int]] = {}
            for row in rows:
                where = f"{path}, line {rows.line_num}"
                if row["id"] in by_id:
                    raise SdkError(f"{where}: id {row['id']} appears twice")
                by_id[row["id"]] = _numbers(row, where)
    except (OSError, UnicodeDecodeError) as error:
        raise SdkError(f"cannot read {path}: {error}") from error
    if not by_id:
        raise SdkError(f"{path} lists no buffers")
    return _of_table(by_id)


def _numbers(row: dict[str, str], where: str) -> tuple[int, int, int]:
    try:
        lower, upper, size = (int(row[name]) for name in _COLUMNS[1:])
    except (TypeError, ValueError):
        raise SdkError(f"{where}: lower, upper, size must be integers") from None
    if not (0 <= lower < upper and 0 <= size < 1 << 40):
        raise SdkError(f"{where}: 0 <= lower < upper and 0 <= size < 2^40 must hold")
    return lower, upper, size


def _of_table(table: dict[str, tuple[int, int, int]]) -> dict[str, Buffer]:
    """Only moments at which a buffer comes alive count; they are numbered."""
    starts = sorted({lower for lower, _, _ in table.values()})
    return {
        name: Buffer(
            size,
            frozenset(range(bisect_left(starts, lower), bisect_left(starts, upper))),
            align=1,
        )
        for name, (lower, upper, size) in table.items()
    }
