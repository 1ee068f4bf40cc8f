"""Values become bases: of every value, the one that stands for the bytes it shares.

A method's flow says what each instruction touches and where it goes on. Bases that
matter at a moment are the ground: what a write there would destroy.
"""

from __future__ import annotations

import functools
import itertools
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ember.files.tensors import Array
from collections.abc import Iterable, Iterator, Mapping

from ember.errors import SdkError
from ember.kernels import KernelList
from ember.plan import effects
from ember.plan.effects import Effects
from ember.plan.rows import row_regions
from ember.program import Method, types

Place = tuple[int, int, int]  # a memory, the first byte in it, and the end
Spans = tuple[tuple[int, int], ...]  # bytes from the first to the second


class Bases:
    def __init__(self, flow: Flow) -> None:
        self.flow = flow
        self.method = flow.method
        self.places = {value: _place(tensor) for value, tensor in self.method.tensors}
        self.given = self._given()
        self._split_delegates()
        self.of = self._bases()
        self.extent = self._extents()

    def _given(self) -> frozenset[int]:
        """Tensors that have content before the first instruction."""
        inputs = [
            index
            for index in self.method.inputs
            if isinstance(self.method.values[index], types.Tensor)
        ]
        state = [n for n, tensor in self.method.tensors if tensor.data_index > 0]
        external = [n for n, tensor in self.method.tensors if tensor.is_external]
        return frozenset([*inputs, *state, *external])

    def meet(self, this: int, other: int) -> bool:
        """Whether two values share a byte of planned memory."""
        a, b = self.places[this], self.places[other]
        if a is None or b is None:
            return this == other
        return a[0] == b[0] and a[1] < b[2] and b[1] < a[2]

    def contains(self, outer: int, inner: int) -> bool:
        a, b = self.places[outer], self.places[inner]
        assert a is not None and b is not None
        return a[0] == b[0] and a[1] <= b[1] and b[2] <= a[2]

    def inside(self, value: int) -> tuple[int, int]:
        """Where a value starts and ends in its storage."""
        place = self.places[value]
        if place is None:
            return 0, 1
        first = self.extent[self.of[value]][1]
        return place[1] - first, place[2] - first

    # ---- who wrote what ----------------------------------------------------------

    def _last_writers(
        self, value: int, index: int, *, around: bool = False
    ) -> frozenset[int]:
        """Values whose bytes those of a planned `value` may be just before instruction
        `index`; what was given counts as written at the entry. `around`: what a run
        leaves is there at the entry of the next one."""
        place = self.places[value]
        assert place is not None
        if self.flow.is_straight:
            return self._last_in_a_row(place, index, around=around)
        memory, start, end = place
        writers: set[int] = set()
        whole: Spans = ((start, end),)
        waiting = [(at, whole) for at in self.flow.before(index)]
        seen = set(waiting)
        while waiting:
            at, left = waiting.pop()
            for writer in self._written(at):
                other = self.places[writer]
                if other is not None and other[0] == memory:
                    rest = _without(left, other[1], other[2])
                    if rest != left:
                        writers.add(writer)
                        left = rest
            if left and (at >= 0 or around):
                sources = self.flow.before(at if at >= 0 else self.flow.count)
                new = {(before, left) for before in sources} - seen
                waiting += new
                seen |= new
        return frozenset(writers)

    def _written(self, at: int) -> frozenset[int]:
        if at < 0:
            return self.given
        effect = self.flow.effects[at]
        return effect.writes | effect.updates

    def _last_in_a_row(
        self, place: Place, index: int, *, around: bool
    ) -> frozenset[int]:
        """The same where each instruction goes on to the next."""
        memory, start, end = place
        at, memories, starts, ends, writers = self._writes
        here = (memories == memory) & (starts < end) & (ends > start)
        numbers = [*(here & (at < index)).nonzero()[0][::-1]]
        if around:
            numbers += [*(here & (at >= index)).nonzero()[0][::-1]]
        left: Spans = ((start, end),)
        last: set[int] = set()
        for number in numbers:
            rest = _without(left, int(starts[number]), int(ends[number]))
            if rest != left:
                last.add(int(writers[number]))
                left = rest
            if not left:
                break
        return frozenset(last)

    @functools.cached_property
    def _writes(self) -> Array:
        """Instruction, memory, first byte, end and value of all that is written."""
        import numpy as np

        rows = [
            (at, *place, writer)
            for at in range(-1, self.flow.count)
            for writer in reversed(tuple(self._written(at)))
            if (place := self.places[writer]) is not None
        ]
        return np.array(rows, np.int64).reshape(-1, 5).T

    def _split_delegates(self) -> None:
        """An unwritten argument of a delegate whose graph is unknown is an output, or
        state if a kernel writes that value."""
        state = self._written_by_kernels()
        for index, instruction in enumerate(self.flow.instructions):
            if isinstance(instruction, types.DelegateCall):
                known = self.flow.effects[index]
                new = frozenset(
                    value
                    for value in known.updates - state
                    if not self._is_written_before(value, index)
                )
                self.flow.effects[index] = Effects(
                    known.reads, known.writes | new, known.updates - new
                )

    def _written_by_kernels(self) -> frozenset[int]:
        kernels = (
            effect.writes | effect.updates
            for effect, instruction in zip(
                self.flow.effects, self.flow.instructions, strict=True
            )
            if isinstance(instruction, types.KernelCall)
        )
        return frozenset().union(*kernels)

    def _is_written_before(self, value: int, index: int) -> bool:
        if value in self.given or self.places[value] is None:
            return True
        places = {self.places[writer] for writer in self._last_writers(value, index)}
        return places == {self.places[value]}

    # ---- values at one place -----------------------------------------------------

    def _bases(self) -> dict[int, int]:
        """By value, the one that stands for its storage: itself, or what it views."""
        base: dict[int, int] = {}

        def root(value: int) -> int:
            way = [value]
            while base.get(way[-1], way[-1]) != way[-1]:
                way.append(base[way[-1]])
            base.update(dict.fromkeys(way[:-1], way[-1]))  # shorter next time
            return way[-1]

        moves = (pair for effect in self.flow.effects for pair in effect.handles)
        for target, source in moves:
            if self._start_together(target, source):
                base[root(source)] = root(target)
        for effect in self.flow.effects:
            for target, source in itertools.product(effect.writes, effect.reads):
                here = self.places[target]
                if here == self.places[source] and here and here[1] < here[2]:
                    base[root(source)] = root(target)  # written in place
        windows = list(self._windows())
        base.update((value, slab) for slab, value in windows)
        for value, index, writers in self.views({value for _, value in windows}):
            wide = self._widest(value, writers, index)
            for member in {value, *writers} - {wide}:
                outer, inner = root(wide), root(member)
                if outer != inner:
                    base[inner] = outer
        return {value: root(value) for value, _ in self.method.tensors}

    def _windows(self) -> Iterator[tuple[int, int]]:
        """Pairs: the slab of a region of rows, and a value that is in it."""
        for region in row_regions.regions(self.method):
            for index in range(region.enter + 1, region.rows):
                for value in self.flow.effects[index].touched:
                    planned = self.places[value] is not None
                    if (
                        planned
                        and self._size(value)
                        and self.contains(region.slab, value)
                    ):
                        yield region.slab, value

    def _widest(self, value: int, writers: frozenset[int], index: int) -> int:
        """The value that has the bytes of `value` and of all `writers`: one of these if
        the value is a view, the value itself if they write its parts."""
        if all(self.contains(writer, value) for writer in writers):
            return min(writers, default=value)
        size = self._size(value)
        whole = sum(map(self._size, writers)) == size  # so none is over another
        if not whole or not all(self.contains(value, writer) for writer in writers):
            part = next(
                writer for writer in writers if not self.contains(writer, value)
            )
            raise SdkError(
                f"{self.method.name}, instruction {index}: value {value} is"
                f" read, but value {part} has overwritten part of it"
            )
        return value

    def _size(self, value: int) -> int:
        place = self.places[value]
        assert place is not None
        return place[2] - place[1]

    def _start_together(self, this: int, other: int) -> bool:
        """Whether a moved handle ends where it was, so that no bytes move."""
        a, b = self.places[this], self.places[other]
        return a is not None and b is not None and a[:2] == b[:2]

    def views(
        self, known: set[int] | None = None
    ) -> Iterator[tuple[int, int, frozenset[int]]]:
        """Planned values that are read and never filled: the value, the instruction,
        and what was last written to its bytes."""
        for value, index in self._unwritten(known or set()):
            writers = self._last_writers(value, index, around=True) - {value}
            yield value, index, writers

    def _unwritten(self, known: set[int]) -> Iterator[tuple[int, int]]:
        """Reads (value, instruction) of planned values that are never filled, except
        known ones."""
        filled = {*self.given, *known}
        for effect in self.flow.effects:
            filled |= effect.writes | {target for target, _ in effect.handles}
        for index, effect in enumerate(self.flow.effects):
            sources = {source for _, source in effect.handles}
            for value in sorted(effect.reads | effect.updates | sources):
                if value not in filled and self.places[value] is not None:
                    yield value, index
        for value in self.method.outputs:
            planned = isinstance(self.method.values[value], types.Tensor)
            if planned and value not in filled and self.places[value] is not None:
                yield value, self.flow.count

    def _extents(self) -> dict[int, Place]:
        """By base: memory, first byte and end of all values that share it."""
        extents: dict[int, Place] = {}
        for value, base in self.of.items():
            place = self.places[value]
            if place is not None:
                memory, start, end = extents.get(base, place)
                extents[base] = (memory, min(start, place[1]), max(end, place[2]))
        return extents


