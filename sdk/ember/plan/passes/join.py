"""view, concat: a copy that only moves bytes disappears, its two sides in one place.

view: what a slice, a reshape or a copy gives lies inside what it takes. concat: what a
concatenation takes lies inside what it gives. A tensor may then start at any element of
another one's memory; the program stays an ordinary one.

Two storages become one when that never raises the peak, and when nobody changes bytes
that the other side still reads.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from ember.plan import effects, lifetimes
from ember.plan.passes import moves
from ember.plan.passes.edit import Draft, with_values, without
from ember.plan.passes.execute import Computer
from ember.plan.passes.moves import Move
from ember.program import Method, types
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
        found = moves.of(method, draft.program, here, names, variable)
        joining = Joining(method, here, keep)
        gone = frozenset(one.index for one in found if joining.take(one))
        if gone:
            joined = joining.method()
            after = after.with_method(index, *without(joined, gone))
    return [] if after is draft else [after]


def is_straight(method: Method, here: Computer) -> bool:
    """Whether what is alive when is a matter of the order alone."""
    known = effects.of(method, here.known)
    jumps = (isinstance(one, types.JumpFalseCall) for one in method.instructions)
    return not any(own.handles for own in known) and not any(jumps)


@dataclass(frozen=True)
class Store:
    """A storage, or several that became one."""

    values: Mapping[int, int]  # value -> where it starts
    memory_id: int
    size: int  # bytes
    points: frozenset[int]
    writers: frozenset[int]  # instructions; -1 is the entry
    is_state: bool
    joined: bool = False

    @property
    def room(self) -> int:
        return -(-self.size // ALIGN) * ALIGN


class Joining:
    """The storages of a method without jumps."""

    def __init__(self, method: Method, here: Computer, keep: frozenset[int]) -> None:
        self.source = method
        self.effects = effects.of(method, here.known)
        self.stores: dict[int, Store] = {}
        self.of_value: dict[int, int] = {}
        self.live: dict[tuple[int, int], int] = {}  # memory, point -> bytes
        for number, one in enumerate(
            lifetimes.of(method, here.known, check=False).storages
        ):
            for value in one.values:
                self.of_value[value] = number
            store = Store(
                one.values, one.memory_id, one.size, one.points, frozenset(), False
            )
            self._count(store, 1)
            writers = self._writers(one.values)
            self.stores[number] = replace(store, writers=writers, is_state=one.is_state)
        delegated = {
            value
            for index, one in enumerate(method.instructions)
            if isinstance(one, types.DelegateCall)
            for value in self.effects[index].touched
        }
        self.fixed = {self.of_value.get(value) for value in delegated}
        self.fixed |= {n for n, s in self.stores.items() if s.memory_id in keep}
        self.peak = self._peaks()

    def _writers(self, values: Iterable[int]) -> frozenset[int]:
        group = set(values)
        found = {
            index for index in range(len(self.effects)) if group & self.written(index)
        }
        given = group & set(self.source.inputs)
        return frozenset(found | ({ENTRY} if given else set()))

    def written(self, index: int) -> frozenset[int]:
        own = self.effects[index]
        return own.writes | own.updates

    def meet(self, store: Store, one: int, other: int) -> bool:
        """Whether two values of a storage share a byte."""
        a, b = store.values[one], store.values[other]
        return a < b + self._bytes(other) and b < a + self._bytes(one)

    def _bytes(self, value: int) -> int:
        tensor = self.source.values[value]
        assert isinstance(tensor, types.Tensor)
        return tensor.nbytes

    def _count(self, store: Store, sign: int) -> None:
        for point in store.points:
            place = store.memory_id, point
            self.live[place] = self.live.get(place, 0) + sign * store.room

    def _peaks(self) -> dict[int, int]:
        found: dict[int, int] = {}
        for (memory, _), size in self.live.items():
            found[memory] = max(found.get(memory, 0), size)
        return found

    # ---- one move --------------------------------------------------------------------

    def take(self, move: Move) -> bool:
        """Whether the move's tensors now lie in each other, so that it may go."""
        numbers = {self.of_value.get(value) for value in (move.whole, *move.parts)}
        if None in numbers or numbers & self.fixed:
            return False
        outer = self.of_value[move.whole]
        places = self._places(move, outer)
        if places is None or not self._is_safe(move, outer, places):
            return False
        return self.join(frozenset({move.index}), outer, places)

    def _places(self, move: Move, outer: int) -> dict[int, int] | None:
        """Where the other storages start in the outer one; None if they do not fit."""
        whole = self.stores[outer]
        places: dict[int, int] = {}
        for value, offset in move.parts.items():
            number = self.of_value[value]
            store = self.stores[number]
            start = whole.values[move.whole] + offset - store.values[value]
            fits = start >= 0 and start + store.size <= whole.size
            alike = number != outer and store.memory_id == whole.memory_id
            if not fits or not alike or places.setdefault(number, start) != start:
                return None
        return places

    def _is_safe(self, move: Move, outer: int, places: Mapping[int, int]) -> bool:
        """Whether each byte holds for all its readers what it held before: the copies
        are made by the move alone, and what they are copies of does not change while
        they are read."""
        whole = self.stores[outer]
        parts = [self.stores[number] for number in places]
        made, given = ([whole], parts) if move.joins else (parts, [whole])
        spans = sorted((places[n], places[n] + self.stores[n].size) for n in places)
        apart = all(a[1] <= b[0] for a, b in itertools.pairwise(spans))
        end = max(max(one.points) for one in made)
        changed = {at for one in given for at in one.writers}
        return (
            all(one.writers == {move.index} and not one.is_state for one in made)
            and all(at < move.index or at > end for at in changed)
            and not (move.joins and any(one.is_state for one in given))
            and (apart or not move.joins)
            and not self._shown([whole, *parts])
        )

    def _shown(self, stores: list[Store]) -> bool:
        """Whether an input would lie in the memory of an output."""
        inputs = {n for n, one in enumerate(stores) if ENTRY in one.writers}
        shown = set(self.source.outputs)
        outputs = {n for n, one in enumerate(stores) if shown & set(one.values)}
        return any(a != b for a in inputs for b in outputs)

    def join(self, gone: frozenset[int], outer: int, places: Mapping[int, int]) -> bool:
        """Put storages into another one, unless the peak rises; `gone` are calls that
        then write nothing."""
        whole = self.stores[outer]
        inner = [self.stores[number] for number in places]
        values = dict(whole.values)
        for number, start in places.items():
            for value, inside in self.stores[number].values.items():
                values[value] = start + inside
        joined = replace(
            whole,
            values=values,
            points=whole.points.union(*(one.points for one in inner)),
            writers=whole.writers.union(*(one.writers for one in inner)) - gone,
            joined=True,
        )
        if not self._is_lower(joined, [whole, *inner]):
            return False
        for number in places:
            del self.stores[number]
        self.stores[outer] = joined
        self.of_value.update(dict.fromkeys(values, outer))
        return True

    def _is_lower(self, joined: Store, before: list[Store]) -> bool:
        """Count what changes; back, if the peak would rise."""
        for one in before:
            self._count(one, -1)
        self._count(joined, 1)
        memory = joined.memory_id
        if all(self.live[memory, p] <= self.peak[memory] for p in joined.points):
            return True
        self._count(joined, -1)
        for one in before:
            self._count(one, 1)
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
            for value, start in store.values.items():
                tensor = self.source.values[value]
                assert isinstance(tensor, types.Tensor)
                place = types.Allocation(store.memory_id, first + start)
                changed[value] = replace(tensor, allocation=place)
            sizes[store.memory_id] = first + store.room
        return replace(with_values(self.source, changed), planned_sizes=tuple(sizes))
