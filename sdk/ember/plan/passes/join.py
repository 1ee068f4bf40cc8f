"""view, concat: a copy that only moves bytes disappears, its two sides in one place.

view: what a slice, a reshape or a copy gives lies inside what it takes. concat: what a
concatenation takes lies inside what it gives. A tensor may then start at any element of
another one's memory; the program stays an ordinary one.

Two storages become one when that never raises the peak, and when nobody changes bytes
that the other side still reads.
"""

from __future__ import annotations

import itertools
from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ember.plan import effects, lifetimes
from ember.plan.offsets.buffers import Moments
from ember.plan.passes import moves
from ember.plan.passes.execute import Computer
from ember.plan.passes.moves import Move
from ember.program import Method, types
from ember.program.edit import Draft, with_values, without
from ember.program.types import ALIGN

ENTRY = -1


def views(draft: Draft, here: Computer, keep: frozenset[int]) -> list[Draft]:
    return _apply(draft, here, keep, moves.TAKING)


def concat(draft: Draft, here: Computer, keep: frozenset[int]) -> list[Draft]:
    return _apply(draft, here, keep, moves.JOINING)


def _apply(
    draft: Draft, here: Computer, keep: frozenset[int], names: frozenset[str]
) -> list[Draft]:
    after = draft
    for index, method in enumerate(draft.program.methods):
        if not is_straight(method, here):
            continue
        variable = effects.variable(method)
        candidates = moves.of(method, draft.program, here, names, variable)
        joining = Joining(method, here, keep)
        gone = frozenset(move.index for move in candidates if joining.take(move))
        if gone:
            joined = joining.method()
            after = after.with_method(index, *without(joined, gone))
    return [] if after is draft else [after]


def is_straight(method: Method, here: Computer) -> bool:
    """Whether lifetimes depend only on the order of instructions."""
    known = effects.of(method, here.known)
    jumps = (
        isinstance(instruction, types.JumpFalseCall)
        for instruction in method.instructions
    )
    return not any(effect.handles for effect in known) and not any(jumps)