def _place(tensor: types.Tensor) -> Place | None:
    """Memory, first byte and end of a planned tensor; None for others."""
    if tensor.allocation is None:
        return None
    start = tensor.allocation.offset
    return tensor.allocation.memory_id, start, start + tensor.nbytes


def _without(left: Spans, start: int, end: int) -> Spans:
    """Spans without [start, end)."""
    parts = ((a, min(b, start), max(a, end), b) for a, b in left)
    both = (
        (span for span in ((a, b), (c, d)) if span[0] < span[1]) for a, b, c, d in parts
    )
    return tuple(span for pair in both for span in pair)


# ---- where instructions go on --------------------------------------------------------


class Flow:
    def __init__(self, method: Method, known: KernelList) -> None:
        self.method = method
        self.instructions = method.instructions
        self.effects = list(effects.of(method, known))
        self.count = len(self.effects)
        self.variable = effects.variable(method)
        self.successors = [self._after(index) for index in range(self.count)]
        self.predecessors = _reversed(self.successors)

    def _after(self, index: int) -> tuple[int, ...]:
        """Where instruction `index` may go on; their number is the exit."""
        instruction = self.instructions[index]
        if not isinstance(instruction, types.JumpFalseCall):
            return (index + 1,)
        condition = self.method.values[instruction.condition]
        if (
            isinstance(condition, types.Bool)
            and instruction.condition not in self.variable
        ):
            return (index + 1,) if condition.value else (instruction.target,)
        return tuple({index + 1, instruction.target})

    @functools.cached_property
    def is_straight(self) -> bool:
        """Whether each instruction goes on to the next."""
        following = enumerate(self.successors, start=1)
        return all(after == (index,) for index, after in following)

    def before(self, index: int) -> tuple[int, ...]:
        """The instructions that may lead to instruction `index`; -1 is the entry."""
        return self.predecessors[index] + ((-1,) if index == 0 else ())


