"""Calls become the ranges of them that may be regions, and the bytes these take.

These are what a range takes at least: its schedule may need more (choose.py).

A range grows from its last call up. The windows of a call depend only on the calls
behind it, so each call that a range grows by costs as much as the first one. cascade.py
builds the same windows for a whole range. While rows of one tensor are made, the
windows of the others rest: they keep what is read again. Bytes are those of windows at
rest, and what the call that needs most needs in addition.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ember.plan.rows import cascade, wanted
from ember.plan.rows.cascade import Window
from ember.plan.rows.lives import RowLives, in_pieces, most
from ember.plan.rows.reads import RowCall, RowRead
from ember.plan.rows.wanted import Pace, WantedInput, WantedRows

# Calls of a region that is looked at: fewer in methods of many, as steps are bounded.
_MOST_CALLS, _LEAST_CALLS, _MOST_STEPS = 96, 4, 40_000


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
    count = sum(call is not None for call in lives.calls)
    most_calls = min(_MOST_CALLS, max(_MOST_STEPS // max(count, 1), _LEAST_CALLS))
    with_sides = -_MOST_CALLS  # the last call that may want columns beside the image
    for last in range(len(lives.calls)):
        plain = lives.alive(last, last + 1) + most(scratch, last, last + 1)
        ranges.append([Range(last, last + 1, plain)])
        if lives.over_source(last) is not None:
            call = lives.calls[last]
            assert call is not None
            shared = lives.room(lives.store_of[call.out])
            ranges[-1].append(Range(last, last + 1, plain - shared, over=True))
        ranges[-1] += _in_pieces(lives, last, scratch) if over and last >= fed else ()
        first = max(last - most_calls + 1, 0)
        ranges[-1] += _regions(lives, first, last, scratch, over=over, sides=False)
        if any(read.beside for part in lives.parts(last) for read in part.reads):
            with_sides = last
        if with_sides >= first:
            ranges[-1] += _regions(lives, first, last, sided, over=over, sides=True)
        ranges[-1] = [each for each in ranges[-1] if _takes_whole(each, fed)]
    return ranges


def _takes_whole(each: Range, fed: int) -> bool:
    """Whether all calls up to `fed` are in a region if one of them is."""
    return each.first >= fed or (each.by_rows and each.first == 0 and each.end >= fed)


def _regions(
    lives: RowLives,
    least: int,
    last: int,
    scratch: Sequence[int],
    *,
    over: bool,
    sides: bool,
) -> Iterator[Range]:
    """Regions that end with call `last` and begin with call `least` or a later one."""
    growing = Growing(sides)
    outputs: list[int] = []
    inner: set[int] = set()
    saved_rooms = 0
    alive = lives.alive(last, last + 1)
    temporary = 0
    for first in range(last, least - 1, -1):
        call = lives.calls[first]
        if call is None or not all(map(growing.grow, lives.parts(first)[::-1])):
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
        single = first == last and not over and not lives.fed_until()
        if not single and (growing.has_sides or not sides):
            cost = alive - saved_rooms + temporary + growing.slab
            cost -= _overlap(lives, growing, outputs, last) if over else 0
            yield Range(first, last + 1, cost, by_rows=True, has_sides=sides)


def _in_pieces(lives: RowLives, last: int, scratch: Sequence[int]) -> Iterator[Range]:
    call, growing = lives.calls[last], Growing(sides=False)
    piece = in_pieces(call) if call else None
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


# ---- a range grows -------------------------------------------------------------------


@dataclass
class _Share:
    """What the windows of a value take: bytes at rest, and more while calls run, by
    what these make."""

    rest: int = 0
    running: dict[int, int] = field(default_factory=dict)
    has_sides: bool = False

    def add(self, window: Window, asked: WantedRows) -> None:
        beside = 2 * window.beside * window.rows
        keeps = [reader.read.stride for reader in asked.readers]
        depths = [asked.depth(reader) for reader in asked.readers]
        least = [max(d - k, 0) for d, k in zip(depths, keeps, strict=True)]
        rows = window.rows if window.renewed else max(least, default=0)
        self.rest += beside + rows * window.image_bytes
        self.has_sides = self.has_sides or window.beside > 0
        if window.renewed:
            return
        for reader, depth in zip(asked.readers, depths, strict=True):
            more = max(depth - rows, 0) * window.image_bytes
            self.running[reader.out] = max(self.running.get(reader.out, 0), more)


@dataclass
class Growing:
    """A range and its bytes. With `sides` windows have the columns beside the image,
    where readers allow that."""

    sides: bool
    has_sides: bool = False
    calls: int = 0
    _rest: int = 0  # bytes
    _running: defaultdict[int, int] = field(default_factory=lambda: defaultdict(int))
    _shares: dict[int, _Share] = field(default_factory=dict)  # by value
    _asked: dict[int, WantedRows] = field(default_factory=dict)  # by value
    _broken: set[int] = field(default_factory=set)  # values whose readers disagree
    _inputs: defaultdict[int, WantedInput] = field(
        default_factory=lambda: defaultdict(WantedInput)
    )  # by owner
    _made: set[int] = field(default_factory=set)
    _homes: set[int] = field(default_factory=set)  # results written over what was read
    _at_home: set[int] = field(default_factory=set)  # values without windows
    _unread: int = 0  # bytes

    @property
    def slab(self) -> int:
        """Bytes that are needed at once."""
        return self._rest + max(self._running.values(), default=0) + self._unread

    def grow(self, call: RowCall) -> bool:
        """False where this call, and so any before it, cannot be in the range."""
        if not self.calls:
            self._asked[call.out] = WantedRows(Pace())
        asked = self._asked.get(call.out)
        if asked is None or asked.pace is None or call.out in self._made:
            return False
        if call.out in self._broken or len(asked.fills) > 1:
            return False
        asked.call = call
        for value in wanted.let_run(asked, self._asked):
            if value != call.out:
                self._set(value, self._share_of_made(value, self._made_window(value)))
        window = cascade.made_window(call, asked, sides=self.sides)
        if window.rows > cascade.MOST_ROWS:
            return False
        self.calls += 1
        self._made.add(call.out)
        self._unread = max(call.unread_bytes, self._unread)
        self._inputs.pop(call.out, None)
        if self._is_at_home(call, asked):
            self._at_home.add(call.out)
        self._set(call.out, self._share_of_made(call.out, window))
        self._running[call.out] += window.image_bytes * call.step
        for read in call.reads:
            self._ask(asked, call, read)
        return True

    def _is_at_home(self, call: RowCall, asked: WantedRows) -> bool:
        """Whether the window of a call is the newest row of its reader's."""
        if not (cascade.is_lone(call) and asked.may_be_home):
            return False
        (reader,) = asked.readers
        if reader.out in self._homes:
            return False
        self._homes.add(reader.out)
        return True

    def _ask(self, out: WantedRows, call: RowCall, read: RowRead) -> None:
        pace = wanted.newest(out, call, read)
        asked = self._asked.setdefault(read.owner, WantedRows())
        if not asked.ask(call.out, read, pace):
            self._broken.add(read.owner)
        self._inputs[read.owner].ask(call.out, read, pace)
        self._set(read.owner, self._share_of_input(read.owner))

    # ---- bytes -------------------------------------------------------------------

    def _set(self, value: int, share: _Share) -> None:
        self._add(self._shares.get(value, _Share()), -1)
        self._add(share, 1)
        self._shares[value] = share
        self.has_sides = self.has_sides or share.has_sides

    def _add(self, share: _Share, sign: int) -> None:
        self._rest += sign * share.rest
        for out, more in share.running.items():
            self._running[out] += sign * more

    def _made_window(self, value: int) -> Window | None:
        asked = self._asked[value]
        if asked.call is None:
            return None
        return cascade.made_window(asked.call, asked, sides=self.sides)

    def _share_of_made(self, value: int, window: Window | None) -> _Share:
        share = _Share()
        if value not in self._at_home and window is not None:
            share.add(window, self._asked[value])
        return share

    def _share_of_input(self, owner: int) -> _Share:
        share = _Share()
        for asked in self._inputs[owner].windows:
            share.add(cascade.input_window(asked, sides=self.sides), asked)
        return share

    def inputs(self) -> Iterator[int]:
        """Values that the range reads and does not make."""
        for given in self._inputs.values():
            for asked in given.windows:
                yield asked.reads[0].value
