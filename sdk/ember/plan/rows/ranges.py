"""Calls become the ranges of them that may be regions, and the bytes these take.

These are what a range takes at least: its schedule may need more (choose.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ember.plan.rows import pieces
from ember.plan.rows.growing import Growing
from ember.plan.rows.lives import RowLives, most

_MOST_CALLS = 96  # of a region that is looked at


@dataclass(frozen=True)
class Range:
    """Calls [first, end)."""

    first: int
    end: int
    cost: int  # bytes alive
    by_rows: bool = False
    has_sides: bool = False  # windows have the columns beside the image
    over: bool = False  # the whole result of one call lies where its input does
    in_pieces: bool = False  # one call, with parts of rows

    @property
    def count(self) -> int:
        """Calls that run row by row."""
        return self.end - self.first if self.by_rows else 0


def by_end(
    lives: RowLives, scratch: Sequence[int], sided: Sequence[int], *, over: bool
) -> list[list[Range]]:
    """Plain calls and regions, by their end. With `over` an output may lie over rows
    of an input that were read."""
    ranges: list[list[Range]] = [[]]
    fed = lives.fed_until()
    for last in range(len(lives.calls)):
        plain = lives.alive(last, last + 1) + most(scratch, last, last + 1)
        ranges.append([Range(last, last + 1, plain)])
        if lives.over_source(last) is not None:
            call = lives.calls[last]
            assert call is not None
            shared = lives.room(lives.store_of[call.out])
            ranges[-1].append(Range(last, last + 1, plain - shared, over=True))
        ranges[-1] += _in_pieces(lives, last, scratch) if over and last >= fed else ()
        ranges[-1] += _regions_to(lives, last, scratch, over=over, sides=False)
        ranges[-1] += _regions_to(lives, last, sided, over=over, sides=True)
        ranges[-1] = [each for each in ranges[-1] if _takes_whole(each, fed)]
    return ranges


def _takes_whole(each: Range, fed: int) -> bool:
    """Whether all calls up to `fed` are in a region if one of them is."""
    return each.first >= fed or (each.by_rows and each.first == 0 and each.end >= fed)


def _regions_to(
    lives: RowLives, last: int, scratch: Sequence[int], *, over: bool, sides: bool
) -> Iterator[Range]:
    growing = Growing(sides)
    outputs: list[int] = []
    inner: set[int] = set()
    saved_rooms = 0
    alive = lives.alive(last, last + 1)
    temporary = 0
    for first in range(last, max(last - _MOST_CALLS, -1), -1):
        call = lives.calls[first]
        if call is None or not all(map(growing.grow, lives.parts(call)[::-1])):
            return
        if first < last:
            alive += lives.begun(first, last + 1)
        for store in lives.inner(call, last) - inner:
            inner.add(store)
            saved_rooms += (
                lives.room(store) if lives.meets(store, first, last + 1) else 0
            )
        if first == last or lives.is_wanted(call.out, last):
            outputs.append(call.out)
        temporary = max(temporary, most(scratch, first, first + 1))
        alone = first == last and not over and not lives.fed_until()
        if not alone and (growing.has_sides or not sides):
            cost = alive - saved_rooms + temporary + growing.slab
            cost -= _overlap(lives, growing, outputs, last) if over else 0
            yield Range(first, last + 1, cost, by_rows=True, has_sides=sides)


def _in_pieces(lives: RowLives, last: int, scratch: Sequence[int]) -> Iterator[Range]:
    call, growing = lives.calls[last], Growing(sides=False)
    piece = pieces.of(call) if call else None
    if piece is not None and growing.grow(piece):
        cost = lives.alive(last, last + 1) + most(scratch, last, last + 1)
        cost += growing.slab - _overlap(lives, growing, [piece.out], last)
        yield Range(last, last + 1, cost, by_rows=True, in_pieces=True)


def _overlap(
    lives: RowLives, growing: Growing, outputs: Sequence[int], last: int
) -> int:
    """The most bytes that an output and an input may share."""
    rooms = [
        lives.room(lives.store_of[value])
        for value in outputs
        if lives.planes(value) == 1  # else its last plane is begun at once
    ]
    return max(
        (
            min(room, lives.room(lives.store_of[value]) // lives.planes(value))
            for value in growing.inputs()
            if lives.may_be_overwritten(value, last)
            for room in rooms
        ),
        default=0,
    )
