"""A method becomes storages: which values share memory, and when their bytes matter.

Everything follows from the program. Its exporter leaves out an instruction for a view
of static shape: the view is a second value at the same place. A value that is read and
never written is such a view, of what was last written there (bases.py).

MoveCall is a copy here and a move of the handle in ExecuTorch. A plan serves both: the
two sides get one place where their lives allow it; otherwise the source lives as long
as the target is needed, which is followed along the flow. A storage that is read before
it is written carries state from one run to the next and is never reused.

Storages are cut into pieces where their values start or end; sets of pieces are bits.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import overload

from ember.kernels import KernelList
from ember.plan.bases import Bases, Flow, Ground
from ember.plan.effects import Effects
from ember.plan.offsets.buffers import Buffer, Moments, Run
from ember.plan.rows import row_regions
from ember.program import Method
from ember.program.remembered import remembered
from ember.program.types import ALIGN


@dataclass(frozen=True, slots=True)
class Storage:
    """Bytes of one planned memory that hold one value or several."""

    values: Mapping[int, int]  # value -> where it starts in the storage, in bytes
    memory_id: int
    size: int  # bytes
    is_state: bool  # alive from one run to the next
    points: Moments  # instructions; -1 is the entry, their number the exit

    def buffer(self) -> Buffer:
        return Buffer(self.size, self.points, ALIGN)


@dataclass(frozen=True)
class Lifetimes:
    storages: tuple[Storage, ...]  # of all planned values in use
    # What the program's own plan destroys when ExecuTorch runs it, in one sentence.
    conflict: str | None
    effects: tuple[Effects, ...]  # of each instruction, delegates looked into


def of(method: Method, known: KernelList, *, check: bool = True) -> Lifetimes:
    """Raises SdkError for an unknown operator, and for a value with an unwritten part.

    Without `check` the plan of the program is trusted.
    """
    question = ("lifetimes", known, check)
    return remembered(method, question, lambda: _lifetimes(method, known, check=check))


def _lifetimes(method: Method, known: KernelList, *, check: bool) -> Lifetimes:
    bases = Bases(Flow(method, known))
    conflict = Lives(bases, bases.of).conflict() if check else None
    storages = _storages(Lives(bases, shared(bases)))
    return Lifetimes(storages, conflict, tuple(bases.flow.effects))


def _storages(lives: Lives) -> tuple[Storage, ...]:
    points, at_entry = lives.points()
    state = _state(lives, at_entry)
    everywhere = Moments(((-1, lives.flow.count + 1),))
    return tuple(
        _storage(lives, group, everywhere if base in state else points[base])
        for base, group in sorted(_groups(lives, points).items())
    )


def _state(lives: Lives, at_entry: frozenset[int]) -> frozenset[int]:
    method = lives.flow.method
    kept = at_entry - lives.bases_of(method.inputs)
    return kept | lives.bases_of(
        n for n, tensor in method.tensors if tensor.data_index > 0
    )


def _groups(lives: Lives, touched: Iterable[int]) -> dict[int, list[int]]:
    """Planned values in use, by base."""
    groups: dict[int, list[int]] = {base: [] for base in touched}
    for value, base in lives.base.items():
        if base in groups and lives.bases.places[value] is not None:
            groups[base].append(value)
    return {base: group for base, group in groups.items() if group}


def _storage(lives: Lives, group: list[int], points: Moments) -> Storage:
    starts: dict[int, int] = {}
    size = 0
    for value in group:
        memory, start, end = lives.bases.extent[lives.bases.of[value]]
        starts[value] = lives.bases.inside(value)[0]
        size = max(size, end - start)
    is_state = len(points) == lives.flow.count + 2
    return Storage(starts, memory, size, is_state, points)


# ---- both sides of a move ------------------------------------------------------------


def shared(bases: Bases) -> Mapping[int, int]:
    """The base of each value, after moves were joined."""
    if not any(effect.handles for effect in bases.flow.effects):
        return bases.of
    copies = _Copies(bases)
    for index, effect in enumerate(bases.flow.effects):
        for target, source in effect.handles:
            copies.join(index, target, source)
    return copies.base


class _Copies:
    """Bases that moves may join, by their lives when every move is a copy."""

    def __init__(self, bases: Bases) -> None:
        self.base = dict(bases.of)
        self.values: dict[int, list[int]] = {}  # by base
        for value, base in self.base.items():
            self.values.setdefault(base, []).append(value)
        self.moves: dict[int, set[int]] = {}  # base -> moves inside its group
        self.extent = bases.extent
        self.points, at_entry = Lives(bases, bases.of, copies=True).points()
        self.fixed = at_entry.union(bases.of[value] for value in bases.given)

    def join(self, index: int, target: int, source: int) -> None:
        this, other = self.base[target], self.base[source]
        if this == other or not self._are_alike(this, other):
            return
        inside = self.moves.get(this, set()) | self.moves.get(other, set()) | {index}
        if any(at not in inside for at in self.points[this] & self.points[other]):
            return
        self.moves[this] = inside
        self.points[this] = self.points[this].union(self.points[other])
        self.base.update(dict.fromkeys(self.values[other], this))
        self.values[this] += self.values.pop(other)

    def _are_alike(self, this: int, other: int) -> bool:
        """Both are planned in one memory, of one size, and neither inputs nor state."""
        a, b = self.extent.get(this), self.extent.get(other)
        if a is None or b is None or {this, other} & self.fixed:
            return False
        return a[0] == b[0] and a[2] - a[1] == b[2] - b[1]


# ---- when bases matter ---------------------------------------------------------------


class Lives:
    """The lives of storages, of which `base` says the value that stands for each. A
    move takes its handle along, or copies."""

    def __init__(
        self, bases: Bases, base: Mapping[int, int], *, copies: bool = False
    ) -> None:
        self.flow = bases.flow
        self.bases = bases
        self.base = base
        self.pieces = self._pieces()
        self.holds = self._handles(copies)

    def _pieces(self) -> Pieces:
        groups: dict[int, dict[int, tuple[int, int]]] = {}
        for value, base in self.base.items():
            groups.setdefault(base, {})[value] = self.bases.inside(value)
        return Pieces.of(groups)

    # ---- handles -----------------------------------------------------------------

    def _handles(self, copies: bool) -> list[dict[int, frozenset[int]]]:
        """Before each instruction, and at the exit: for each base whose handle moves,
        the bases in whose memory it may be."""
        pairs = [
            [
                (self.base[target], self.base[source])
                for target, source in effect.handles
            ]
            for effect in self.flow.effects
        ]
        moved = [
            [(a, b) for a, b in handles if a != b and not copies] for handles in pairs
        ]
        targets = {target for handles in moved for target, _ in handles}
        if not targets:
            return [{}] * (self.flow.count + 1)
        states: list[dict[int, frozenset[int]]]
        states = [{} for _ in range(self.flow.count + 1)]
        states[0] = {target: frozenset({target}) for target in targets}
        waiting = [0]
        while waiting:
            index = waiting.pop()
            after = dict(states[index])
            for target, source in moved[index]:
                held = after.get(source, frozenset({source}))
                after[target] = held | {target}
            for successor in self.flow.successors[index]:
                joined = _joined(states[successor], after)
                if joined != states[successor]:
                    states[successor] = joined
                    if successor < self.flow.count:
                        waiting.append(successor)
        return states

    def _held(self, bases: Iterable[int], index: int) -> frozenset[int]:
        """The bases in whose memory these may be just before instruction `index`."""
        holds = self.holds[index]
        held: set[int] = set()
        for base in bases:
            held |= holds.get(base, frozenset({base}))
        return frozenset(held)

    def bases_of(self, values: Iterable[int]) -> frozenset[int]:
        return frozenset(self.base[value] for value in values if value in self.base)

    # ---- liveness ----------------------------------------------------------------

    def points(self) -> tuple[dict[int, Moments], frozenset[int]]:
        """When each base matters, and which do at the entry."""
        needed = self._needed()
        at_entry = self._held(self.pieces.bases(needed[0]), 0)
        runs: dict[int, list[Run]] = {}

        def note(bases: Iterable[int], first: int, end: int) -> None:
            for base in bases:
                runs.setdefault(base, []).append((first, end))

        note(self.bases_of(self.flow.method.inputs) | at_entry, -1, 0)
        for index, effect in enumerate(self.flow.effects):
            touched = self.bases_of((*effect.touched, *self._read(index)))
            note(self._held(touched, index), index, index + 1)
            note(self._led_to(index, needed), index, index + 1)
        exit_ = self.flow.count
        note(self._held(self.pieces.bases(needed[exit_]), exit_), exit_, exit_ + 1)
        for base, first, end in self.pieces.runs(self._after(needed)):
            note((base,), first - 1, end - 1)
        return {base: Moments.of_runs(run) for base, run in runs.items()}, at_entry

    def _needed(self) -> Sequence[int]:
        """Pieces whose content matters before each instruction; last: at the exit."""
        bits = self.pieces.bits
        at_exit = bits(self.flow.method.outputs)
        if self.flow.is_straight:
            return Sets(self._backwards(at_exit))
        before = [0] * (self.flow.count + 1)
        before[self.flow.count] = at_exit
        changed = True
        while changed:
            changed = False
            for index in reversed(range(self.flow.count)):
                kept = ~bits(self.flow.effects[index].writes)
                now = bits(self._read(index))
                for after in self.flow.successors[index]:
                    now |= before[after] & kept
                if now != before[index]:
                    before[index] = now
                    changed = True
        return before

    def _backwards(self, now: int) -> Iterator[int]:
        """The same where no instruction jumps, the last one first."""
        yield now
        for index in reversed(range(self.flow.count)):
            now &= ~self.pieces.bits(self.flow.effects[index].writes)
            now |= self.pieces.bits(self._read(index))
            yield now

    def _read(self, index: int) -> Iterator[int]:
        effect = self.flow.effects[index]
        yield from effect.reads
        yield from effect.updates
        yield from (source for _, source in effect.handles)

    def _after(self, needed: Sequence[int]) -> Iterator[int]:
        """Pieces that matter after the entry and after each instruction, where no
        handle moves."""
        yield needed[0]
        for successors in self.flow.successors:
            bits = 0
            for successor in successors:
                bits |= needed[successor]
            yield bits

    def _led_to(self, index: int, needed: Sequence[int]) -> set[int]:
        """Bases whose bytes matter after an instruction because handles lead there."""
        reached: set[int] = set()
        for after in self.flow.successors[index]:
            for target, bases in self.holds[after].items():
                if self.pieces.has(needed[after], target):
                    reached |= bases
        return reached

    # ---- the plan of the program -------------------------------------------------

    def conflict(self) -> str | None:
        """What the plan of the program destroys, in one sentence."""
        needed = self._needed()
        ground = Ground(self.bases, self.base)
        after = itertools.islice(self._after(needed), 1, None)
        alive = self.pieces.changes(after)
        begins = {region.enter for region in row_regions.regions(self.flow.method)}
        for index, effect in enumerate(self.flow.effects):
            ground.change(next(alive))
            if index in begins:
                continue  # outputs may overlap inputs there
            moved = {target for target, _ in effect.handles}
            bases = self.bases_of((effect.writes | effect.updates) - moved)
            written = self._held(bases, index)
            hit = ground.hit(written, self._led_to(index, needed))
            if hit is not None:
                base, victim = hit
                return (
                    f"{self.flow.method.name}, instruction {index}: value {base}"
                    f" overwrites value {victim}, which is needed later"
                )
        return None


def _joined(
    this: dict[int, frozenset[int]], other: dict[int, frozenset[int]]
) -> dict[int, frozenset[int]]:
    empty = frozenset[int]()
    return {
        key: this.get(key, empty) | other.get(key, empty) for key in {*this, *other}
    }


# ---- sets of pieces ------------------------------------------------------------------


Span = tuple[int, int]  # the first bit, and the one behind the last


@dataclass(frozen=True)
class Pieces:
    of_value: Mapping[int, Span]
    of_base: Mapping[int, Span]
    base: list[int]  # of each bit

    @staticmethod
    def of(groups: Mapping[int, Mapping[int, tuple[int, int]]]) -> Pieces:
        """`groups` has, by base, where its values start and end."""
        of_value: dict[int, Span] = {}
        of_base: dict[int, Span] = {}
        bases: list[int] = []
        for base, spans in groups.items():
            starts = sorted({cut for span in spans.values() for cut in span})[:-1]
            first = len(bases)
            bases += [base] * len(starts)
            of_base[base] = (first, len(bases))
            number = {start: first + n for n, start in enumerate(starts)}
            for value, (start, end) in spans.items():
                low, high = number.get(start, 0), number.get(end, len(bases))
                of_value[value] = (low, high) if start < end else (low, low)
        return Pieces(of_value, of_base, bases)

    def bits(self, values: Iterable[int]) -> int:
        bits = 0
        for value in values:
            if value in self.of_value:
                bits |= _bits(self.of_value[value])
        return bits

    def has(self, bits: int, base: int) -> bool:
        """Whether a piece of a base is in a set."""
        return base in self.of_base and bool(bits & _bits(self.of_base[base]))

    def bases(self, bits: int) -> frozenset[int]:
        """The bases with a piece in the set."""
        return frozenset(self.base[bit] for bit in _ones(bits))

    def changes(self, sets: Iterable[int]) -> Iterator[dict[int, bool]]:
        """For each set: the bases that have a piece in it but had none in the set
        before (True), and the other way round (False)."""
        before = 0
        for now in sets:
            touched = {self.base[bit] for bit in _ones(before ^ now)}
            states = ((base, _bits(self.of_base[base])) for base in touched)
            yield {
                base: bool(bits & now)
                for base, bits in states
                if bool(bits & now) != bool(bits & before)
            }
            before = now

    def runs(self, sets: Iterable[int]) -> Iterator[tuple[int, int, int]]:
        """Base, number of the first set that has a piece of it, and of the next one
        that has none."""
        began: dict[int, int] = {}
        for number, changed in enumerate(self.changes(itertools.chain(sets, [0]))):
            for base, alive in changed.items():
                if alive:
                    began[base] = number
                else:
                    yield base, began.pop(base), number


class Sets(Sequence[int]):
    """Sets of pieces in a row, to be read from one to the next.

    Each is kept as its difference from its neighbour: whole sets of a large program
    would take its square in memory.
    """

    def __init__(self, backwards: Iterable[int]) -> None:
        """`backwards` has the sets from the last one to the first."""
        self._changes: list[tuple[int, int]] = []  # to the next: zeros, bits above them
        last: int | None = None
        now = 0
        for before in backwards:
            if last is None:
                last = before
            else:
                changed = before ^ now
                zeros = max(0, (changed & -changed).bit_length() - 1)
                self._changes.append((zeros, changed >> zeros))
            now = before
        self._changes.reverse()
        self._ends = {0: now, len(self._changes): last or 0}
        self._at, self._now = 0, now

    def __len__(self) -> int:
        return len(self._changes) + 1

    @overload
    def __getitem__(self, index: int) -> int: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[int]: ...

    def __getitem__(self, index: int | slice) -> int | Sequence[int]:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        if index in self._ends:
            return self._ends[index]
        between = range(min(index, self._at), max(index, self._at))
        for change in between:
            zeros, changed = self._changes[change]
            self._now ^= changed << zeros
        self._at = index
        return self._now


def _bits(span: Span) -> int:
    """Made on demand: those of a large program take its square in memory."""
    low, high = span
    return ((1 << (high - low)) - 1) << low


def _ones(bits: int) -> Iterator[int]:
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest
