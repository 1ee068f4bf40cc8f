"""Calls in a row become a cascade: the windows between them, and their bytes.

When the last call, the sink, makes its row t, the newest row of each tensor is that of
its pace (wanted.py). A reader for which that is too early finds its rows further up in
the window, always at the same place: by `lag` rows. A call that makes several rows at a
time writes them ahead of the newest one, which they become one after the other. What
only one call reads, which may write over it, is at the place of that call's newest row.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ember.plan.rows import reads, wanted
from ember.plan.rows.reads import RowCall, RowRead
from ember.plan.rows.wanted import NO_PACE, Pace, WantedInput, WantedRows
from ember.program import types
from ember.program.types import ALIGN

MOST_ROWS = 255  # of a window


@dataclass(frozen=True)
class Window:
    value: int
    rows: int  # that it holds
    row_bytes: int  # with the columns beside the image
    image: int  # rows of the whole tensor
    padding: int  # rows before the first one that is read
    fill: int | None  # fill byte for rows outside the image, as in RowRead
    maker: int | None  # number of the call that makes the rows; None: an input
    is_output: bool = False
    beside: int = 0  # bytes at either end of a row, beside the image
    ahead: int = 0  # rows behind the newest one, which are made already
    renewed: int = 0  # rows after which it starts again at 0, if its maker adds to it
    home: int | None = None  # the window whose newest row this one is
    planes: int = 1  # of the whole tensor, each with a part of a row

    @property
    def image_bytes(self) -> int:
        """Bytes of one row without its padding columns."""
        return self.row_bytes - 2 * self.beside

    @property
    def size(self) -> int:
        return self.rows * self.row_bytes

    @property
    def is_row(self) -> bool:
        """Whether it is a row of another window."""
        return self.home is not None

    @property
    def is_lone(self) -> bool:
        """Whether it keeps nothing from step to step but its one row."""
        keeps = self.beside or self.renewed or self.ahead or self.rows > 1
        return self.home is None and not keeps

    @property
    def room(self) -> int:
        return 0 if self.home is not None else -(-self.size // ALIGN) * ALIGN


@dataclass(frozen=True)
class RowSource:
    """Where a call finds what it reads, and how far the newest row there is ahead."""

    window: int
    read: RowRead
    lag: int


@dataclass(frozen=True)
class Cascade:
    calls: tuple[RowCall, ...]
    windows: tuple[Window, ...]  # those that calls make first, in their order
    sources: tuple[tuple[RowSource, ...], ...]  # of each call
    inputs: tuple[int, ...]  # values: of each window without a maker, in their order
    outputs: tuple[int, ...]  # values
    has_sides: bool = False  # windows have the columns beside the image

    def moved_by(self, call: int) -> int:
        """The window that moves before a call runs: its own, or that whose newest row
        its own is; one of a row, which never moves, if it writes over what is there."""
        over = (source.window for source in self.sources[call])
        mine = (window for window in over if self.windows[window].home == call)
        return next(mine, self.last_home(call))

    def last_home(self, window: int) -> int:
        """The window whose newest row this one is, in the end."""
        while (home := self.windows[window].home) is not None:
            window = home
        return window


def of(
    calls: Sequence[RowCall], wanted: frozenset[int], *, sides: bool = False
) -> Cascade | None:
    """The cascade of calls that stand in a row; values of `wanted` are needed after it.
    With `sides` windows have the columns beside the image, where all readers allow it.

    None where calls do not run in step, and where `sides` change nothing.
    """
    return _Builder(calls, wanted, sides=sides).cascade()


def is_lone(call: RowCall) -> bool:
    """Whether it makes a row at a time, and nothing else."""
    return call.step == 1 and not call.renewed


def made_window(
    call: RowCall,
    asked: WantedRows,
    *,
    sides: bool,
    number: int = 0,
    is_output: bool = False,
) -> Window:
    """The window of what call `number` makes."""
    window = _window(call.out, call.tensor, asked, sides=sides and call.step == 1)
    return replace(
        window,
        rows=window.rows + call.step - 1,
        fill=0 if call.renewed else window.fill,
        maker=number,
        is_output=is_output,
        ahead=call.step - 1,
        renewed=call.renewed,
    )


def input_window(asked: WantedRows, *, sides: bool) -> Window:
    """The window of an input, which no call of the cascade makes."""
    read = asked.reads[0]
    return _window(read.value, read.tensor, asked, sides=sides)


def _window(
    value: int, tensor: types.Tensor, asked: WantedRows, *, sides: bool
) -> Window:
    columns = _beside(asked.reads) if sides and not reads.are_planes(tensor) else 0
    beside = columns * reads.column_bytes(tensor)
    fills = {read.fill for read in asked.reads if columns and read.beside}
    return Window(
        value,
        asked.rows,
        reads.row_bytes(tensor) + 2 * beside,
        reads.rows(tensor),
        asked.padding,
        next(iter(fills or asked.fills), None),
        None,
        beside=beside,
        planes=reads.planes(tensor),
    )


class _Builder:
    def __init__(
        self, calls: Sequence[RowCall], wanted: frozenset[int], *, sides: bool
    ) -> None:
        self.sides = sides
        self.calls = tuple(calls)
        self.wanted = wanted
        self.made = {call.out: WantedRows() for call in calls}
        self.given: dict[int, WantedInput] = {}  # by owner
        self.homes: dict[tuple[int, int], tuple[int, int]] = {}  # of given readers
        self.numbers = {call.out: number for number, call in enumerate(calls)}

    def cascade(self) -> Cascade | None:
        if len(self.made) != len(self.calls) or not self._is_in_step():
            return None
        homes = self._homes()
        windows = [
            replace(self._window(number), home=homes.get(number))
            for number in range(len(self.calls))
        ]
        starts = {}
        for owner, given in self.given.items():
            starts[owner] = len(windows)
            windows += [input_window(each, sides=self.sides) for each in given.windows]
        sources = [
            tuple(self._sources(number, starts)) for number in range(len(self.calls))
        ]
        if any(window.rows > MOST_ROWS for window in windows):
            return None
        if any(window.ahead and window.is_output for window in windows):
            return None
        if self.sides and not any(window.beside for window in windows):
            return None
        inputs = [w.value for w in windows if w.maker is None]
        outputs = [w.value for w in windows if w.is_output]
        return Cascade(
            self.calls,
            tuple(windows),
            tuple(sources),
            tuple(inputs),
            tuple(outputs),
            self.sides,
        )

    def _is_in_step(self) -> bool:
        """Works out paces, from the sink up."""
        sink = self.made[self.calls[-1].out]
        sink.pace = Pace()
        for number, call in reversed([*enumerate(self.calls)]):
            out = self.made[call.out]
            if out.pace is None:  # another sink
                return False
            out.call = call
            wanted.let_run(out, self.made)
            for place, read in enumerate(call.reads):
                pace = wanted.newest(out, call, read)
                asked = self.made.get(read.owner)
                if asked is None:
                    given = self.given.setdefault(read.owner, WantedInput())
                    given.ask(call.out, read, pace)
                    self.homes[number, place] = read.owner, len(given.homes) - 1
                elif not asked.ask(call.out, read, pace):
                    return False
        for given in self.given.values():
            for asked in given.windows:
                wanted.let_run(asked, self.made)
        return all(len(tensor.fills) <= 1 for tensor in self.made.values())

    def _homes(self) -> dict[int, int]:
        """Windows that are rows of others: of several that a call may write over, the
        last one."""
        homes: dict[int, int] = {}
        for reader, call in enumerate(self.calls):
            numbers = [self.numbers.get(read.owner, -1) for read in call.reads]
            may = [n for n in numbers if n >= 0 and self._may_be_home(n)]
            if may and call.step == 1:
                homes[max(may)] = reader
        return homes

    def _may_be_home(self, number: int) -> bool:
        call = self.calls[number]
        return is_lone(call) and self.made[call.out].may_be_home

    def _window(self, number: int) -> Window:
        call = self.calls[number]
        return made_window(
            call,
            self.made[call.out],
            sides=self.sides,
            number=number,
            is_output=call.out in self.wanted,
        )

    def _sources(self, number: int, starts: Mapping[int, int]) -> Iterator[RowSource]:
        """Where a call finds its inputs; `starts` are the first windows of inputs."""
        call = self.calls[number]
        for place, read in enumerate(call.reads):
            pace = wanted.newest(self.made[call.out], call, read) or NO_PACE
            if read.owner in self.made:
                window, asked = self.numbers[read.owner], self.made[read.owner]
            else:
                owner, reader = self.homes[number, place]
                home = self.given[owner].homes[reader]
                window, asked = starts[owner] + home, self.given[owner].windows[home]
            yield RowSource(window, read, asked.lag(pace))


def _beside(readers: Sequence[RowRead]) -> int:
    """Columns at either side of a window that its readers take as they are: all agree,
    or take a single row, which is in one piece without them."""
    wide = [read for read in readers if read.beside > 0]
    alike = {(read.beside, read.fill) for read in wide}
    fills = {read.outside for read in readers if read.outside is not None}
    single = all(read.extent == 1 for read in readers if read.beside == 0)
    if len(alike) != 1 or not single or not fills <= {wide[0].fill}:
        return 0
    return wide[0].beside