@dataclass
class Store:
    """A storage, or several that became one."""

    memory_id: int
    size: int  # bytes
    points: Moments
    writers: list[int]  # instructions, ascending; -1 is the entry
    is_state: bool
    is_output: bool  # one of its values is an output
    starts: dict[int, int]  # of values, from `origin` on
    origin: int = 0
    joined: bool = False
    is_delegated: bool = False  # a delegate has one of its values: those stay aligned

    @property
    def room(self) -> int:
        return -(-self.size // ALIGN) * ALIGN

    @property
    def is_input(self) -> bool:
        return self.writers[:1] == [ENTRY]

    def start(self, value: int) -> int:
        return self.starts[value] + self.origin

    def is_written(self, first: int, last: int) -> bool:
        """Whether an instruction from `first` to `last` writes it."""
        at = bisect_left(self.writers, first)
        return at < len(self.writers) and self.writers[at] <= last

    def take_values(self, other: Store, start: int) -> None:
        """Also hold those of another storage, which begins at `start`. The smaller set
        goes into the larger one, so that a long row of joins stays short."""
        origin = other.origin + start
        small, large, to, to_origin = other.starts, self.starts, self.origin, origin
        if len(small) > len(large):
            small, large, to, to_origin = large, small, origin, self.origin
        for value, inside in small.items():
            large[value] = inside + to_origin - to
        self.starts, self.origin = large, to
        few, many = sorted((self.writers, other.writers), key=len)
        for writer in few:
            if not _has(many, writer):
                insort(many, writer)
        self.writers = many


def _has(numbers: list[int], number: int) -> bool:
    """Whether a number is among ascending ones."""
    at = bisect_left(numbers, number)
    return at < len(numbers) and numbers[at] == number


class Joining:
    """The storages of a method without jumps."""

    def __init__(self, method: Method, here: Computer, keep: frozenset[int]) -> None:
        self.source = method
        lives = lifetimes.of(method, here.known, check=False)
        self.effects = lives.effects
        self.stores: dict[int, Store] = {}
        self.of_value: dict[int, int] = {}  # as it was found
        self.joined_to: dict[int, int] = {}  # storage -> the one that took it
        count = len(self.effects) + 2  # moments: with the entry and the exit
        sizes = method.planned_sizes
        self.live = {n: np.zeros(count, np.int64) for n in range(len(sizes))}  # bytes
        self.of_writers = self._writers()
        outputs = frozenset(method.outputs)
        for number, storage in enumerate(lives.storages):
            self.of_value.update(dict.fromkeys(storage.values, number))
            writers = {at for value in storage.values for at in self.of_writers[value]}
            self.stores[number] = Store(
                storage.memory_id,
                storage.size,
                storage.points,
                sorted(writers),
                storage.is_state,
                not outputs.isdisjoint(storage.values),
                dict(storage.values),
            )
            self._count(self.stores[number], 1)
        delegated = {
            value
            for index, instruction in enumerate(method.instructions)
            if isinstance(instruction, types.DelegateCall)
            for value in self.effects[index].touched
        }
        for value in delegated & self.of_value.keys():
            self.stores[self.of_value[value]].is_delegated = True
        self.fixed = {n for n, s in self.stores.items() if s.memory_id in keep}
        self.peak = {memory: int(np.max(live)) for memory, live in self.live.items()}

    def _writers(self) -> Mapping[int, list[int]]:
        """The instructions that write each value."""
        writers: dict[int, list[int]] = defaultdict(list)
        for value in set(self.source.inputs):
            writers[value].append(ENTRY)
        for index in range(len(self.effects)):
            for value in self.written(index):
                writers[value].append(index)
        return writers

    def store_of(self, value: int) -> int | None:
        """The number of the storage that holds a value."""
        number = self.of_value.get(value)
        way: list[int] = []
        while number is not None and number in self.joined_to:
            way.append(number)
            number = self.joined_to[number]
        if number is not None:
            self.joined_to.update(dict.fromkeys(way, number))
        return number

    def written(self, index: int) -> frozenset[int]:
        effect = self.effects[index]
        return effect.writes | effect.updates

    def meet(self, store: Store, this: int, other: int) -> bool:
        """Whether two values of a storage share a byte."""
        a, b = store.start(this), store.start(other)
        return a < b + self._bytes(other) and b < a + self._bytes(this)

    def _bytes(self, value: int) -> int:
        tensor = self.source.values[value]
        assert isinstance(tensor, types.Tensor)
        return tensor.nbytes

    def _count(self, store: Store, sign: int) -> None:
        live = self.live[store.memory_id]
        for first, end in store.points.runs:
            live[first + 1 : end + 1] += sign * store.room

    # ---- one move --------------------------------------------------------------------

    def take(self, move: Move) -> bool:
        """Whether the move's tensors now share a place, so that it may go."""
        outer = self.store_of(move.whole)
        if outer is None or self.refusal(move) is not None:
            return False
        places = self._places(move, outer)
        return places is not None and self.join(move.index, outer, places)

    def refusal(self, move: Move) -> str | None:
        """Why the move's tensors cannot share a place; None if they can."""
        outer = self.store_of(move.whole)
        numbers = {outer, *map(self.store_of, move.parts)}
        if outer is None or None in numbers:
            return "one side is a constant, or memory of the caller"
        if not self.fixed.isdisjoint(numbers):
            return "one side is in memory that methods share"
        places = self._places(move, outer)
        if places is None:
            return "its sides are parts of storages that cannot share a place"
        if not self._is_safe(move, outer, places):
            return "one side changes while the other is read, or belongs to the caller"
        return None

    def _places(self, move: Move, outer: int) -> dict[int, int] | None:
        """Where the other storages start in the outer one; None if they do not fit."""
        whole = self.stores[outer]
        places: dict[int, int] = {}
        for value, offset in move.parts.items():
            number = self.store_of(value)
            assert number is not None
            store = self.stores[number]
            start = whole.start(move.whole) + offset - store.start(value)
            fits = start >= 0 and start + store.size <= whole.size
            alike = number != outer and store.memory_id == whole.memory_id
            if not fits or not alike or places.setdefault(number, start) != start:
                return None
        return places

    def _is_safe(self, move: Move, outer: int, places: Mapping[int, int]) -> bool:
        """Whether each byte holds for all its readers what it held before: the copies
        are made only by the move, and what they are copies of does not change while
        they are read."""
        whole = self.stores[outer]
        parts = [self.stores[number] for number in places]
        new, given = ([whole], parts) if move.joins else (parts, [whole])
        spans = sorted((places[n], places[n] + self.stores[n].size) for n in places)
        apart = all(a[1] <= b[0] for a, b in itertools.pairwise(spans))
        end = max(store.points.last for store in new)
        return (
            all(store.writers == [move.index] and not store.is_state for store in new)
            and not any(store.is_written(move.index, end) for store in given)
            and not (move.joins and any(store.is_state for store in given))
            and (apart or not move.joins)
            and not self._shown([whole, *parts])
        )

    def _shown(self, stores: list[Store]) -> bool:
        """Whether an input would be in the memory of an output."""
        inputs = {n for n, store in enumerate(stores) if store.is_input}
        outputs = {n for n, store in enumerate(stores) if store.is_output}
        return any(a != b for a in inputs for b in outputs)

    def join(self, gone: int | None, outer: int, places: Mapping[int, int]) -> bool:
        """Put storages into another one, unless the peak rises; `gone` is a call that
        then writes nothing."""
        whole = self.stores[outer]
        inner = [self.stores[number] for number in places]
        if any(self.stores[n].is_delegated and places[n] % ALIGN for n in places):
            return False
        points = whole.points.union(*(member.points for member in inner))
        if not self._is_lower(points, whole, inner):
            return False
        for number, start in places.items():
            store = self.stores.pop(number)
            whole.take_values(store, start)
            whole.is_output = whole.is_output or store.is_output
            whole.is_delegated = whole.is_delegated or store.is_delegated
            self.joined_to[number] = outer
        if gone is not None and _has(whole.writers, gone):
            whole.writers.remove(gone)
        whole.points, whole.joined = points, True
        return True

    def _is_lower(self, points: Moments, whole: Store, inner: list[Store]) -> bool:
        """Update the bytes alive; undo that if the peak would rise."""
        joined = replace(whole, points=points)
        for store in (whole, *inner):
            self._count(store, -1)
        self._count(joined, 1)
        live, peak = self.live[whole.memory_id], self.peak[whole.memory_id]
        spans = (live[first + 1 : end + 1] for first, end in points.runs)
        if all(int(np.max(span)) <= peak for span in spans):
            return True
        self._count(joined, -1)
        for store in (whole, *inner):
            self._count(store, 1)
        return False

    # ---- the result ------------------------------------------------------------------

    def method(self) -> Method:
        """The method with joined storages behind all others."""
        sizes = list(self.source.planned_sizes)
        changed: dict[int, types.Value] = {}
        for store in self.stores.values():
            if not store.joined:
                continue
            first = -(-sizes[store.memory_id] // ALIGN) * ALIGN
            for value in store.starts:
                tensor = self.source.values[value]
                assert isinstance(tensor, types.Tensor)
                place = types.Allocation(store.memory_id, first + store.start(value))
                changed[value] = replace(tensor, allocation=place)
            sizes[store.memory_id] = first + store.room
        return replace(with_values(self.source, changed), planned_sizes=tuple(sizes))
