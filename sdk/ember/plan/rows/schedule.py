"""A cascade becomes the steps in which its rows are made, and their table (rows.h).

Each row is made once, when a reader asks for it. A reader finds the newest row of a
window at the one place that its lag says: before the window moves on, all readers that
want it there run. If a row comes too late or too early for that, the cascade does not
run in step.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass

from ember.plan.rows import sharing
from ember.plan.rows.cascade import Cascade, RowSource, Window
from ember.plan.rows.reads import LEAST_FLOAT
from ember.plan.rows.sharing import Action, Slab, What


@dataclass(frozen=True)
class Schedule:
    cascade: Cascade
    steps: tuple[Action, ...]
    slab: Slab


class OutOfStepError(Exception):
    """Two readers of a window want different rows as the newest."""


def of(
    cascade: Cascade,
    *,
    whole_inputs: bool = False,
    work: int = sharing.FEW,
    under: int | None = None,
) -> Schedule:
    """Raises OutOfStepError where the cascade has none. With `whole_inputs` unread rows
    of inputs come in, too; with more `work` windows share more. `under` is an input
    that is not needed afterwards, which windows may overlap."""
    steps = _Maker(cascade).steps(whole_inputs=whole_inputs)
    windows = range(len(cascade.calls), len(cascade.windows))
    below = [n for n in windows if cascade.windows[n].value == under]
    slab = sharing.slab(cascade, steps, work, below)
    return Schedule(cascade, sharing.moved_early(cascade, steps, slab.early), slab)


class _Maker:
    def __init__(self, cascade: Cascade) -> None:
        self.cascade = cascade
        self.made: list[Action] = []
        self.newest = [-1 - window.padding - window.ahead for window in cascade.windows]
        self.times = [0] * len(cascade.calls)  # how often each ran
        self.pushed: set[int] = set()  # windows that are about to get a row
        self.begun: set[int] = set()  # windows with what lies beside the image
        self.running: set[int] = set()  # calls that wait for what they read
        self.readers: list[list[tuple[int, RowSource]]] = [[] for _ in cascade.windows]
        for call, sources in enumerate(cascade.sources):
            for source in sources:
                self.readers[source.window].append((call, source))

    def steps(self, *, whole_inputs: bool) -> tuple[Action, ...]:
        sink = len(self.cascade.calls) - 1
        self._advance(sink, self.cascade.windows[sink].image - 1)
        for number, window in enumerate(self.cascade.windows):
            if window.is_output:  # also rows that the cascade does not read
                self._advance(number, max(window.image - 1, self.newest[number]))
        for number, window in enumerate(self.cascade.windows):
            if window.maker is None and whole_inputs:
                self._advance(number, max(window.image - 1, self.newest[number]))
        return tuple(self.made)

    def _advance(self, window: int, row: int) -> None:
        while self.newest[window] < row:
            self._push(window)

    def _push(self, number: int) -> None:
        window = self.cascade.windows[number]
        if number in self.pushed:
            raise OutOfStepError
        self.pushed.add(number)
        for call, source in self.readers[number]:
            if self.newest[number] == self._wanted(call, source):
                # What writes over the result runs at once, too.
                last = self.cascade.last_home(call)
                self._advance(last, self.times[call] * self.cascade.calls[call].step)
                self._follow(call)
        row = self.newest[number] + 1
        self._bring(number, window, row)
        self.newest[number] = row
        self.pushed.remove(number)
        if window.is_output and 0 <= row < window.image:
            which = self.cascade.outputs.index(window.value)
            self.made.append(Action(What.OUT, number, which))

    def _follow(self, call: int) -> None:
        """The only reader of a result reads it at once if the row that it makes is not
        longer, so that less waits for what has not been asked for yet."""
        while (reader := self._free_reader(call)) is not None:
            self._advance(reader, self.times[reader] * self.cascade.calls[reader].step)
            call = reader

    def _free_reader(self, call: int) -> int | None:
        """The one reader of a result, if it reads nothing else and may run now without
        other calls having to run."""
        if len(self.readers[call]) != 1:
            return None
        ((reader, source),) = self.readers[call]
        result, window = (self.cascade.windows[n] for n in (reader, call))
        single = len(self.cascade.sources[reader]) == 1 and not result.is_row
        busy = reader in self.pushed or reader in self.running
        wanted = (self._wanted(*after) for after in self.readers[reader])
        if not single or busy or result.row_bytes > window.row_bytes:
            return None
        if self.newest[call] != self._wanted(reader, source):
            return None
        return None if self.newest[reader] in wanted else reader

    def _bring(self, number: int, window: Window, row: int) -> None:
        """A row becomes the newest of a window; what comes in at the end of the window
        is the row that is `ahead` of it."""
        inside = 0 <= row < window.image
        self._begin(number)
        if inside and window.maker is None:
            self.made.append(Action(What.IN, number, number - len(self.cascade.calls)))
        elif inside and window.maker is not None and row % (window.ahead + 1) == 0:
            if window.renewed and row % window.renewed == 0:
                self.made.append(_fill(number, window))
            self._run(window.maker)
        elif window.fill is None or row + window.ahead in range(window.image):
            self.made.append(Action(What.SKIP, number))
        else:
            self.made.append(_fill(number, window))

    def _wanted(self, call: int, source: RowSource) -> int | None:
        """The newest row of a source when a call runs next."""
        time, read = self.times[call], source.read
        if time * self.cascade.calls[call].step >= self.cascade.windows[call].image:
            return None
        return time * read.stride - read.padding + read.extent - 1 + source.lag

    def _run(self, call: int) -> None:
        if call in self.running:
            raise OutOfStepError
        self.running.add(call)
        wanted = [
            (source.window, self._wanted(call, source))
            for source in self.cascade.sources[call]
        ]
        home = self.cascade.moved_by(call)  # what it writes over comes last
        for window, newest in sorted(wanted, key=lambda each: each[0] == home):
            assert newest is not None
            self._advance(window, newest)
        if any(self.newest[window] != newest for window, newest in wanted):
            raise OutOfStepError
        self.running.remove(call)
        self.times[call] += 1
        self._begin(self.cascade.last_home(call))
        self.made.append(Action(What.RUN, self.cascade.moved_by(call), call))

    def _begin(self, number: int) -> None:
        """Fills the columns beside the image, which stay when rows are made between."""
        window = self.cascade.windows[number]
        if window.beside and number not in self.begun:
            self.begun.add(number)
            self.made += [_fill(number, window)] * window.rows


def _fill(number: int, window: Window) -> Action:
    what = What.LEAST if window.fill == LEAST_FLOAT else What.FILL
    return Action(what, number)


def over_slab(schedule: Schedule) -> Mapping[int, int]:
    """By numbers of inputs: bytes by which one must start later than the slab, so that
    each window first takes memory whose rows were read."""
    cascade, slab = schedule.cascade, schedule.slab
    if slab.unread < slab.size:
        return {}
    deltas: dict[int, int] = {}
    uses = sharing.uses(cascade, schedule.steps)
    for number, window in enumerate(cascade.windows[len(cascade.calls) :]):
        if window.planes > 1:
            continue
        inputs = [len(cascade.calls) + number]
        before = sharing.read_before(cascade, schedule.steps, uses, inputs)
        later = (
            slab.starts[begun] + cascade.windows[begun].room - read
            for begun, read in before.items()
            if read < sharing.image_bytes(window)
        )
        deltas[number] = max(later, default=0)
    return deltas


def over(schedule: Schedule) -> Mapping[tuple[int, int], int]:
    """By numbers of input and output: bytes by which the input must start later than
    the output, so that each row of the output is written over rows that were read."""
    cascade = schedule.cascade
    inputs = cascade.windows[len(cascade.calls) :]
    read = [0] * len(inputs)  # of the first plane
    written = [0] * len(cascade.outputs)  # of the last one
    deltas: dict[tuple[int, int], int] = {}
    for action in schedule.steps:
        window = cascade.windows[action.window]
        part = window.image_bytes // window.planes
        if action.what == What.IN:
            read[action.which] += part
        if action.what != What.OUT:
            continue
        written[action.which] += part
        end = written[action.which] + (window.planes - 1) * window.image * part
        for number, source in enumerate(inputs):
            if read[number] < source.image * source.image_bytes // source.planes:
                distance = end - read[number]
                key = number, action.which
                deltas[key] = max(deltas.get(key, distance), distance)
    return deltas


# ---- the table that the runtime walks ------------------------------------------------


_HEAD = struct.Struct("<HHI")
_WINDOW = struct.Struct("<IIBBH")
_ACTION = struct.Struct("<BBH")
EDGES = 8  # EMBER_ROWS_EDGES
MOST_ACTIONS = 256
MOST_NODES = 256
MOST_BESIDE = (1 << 16) - 1


def fits_table(schedule: Schedule) -> bool:
    cascade = schedule.cascade
    return (
        len(set(schedule.steps)) <= MOST_ACTIONS
        and all(window.beside <= MOST_BESIDE for window in cascade.windows)
        and len(cascade.calls) <= MOST_NODES
        and len(cascade.inputs) + len(cascade.outputs) <= EDGES
    )


def table(schedule: Schedule) -> bytes:
    cascade = schedule.cascade
    actions = list(dict.fromkeys(schedule.steps))
    number = {action: n for n, action in enumerate(actions)}
    windows = zip(cascade.windows, schedule.slab.starts, strict=True)
    parts = [_HEAD.pack(len(cascade.windows), len(actions), len(schedule.steps))]
    parts += [
        _WINDOW.pack(at, window.row_bytes, window.rows, _byte(window), window.beside)
        for window, at in windows
    ]
    parts += [
        _ACTION.pack(action.what, _which(schedule, action), action.window)
        for action in actions
    ]
    parts.append(bytes(number[action] for action in schedule.steps))
    return b"".join(parts)


def _byte(window: Window) -> int:
    """Fill byte for rows outside the image."""
    return 0 if window.fill is None or window.fill == LEAST_FLOAT else window.fill


def _which(schedule: Schedule, action: Action) -> int:
    """The number of an input, output or call; outputs are counted on from inputs."""
    behind = len(schedule.cascade.inputs) if action.what == What.OUT else 0
    return action.which + behind
