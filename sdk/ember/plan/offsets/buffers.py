"""What is to be placed: bytes, and the moments at which they are alive."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Buffer:
    """`points` are the moments (say, instructions) at which the bytes matter.

    They need not be one interval: what lives in one branch only has the points of that
    branch, and so conflicts with nothing of the other.
    """

    size: int  # bytes
    points: frozenset[int]
    align: int = 16  # bytes, a power of two
    fixed: int | None = None  # the offset it must have


@dataclass(frozen=True)
class Sections:
    """Of each buffer its sections, ascending, and how many sections there are.

    A section stands for moments that are all covered by one of them: no other has a
    buffer alive that this one has not.
    """

    of: tuple[tuple[int, ...], ...]
    count: int


def sections(buffers: Sequence[Buffer]) -> Sections:
    """Buffers conflict exactly where they share a section."""
    alive: dict[int, int] = {}  # moment -> set of buffers, as bits
    for number, buffer in enumerate(buffers):
        for point in buffer.points:
            alive[point] = alive.get(point, 0) | 1 << number
    kept: list[int] = []
    for point in sorted(alive):
        now = alive[point]
        while kept and kept[-1] | now == now:
            kept.pop()
        if not kept or kept[-1] | now != kept[-1]:
            kept.append(now)
    found: list[list[int]] = [[] for _ in buffers]
    for section, together in enumerate(kept):
        left = together
        while left:
            lowest = left & -left
            found[lowest.bit_length() - 1].append(section)
            left ^= lowest
    return Sections(tuple(map(tuple, found)), len(kept))


def padded(buffer: Buffer) -> int:
    """Bytes up to the next multiple of the alignment."""
    return -(-buffer.size // buffer.align) * buffer.align


def lower_bound(buffers: Sequence[Buffer]) -> int:
    """Bytes that no placement can do without: the most that is alive at once.

    Each is counted up to its alignment where all have the same one, else as it is.
    """
    one_alignment = len({buffer.align for buffer in buffers}) <= 1
    alive: dict[int, int] = {}
    least = 0
    for buffer in buffers:
        size = padded(buffer) if one_alignment else buffer.size
        for point in buffer.points:
            alive[point] = alive.get(point, 0) + size
        if buffer.points and buffer.fixed is not None:
            least = max(least, buffer.fixed + size)
    return max(least, *alive.values()) if alive else least


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
