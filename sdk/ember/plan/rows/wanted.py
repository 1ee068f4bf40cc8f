"""The reads of a tensor become what its readers want of it: how many rows, and when."""

from __future__ import annotations

from dataclasses import dataclass, field

from ember.plan.rows.pace import Pace
from ember.plan.rows.reads import RowCall, RowRead

NO_PACE = Pace(slope=0)  # like no other


@dataclass(frozen=True)
class Reader:
    out: int  # value: what it makes
    read: RowRead
    pace: Pace  # of the newest row that it reads


@dataclass
class WantedRows:
    """What readers want of a tensor."""

    pace: Pace | None = None
    readers: list[Reader] = field(default_factory=list)
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
        self.readers.append(Reader(out, read, pace))
        return True

    @property
    def rows(self) -> int:
        return max(map(self.depth, self.readers), default=1)

    def depth(self, reader: Reader) -> int:
        """Rows of the window from the first one that it reads."""
        return reader.read.extent + self.lag(reader.pace)

    def lag(self, reader: Pace) -> int:
        """How many rows the newest one is ahead of what a reader wants."""
        assert self.pace is not None
        return self.pace.ahead_of(reader)

    def joined(self, out: int, read: RowRead, pace: Pace) -> WantedRows | None:
        """With another reader; None where a window of its own takes less."""
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
    return out.pace.of_input(call.made, read.stride, read.extent - 1 - read.padding)
