"""A range of calls that grows from its last one up: the bytes of its windows.

Windows of calls depend on those behind them alone, so each call that a range grows by
costs as much as the first one. cascade.py builds the same windows for a whole range.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from ember.plan.rows import cascade
from ember.plan.rows.cascade import WantedInput, WantedRows, Window
from ember.plan.rows.pace import Pace
from ember.plan.rows.reads import RowCall, RowRead


@dataclass
class Growing:
    """With `sides` windows have the columns beside the image, where readers allow."""

    sides: bool
    kept: int = 0  # bytes of windows that keep rows from step to step
    has_sides: bool = False
    calls: int = 0
    _asked: dict[int, WantedRows] = field(default_factory=dict)  # by value
    _broken: set[int] = field(default_factory=set)  # values whose readers disagree
    _inputs: defaultdict[int, WantedInput] = field(
        default_factory=lambda: defaultdict(WantedInput)
    )  # by owner
    _made: set[int] = field(default_factory=set)
    _homes: set[int] = field(default_factory=set)  # results written over what was read
    _reader: dict[int, int] = field(default_factory=dict)  # first, by value
    _unread: int = 0  # bytes
    _lone: int = 0  # bytes of the largest of the other windows

    @property
    def slab(self) -> int:
        """Bytes of all windows at least: lone ones may share all of them."""
        return self.kept + self._lone + self._unread

    def grow(self, call: RowCall) -> bool:
        """False where this call, and so any before it, cannot be in the range."""
        if not self.calls:
            self._asked[call.out] = WantedRows(Pace())
        asked = self._asked.get(call.out)
        if asked is None or asked.pace is None or call.out in self._made:
            return False
        if call.out in self._broken or len(asked.fills) > 1:
            return False
        window = cascade.made_window(call, asked, sides=self.sides)
        if window.rows > cascade.MOST_ROWS:
            return False
        self.calls += 1
        self._made.add(call.out)
        at_home = self._is_at_home(call, asked)
        self.kept += (0 if at_home else self._kept(window)) - self._room(call.out)
        self._unread = max(call.unread_bytes, self._unread)
        del self._inputs[call.out]
        self.has_sides = self.has_sides or window.beside > 0
        for read in call.reads:
            self._reader[read.owner] = call.out
            self._ask(asked, call, read)
        return True

    def _is_at_home(self, call: RowCall, asked: WantedRows) -> bool:
        """Whether the window of a call is the newest row of its reader's."""
        reader = self._reader.get(call.out)
        if reader is None or not (cascade.is_lone(call) and asked.may_be_home):
            return False
        if reader in self._homes:
            return False
        self._homes.add(reader)
        return True

    def _ask(self, out: WantedRows, call: RowCall, read: RowRead) -> None:
        pace = cascade.newest(out, call, read)
        if not self._asked.setdefault(read.owner, WantedRows()).ask(read, pace):
            self._broken.add(read.owner)
        before = self._room(read.owner)
        self._inputs[read.owner].ask(read, pace)
        self.kept += self._room(read.owner) - before

    def _room(self, owner: int) -> int:
        """Bytes of the windows of an input, of those that keep rows."""
        windows = self._inputs[owner].made(sides=self.sides)
        self.has_sides = self.has_sides or any(window.beside for window in windows)
        return sum(map(self._kept, windows))

    def _kept(self, window: Window) -> int:
        if not window.is_lone:
            return window.room
        self._lone = max(self._lone, window.room)
        return 0

    def inputs(self) -> Iterator[int]:
        """Values that the range reads and does not make."""
        for given in self._inputs.values():
            for wanted in given.windows:
                yield wanted.reads[0].value