def _reversed(successors: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Predecessors of each instruction and of the exit."""
    before: list[list[int]] = [[] for _ in range(len(successors) + 1)]
    for index, after in enumerate(successors):
        for successor in after:
            before[successor].append(index)
    return [tuple(predecessors) for predecessors in before]


# ---- what a write destroys -----------------------------------------------------------


class Ground:
    """The memories of a program at one moment, as it planned them."""

    def __init__(self, bases: Bases, base: Mapping[int, int]) -> None:
        self.bases = bases
        import numpy as np

        of_base = (
            (base_value, bases.places[base_value])
            for base_value in sorted(set(base.values()))
        )
        places = [
            (base_value, *place) for base_value, place in of_base if place is not None
        ]
        self.number = {
            base_value: number for number, (base_value, *_) in enumerate(places)
        }
        self.table = np.array(places, np.int64).reshape(-1, 4)
        self.alive = np.zeros(len(places), np.bool_)

    def change(self, alive: Mapping[int, bool]) -> None:
        for base, now in alive.items():
            if base in self.number:
                self.alive[self.number[base]] = now

    def hit(
        self, written: frozenset[int], more: Iterable[int]
    ) -> tuple[int, int] | None:
        """The first base that is written over one that is alive, or one of `more`, and
        its victim."""
        victims = {below for base in written for below in self._under(base)} | set(more)
        for victim in sorted(victims - written):
            for base in sorted(written):
                if self.bases.meet(base, victim):
                    return base, victim
        return None

    def _under(self, base: int) -> list[int]:
        """Bases that are alive and share a byte with this one."""
        place = self.bases.places[base]
        if place is None:
            return []
        memory, start, end = place
        _, memories, starts, ends = self.table.T
        here = self.alive & (memories == memory) & (starts < end) & (ends > start)
        return [int(self.table[number, 0]) for number in here.nonzero()[0]]
