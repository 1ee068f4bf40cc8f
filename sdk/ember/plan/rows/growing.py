"""A range of calls that grows from its last one up: the bytes that its windows need.

Windows of calls depend on those behind them alone, so each call that a range grows by
costs as much as the first one. cascade.py builds the same windows for a whole range.

While rows of one tensor are made, the windows of the others rest: they keep what is
read again. Bytes are those of windows at rest, and what the call that needs most needs
beside.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from ember.plan.rows import cascade, wanted
from ember.plan.rows.cascade import Window
from ember.plan.rows.pace import Pace
from ember.plan.rows.reads import RowCall, RowRead
from ember.plan.rows.wanted import WantedInput, WantedRows


@dataclass
class _Share:
    """Of the windows of a value: bytes at rest, and more while calls run, by what these
    make."""

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
    """With `sides` windows have the columns beside the image, where readers allow."""

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
            self._set(value, self._share_of_made(value))
        window = cascade.made_window(call, asked, sides=self.sides)
        if window.rows > cascade.MOST_ROWS:
            return False
        self.calls += 1
        self._made.add(call.out)
        self._unread = max(call.unread_bytes, self._unread)
        self._inputs.pop(call.out, None)
        if self._is_at_home(call, asked):
            self._at_home.add(call.out)
        self._set(call.out, self._share_of_made(call.out))
        self._running[call.out] += window.image_bytes * call.made
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

    def _share_of_made(self, value: int) -> _Share:
        share, asked = _Share(), self._asked[value]
        if value not in self._at_home and asked.call is not None:
            share.add(cascade.made_window(asked.call, asked, sides=self.sides), asked)
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
