"""The reads of a tensor become how many of its rows its readers need, and when.

The pace of a tensor says which of its rows is the newest one, by the rows of the sink.
No row is made earlier than it is asked for: at each row of the sink where a reader
runs, the newest row is at the same distance from those that it wants.

Branches run ahead where less waits then: of what several calls read, a window keeps
rows for the one that reads last. Where the rows of a later result on that branch are
shorter, these wait instead.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from ember.plan.rows import reads
from ember.plan.rows.reads import RowCall, RowRead


@dataclass(frozen=True)
class Pace:
    """Row floor((slope * t + offset) / every) is the newest when the sink makes row t;
    `slope` or `every` is 1."""

    slope: int = 1
    every: int = 1
    offset: int = 0

    def of_input(self, step: int, stride: int, further: int) -> Pace | None:
        """The pace of the input of a call that makes `step` rows at this pace at a time
        and wants row n * stride + further as the newest at its n-th time. None where
        that is not a pace."""
        common = math.gcd(self.slope, step)
        slope, step = self.slope // common, step // common
        offset = self.offset // common
        if slope > 1 and step > 1:
            return None
        every = self.every * step
        if every == 1:
            return Pace(slope * stride, 1, offset * stride + further)
        if stride % every == 0:
            factor = stride // every
            return Pace(factor, 1, offset * factor + further)
        if every % stride == 0:
            rest = every // stride
            return Pace(1, rest, offset + further * rest)
        return None

    def is_like(self, other: Pace) -> bool:
        """Whether both advance as fast."""
        return (self.slope, self.every) == (other.slope, other.every)

    def later(self, other: Pace) -> Pace:
        """The one that is ahead."""
        return replace(self, offset=max(self.offset, other.offset))

    def ahead_of(self, reader: Pace) -> int:
        """By how many rows, whenever the reader runs."""
        return (self.offset - reader.offset) // self.every


NO_PACE = Pace(slope=0)  # like no other


@dataclass(frozen=True)
class RowReader:
    out: int  # value: what it makes
    read: RowRead
    pace: Pace  # of the newest row that it reads


@dataclass
class WantedRows:
    """What readers want of a tensor."""

    pace: Pace | None = None
    readers: list[RowReader] = field(default_factory=list)
    call: RowCall | None = None  # that makes it, when all readers are known

    @property
    def reads(self) -> list[RowRead]:
        return [reader.read for reader in self.readers]

    @property
    def padding(self) -> int:
        return max([0, *(read.padding for read in self.reads)])

    @property
    def fills(self) -> set[int]:
        return {read.outside for read in self.reads if read.outside is not None}

    @property
    def may_be_home(self) -> bool:
        """Whether the one reader may write over what it reads."""
        return len(self.readers) == 1 and self.reads[0].is_over and self.rows == 1

    def ask(self, out: int, read: RowRead, pace: Pace | None) -> bool:
        """`pace` is that of the newest row that is read for value `out`; False where
        the readers do not run in step."""
        if pace is None or not (self.pace is None or self.pace.is_like(pace)):
            return False
        self.pace = pace if self.pace is None else self.pace.later(pace)
        self.readers.append(RowReader(out, read, pace))
        return True

    @property
    def rows(self) -> int:
        return max(map(self.depth, self.readers), default=1)

    def depth(self, reader: RowReader) -> int:
        """Rows of the window from the first one that it reads."""
        return reader.read.extent + self.lag(reader.pace)

    def lag(self, reader: Pace) -> int:
        """How many rows the newest one is ahead of what a reader wants."""
        assert self.pace is not None
        return self.pace.ahead_of(reader)

    def joined(self, out: int, read: RowRead, pace: Pace) -> WantedRows | None:
        """With another reader; None where a separate window takes less."""
        both = WantedRows(self.pace, [*self.readers])
        fits = both.ask(out, read, pace) and len(both.fills) <= 1
        alike = read.tensor.sizes == self.reads[0].tensor.sizes
        less = both.rows <= self.rows + read.extent
        return both if fits and alike and less else None


@dataclass
class WantedInput:
    """What readers want of a tensor that no call of the cascade makes: those that run
    in step have a window together."""

    windows: list[WantedRows] = field(default_factory=list)
    homes: list[int] = field(default_factory=list)  # of each reader: its window

    def ask(self, out: int, read: RowRead, pace: Pace | None) -> None:
        for number, wanted in enumerate(self.windows if pace else ()):
            joined = wanted.joined(out, read, pace or NO_PACE)
            if joined is not None:
                self.windows[number] = joined
                self.homes.append(number)
                return
        self.homes.append(len(self.windows))
        self.windows.append(WantedRows())
        self.windows[-1].ask(out, read, pace or NO_PACE)


def newest(out: WantedRows, call: RowCall, read: RowRead) -> Pace | None:
    """The newest row that a call reads for its result."""
    assert out.pace is not None
    return out.pace.of_input(call.step, read.stride, read.extent - 1 - read.padding)


# ---- branches that run ahead ---------------------------------------------------------


@dataclass(frozen=True)
class _Ahead:
    """A branch with other paces, and the bytes of rows that wait at its end."""

    paces: Mapping[int, Pace]  # by value
    reader: Pace
    bytes: int


def let_run(asked: WantedRows, by_value: Mapping[int, WantedRows]) -> set[int]:
    """Readers of a tensor that read late run ahead, when all of them are known. Returns
    the values whose windows are others now."""
    changed: set[int] = set()
    while (ways := _cheaper(asked, by_value)) is not None:
        for number, way in ways.items():
            _take(asked, number, way, by_value)
            changed |= way.paces.keys()
    return changed


def _cheaper(
    asked: WantedRows, by_value: Mapping[int, WantedRows]
) -> dict[int, _Ahead] | None:
    """By the readers that want most rows: how they want less of them, where what waits
    then is less than what they do not want."""
    depths = [asked.depth(reader) for reader in asked.readers]
    most = max(depths, default=0)
    latest = [number for number, depth in enumerate(depths) if depth == most]
    others = [depth for depth in depths if depth < most]
    if not others:
        return None
    row_bytes = reads.row_bytes(asked.readers[0].read.tensor)
    for less in range(most - max(others), 0, -1):
        ways = [_way(asked, asked.readers[number], less, by_value) for number in latest]
        taken = [way for way in ways if way is not None]
        waiting = sum(way.bytes for way in taken)
        if len(taken) == len(ways) and waiting < less * row_bytes:
            return dict(zip(latest, taken, strict=True))
    return None


def _take(
    asked: WantedRows, number: int, way: _Ahead, by_value: Mapping[int, WantedRows]
) -> None:
    asked.readers[number] = replace(asked.readers[number], pace=way.reader)
    for value, pace in way.paces.items():
        by_value[value].pace = pace
    values = [*way.paces]
    for value, after in itertools.pairwise(values):
        (reader,) = by_value[value].readers
        assert reader.out == after
        by_value[value].readers = [replace(reader, pace=way.paces[value])]


def _way(
    asked: WantedRows, late: RowReader, less: int, by_value: Mapping[int, WantedRows]
) -> _Ahead | None:
    """The cheapest one after which a branch reads `less` rows earlier, or more."""
    lag = asked.lag(late.pace)
    ways = []
    branch: list[int] = []
    for value in _branch(late.out, by_value):
        branch.append(value)
        call = by_value[value].call
        if call is None or by_value[value].may_be_home:
            continue
        for rows in range(1, lag + 1):
            paces = _paces(branch, rows, by_value)
            reader = _newest(by_value[late.out], paces[late.out]) if paces else None
            if paces is None or reader is None or asked.lag(reader) < 0:
                break
            if asked.lag(reader) <= lag - less:
                ways.append(_Ahead(paces, reader, rows * reads.row_bytes(call.tensor)))
                break
    return min(ways, key=lambda way: way.bytes, default=None)


def _branch(value: int, by_value: Mapping[int, WantedRows]) -> Iterator[int]:
    """Results, each made only of the one before."""
    while True:
        asked = by_value[value]
        call = asked.call
        if call is None or len(call.reads) > 1 or call.step > 1 or call.renewed:
            return
        if not asked.readers:
            return
        yield value
        if len(asked.readers) > 1:
            return
        value = asked.readers[0].out


def _paces(
    branch: list[int], rows: int, by_value: Mapping[int, WantedRows]
) -> dict[int, Pace] | None:
    """Paces of a branch whose last result is so many rows ahead."""
    last = by_value[branch[-1]].pace
    assert last is not None
    pace: Pace | None = replace(last, offset=last.offset + rows * last.every)
    paces: dict[int, Pace] = {}
    for value in reversed(branch):
        if pace is None:
            return None
        paces[value] = pace
        pace = _newest(by_value[value], pace)
    return dict(reversed(paces.items()))


def _newest(asked: WantedRows, pace: Pace) -> Pace | None:
    """The newest row that a result's call reads, if the result has another pace."""
    assert asked.call is not None
    (read,) = asked.call.reads
    return newest(replace(asked, pace=pace), asked.call, read)
