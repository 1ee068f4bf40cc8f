"""What is to be placed: bytes, and the moments at which they are alive."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass

from ember.plan.offsets.moments import Moments, Run


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
    """Of each buffer the sections that it is alive in, and how many sections there are.

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
