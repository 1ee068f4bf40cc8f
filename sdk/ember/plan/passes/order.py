"""order: the calls in another order, where that lowers the peak.

A beam search over orders that keep every dependence: on bytes, on state, among
delegates and calls of the user's kernels. Effort is bounded, and counted in steps; the
program's own order stays where nothing lower is found.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from ember.kernels import KernelList
from ember.plan import effects, lifetimes
from ember.plan.effects import Effects
from ember.plan.lifetimes import Storage
from ember.plan.passes.execute import Computer
from ember.program import Method, types
from ember.program.edit import Draft, reordered, with_values
from ember.program.types import ALIGN

_STEPS = 60_000  # of the search
_WIDEST = 64  # orders that are followed at once


def apply(draft: Draft, here: Computer, keep: frozenset[int]) -> list[Draft]:
    after = draft
    for index, method in enumerate(draft.program.methods):
        if keep or not _is_straight(method, here.known):
            continue  # what is kept is planned for one order
        order = Orders(method, here.known).best()
        if order is not None:
            moved = reordered(_apart(method, here.known), order)
            after = after.with_method(index, moved, order)
    return [] if after is draft else [after]


def _is_straight(method: Method, known: KernelList) -> bool:
    """Whether calls depend on each other only by tensors."""
    return all(
        isinstance(instruction, types.KernelCall | types.DelegateCall)
        and not effect.handles
        and bool(effect.writes | effect.updates)
        for instruction, effect in zip(
            method.instructions, effects.of(method, known), strict=True
        )
    )


def _apart(method: Method, known: KernelList) -> Method:
    """The method with each storage in a place of its own, so any order is right."""
    sizes = [0] * len(method.planned_sizes)
    changed: dict[int, types.Value] = {}
    for store in lifetimes.of(method, known, check=False).storages:
        for value, start in store.values.items():
            tensor = method.values[value]
            assert isinstance(tensor, types.Tensor)
            place = types.Allocation(store.memory_id, sizes[store.memory_id] + start)
            changed[value] = replace(tensor, allocation=place)
        sizes[store.memory_id] += _room(store)
    return replace(with_values(method, changed), planned_sizes=tuple(sizes))


def _room(store: Storage) -> int:
    return -(-store.size // ALIGN) * ALIGN


@dataclass(frozen=True, slots=True)
class _Order:
    """Calls in a row."""

    last: int
    before: _Order | None

    def calls(self) -> tuple[int, ...]:
        calls: list[int] = []
        now: _Order | None = self
        while now is not None:
            calls.append(now.last)
            now = now.before
        return tuple(reversed(calls))


@dataclass(frozen=True, slots=True)
class _State:
    """An order under way; calls and storages as bits."""

    peak: int
    size: int  # alive now
    order: _Order | None
    done: int
    ready: int
    live: int

    @property
    def rank(self) -> tuple[int, int, int]:
        return self.peak, self.size, self.order.last if self.order else -1


@dataclass(frozen=True)
class _Users:
    """Calls that touch a storage, with the value by which they do."""

    readers: list[tuple[int, int]] = field(default_factory=list)
    writers: list[tuple[int, int]] = field(default_factory=list)


class Orders:
    def __init__(self, method: Method, known: KernelList) -> None:
        self.method = method
        self.known = known
        self.effects = effects.of(method, known)
        self.count = len(self.effects)
        self.stores = list(lifetimes.of(method, known, check=False).storages)
        self.of_value = {
            value: number
            for number, storage in enumerate(self.stores)
            for value in storage.values
        }
        self.rooms = [_room(store) for store in self.stores]
        self.touched = [self._bits(effect) for effect in self.effects]
        self.users = [0] * len(self.stores)
        for index, bits in enumerate(self.touched):
            for number in _ones(bits):
                self.users[number] |= 1 << index
        self.needs = [0] * self.count  # calls that go before each
        self._depend()
        self.followers = [0] * self.count
        for index, needs in enumerate(self.needs):
            for needed in _ones(needs):
                self.followers[needed] |= 1 << index
        self.kept = sum(
            1 << n for n, store in enumerate(self.stores) if self.count in store.points
        )

    def _bits(self, effect: Effects) -> int:
        numbers = {
            self.of_value[value] for value in effect.touched if value in self.of_value
        }
        return sum(1 << number for number in numbers)

    # ---- dependences -----------------------------------------------------------------

    def _depend(self) -> None:
        users: dict[int, _Users] = {}  # by storage
        apart: int | None = None
        for index, effect in enumerate(self.effects):
            written = effect.writes | effect.updates
            for value in sorted(effect.touched):
                here = users.setdefault(self.of_value.get(value, -1 - value), _Users())
                if value in written:
                    self._write(index, value, here)
                else:
                    self._read(index, value, here)
            if not self._is_ours(index):
                if apart is not None:
                    self._after(index, apart)
                apart = index

    def _read(self, index: int, value: int, here: _Users) -> None:
        for other, seen in here.writers:
            if self._meet(value, seen):
                self._after(index, other)
        here.readers.append((index, value))

    def _write(self, index: int, value: int, here: _Users) -> None:
        """What meets what is overwritten also meets the write, and so comes later: it
        is forgotten."""
        for users in (here.readers, here.writers):
            for other, seen in users:
                if self._meet(value, seen):
                    self._after(index, other)
            users[:] = [user for user in users if not self._covers(value, user[1])]
        here.writers.append((index, value))

    def _covers(self, outer: int, inner: int) -> bool:
        if outer == inner or outer not in self.of_value:
            return outer == inner
        values = self.stores[self.of_value[outer]].values
        a, b = values[outer], values[inner]
        return a <= b and b + self._bytes(inner) <= a + self._bytes(outer)

    def _after(self, index: int, other: int) -> None:
        if other != index:
            self.needs[index] |= 1 << other

    def _meet(self, this: int, other: int) -> bool:
        """Whether two values of one storage share a byte."""
        if this == other or this not in self.of_value:
            return True
        values = self.stores[self.of_value[this]].values
        a, b = values[this], values[other]
        return a < b + self._bytes(other) and b < a + self._bytes(this)

    def _bytes(self, value: int) -> int:
        tensor = self.method.values[value]
        assert isinstance(tensor, types.Tensor)
        return tensor.nbytes

    def _is_ours(self, index: int) -> bool:
        """Whether a call does nothing but what its schema says."""
        call = self.method.instructions[index]
        if not isinstance(call, types.KernelCall):
            return False
        name = self.method.operator_names[call.op_index]
        return self.known.operators[name].is_ours

    # ---- search ----------------------------------------------------------------------

    def best(self) -> tuple[int, ...] | None:
        """The order with the lowest peak; None when the program's own is as good."""
        start = self._start()
        now = start
        for index in range(self.count):
            now = self._next(now, index)
        if now.peak <= self._least(start):
            return None
        end = self._search(start, now.peak)
        if end is None or end.order is None or end.peak >= now.peak:
            return None
        return end.order.calls()

    def _start(self) -> _State:
        given = sum(1 << n for n, store in enumerate(self.stores) if -1 in store.points)
        ready = sum(1 << n for n, needs in enumerate(self.needs) if not needs)
        size = self._size(given)
        return _State(size, size, None, 0, ready, given)

    def _least(self, start: _State) -> int:
        """No order has a lower peak than this."""
        always = sum(1 << n for n, store in enumerate(self.stores) if store.is_state)
        kept = self._size(always)
        sizes = (kept + self._size(bits & ~always) for bits in self.touched)
        return max(start.size, *sizes) if self.count else start.size

    def _size(self, bits: int) -> int:
        """Bytes of storages."""
        return sum(self.rooms[number] for number in _ones(bits))

    def _next(self, state: _State, index: int) -> _State:
        done = state.done | 1 << index
        live = state.live
        size = state.size + self._size(self.touched[index] & ~live)
        live |= self.touched[index]
        peak = max(state.peak, size)
        for number in _ones(self.touched[index] & ~self.kept):
            if not self.users[number] & ~done:
                live ^= 1 << number
                size -= self.rooms[number]
        ready = state.ready & ~(1 << index)
        for follower in _ones(self.followers[index]):
            if not self.needs[follower] & ~done:
                ready |= 1 << follower
        return _State(peak, size, _Order(index, state.order), done, ready, live)

    def _search(self, start: _State, limit: int) -> _State | None:
        """The end of the best order of a beam whose peak is below `limit`; it goes on
        as the program does once all steps are taken."""
        beam, steps = [start], 0
        for depth in range(self.count):
            states: dict[int, _State] = {}
            for state in beam:
                most = None if steps < _STEPS else 1
                for index in itertools.islice(_ones(state.ready), most):
                    new = self._next(state, index)
                    steps += 1
                    other = states.get(new.done)
                    if new.peak < limit and (other is None or new.rank < other.rank):
                        states[new.done] = new
            left = (_STEPS - steps) // (self.count - depth)
            per_state = max(1, len(states) // max(1, len(beam)))
            width = max(1, min(_WIDEST, left // per_state))
            beam = sorted(states.values(), key=lambda candidate: candidate.rank)[:width]
        return beam[0] if beam else None


def _ones(bits: int) -> Iterator[int]:
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest
