"""Blobs <-> the aligned segments after the FlatBuffer of a .pte or .ptd file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

Data = bytes | memoryview
MOST_ALIGNMENT = 4096


@dataclass(frozen=True)
class SegmentLayout:
    offsets: tuple[int, ...]
    pieces: tuple[Data, ...]  # in file order, with the padding between blobs
    size: int  # bytes


def align_up(size: int, alignment: int) -> int:
    return (size + alignment - 1) // alignment * alignment


def place(
    blobs: Iterable[Sequence[Data]], alignment: int, *, share: bool = False
) -> SegmentLayout:
    """Lay out blobs, each a row of pieces, at aligned offsets; no gap at the end.

    With `share`, equal blobs get the same offset.
    """
    pieces: list[Data] = []
    size = 0
    offsets: list[int] = []
    known: dict[Sequence[Data], int] = {}
    for blob in blobs:
        offset = known.get(blob) if share else None
        if offset is None:
            offset = align_up(size, alignment)
            pieces += (bytes(offset - size), *blob)
            size = offset + sum(map(len, blob))
            if share:
                known[blob] = offset
        offsets.append(offset)
    return SegmentLayout(tuple(offsets), tuple(pieces), size)


def alignment_of(gaps: Sequence[tuple[int, int]], usual: int) -> int:
    """The alignment that explains `(end of the one before, start)` pairs.

    `usual` when that explains all of them, else the smallest power of two that does,
    else the largest one that divides every start.
    """
    powers = [1 << bit for bit in range(MOST_ALIGNMENT.bit_length())]
    for alignment in (usual, *powers):
        if all(align_up(end, alignment) == start for end, start in gaps):
            return alignment
    return max(
        power for power in powers if all(start % power == 0 for _, start in gaps)
    )
