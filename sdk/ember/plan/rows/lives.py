"""A method becomes its calls that can run by rows, and the bytes alive at any call."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence

from ember.kernels import KernelList
from ember.plan import effects, lifetimes
from ember.plan.rows import forms, numbered, reads, sums
from ember.plan.rows.reads import RowCall
from ember.program import Method, types
from ember.program.types import ALIGN


class RowLives:
    """`calls` has None for those that cannot run by rows; `room` is in bytes. Of an
    input that is `fed`, only one row is there at a time."""

    def __init__(
        self, method: Method, known: KernelList, fed: int | None = None
    ) -> None:
        self.method = method
        self.known = known
        self.fed = fed
        self.effects = effects.of(method, known)
        self.stores = lifetimes.of(method, known, check=False).storages
        self.store_of = {
            value: number
            for number, store in enumerate(self.stores)
            for value in store.values
        }
        self.owners: dict[int, int | None] = {}
        self.whole = [self._is_whole(number) for number in range(len(self.stores))]
        self.calls = [self._call(n) for n in range(len(method.instructions))]

    def _call(self, index: int) -> RowCall | None:
        call = forms.of_call(self.method, index)
        if call is None or self.owner(call.out) != call.out:
            return None  # a result that shares its memory with others
        owners: dict[int, int] = {}
        for read in call.reads:
            owner = self.owner(read.value)
            if owner is None:
                return None
            owners[read.value] = owner
        if any(self.is_wanted(each.value, index) for each in call.unread):
            return None
        return reads.resolved(call, owners, is_over=self._is_over(call))

    def _is_over(self, call: RowCall) -> bool:
        """Whether kernels may write a row over one that they read."""
        instruction = self.method.instructions[call.index]
        assert isinstance(instruction, types.KernelCall)
        return self.known.writes_in_place(
            self.method.operators[instruction.op_index].full_name
        )

    def parts(self, call: RowCall) -> tuple[RowCall, ...]:
        """The calls that a region has in place of one."""
        return tuple(
            part
            for each in sums.split(self.method, call)
            for part in numbered.split(self.method, each)
        )

    def owner(self, value: int) -> int | None:
        """The value that is written where `value` lies, as a whole; None where others
        lie there too."""
        if value not in self.owners:
            self.owners[value] = self._found_owner(value)
        return self.owners[value]

    def _found_owner(self, value: int) -> int | None:
        number = self.store_of.get(value)
        if number is None or not self.whole[number]:
            return None
        group = self.stores[number].values.keys()
        given = group & set(self.method.inputs)
        for effect in self.effects:
            given |= (effect.writes | effect.updates) & group
        owner = min(given, default=value)
        same = [self.method.values[n] for n in (owner, value)]
        rows = {reads.rows(t) for t in same if isinstance(t, types.Tensor)}
        alike = len(given) <= 1 and all(map(reads.is_image, same)) and len(rows) == 1
        return owner if alike else None

    def _is_whole(self, number: int) -> bool:
        """Whether all values of a storage fill it."""
        store = self.stores[number]
        tensors = (self.method.values[value] for value in store.values)
        return all(
            isinstance(tensor, types.Tensor) and tensor.nbytes == store.size
            for tensor in tensors
        )

    def is_wanted(self, value: int, last: int) -> bool:
        """Whether it is needed after call `last`."""
        store = self.stores[self.store_of[value]]
        return store.points.last > last or store.is_state

    def may_be_overwritten(self, value: int, last: int) -> bool:
        """Whether nobody needs the storage of an input after call `last`."""
        number = self.store_of[value]
        whole = self.whole[number] and value != self.fed
        return whole and not self.is_wanted(value, last)

    def over_source(self, index: int) -> int | None:
        """The input of a call that its whole result may be written over."""
        call = self.calls[index]
        if call is None:
            return None
        values = (read.value for read in call.reads if call.over or read.is_over)
        return next((v for v in values if self._may_be_over(call, v)), None)

    def _may_be_over(self, call: RowCall, value: int) -> bool:
        edges = {*self.method.inputs, *self.method.outputs}
        numbers = [self.store_of[v] for v in (call.out, value)]
        stores = [self.stores[number] for number in numbers]
        others = [r.value for r in call.reads if r.value != value]
        return (
            self.may_be_overwritten(value, call.index)
            and stores[0].memory_id == stores[1].memory_id
            and numbers[1] not in [self.store_of[other] for other in others]
            and not any(
                store.is_state or edges & store.values.keys() for store in stores
            )
        )

    def room(self, store: int) -> int:
        size = self.stores[store].size
        if self.fed is not None and self.store_of[self.fed] == store:
            tensor = self.method.values[self.fed]
            assert isinstance(tensor, types.Tensor)
            size = reads.row_bytes(tensor)
        return -(-size // ALIGN) * ALIGN

    def planes(self, value: int) -> int:
        """Of an image, each with a part of a row."""
        tensor = self.method.values[value]
        return reads.planes(tensor) if isinstance(tensor, types.Tensor) else 1

    def fed_until(self) -> int:
        """The instruction behind the last one that reads the input that is fed; 0 where
        none is."""
        if self.fed is None:
            return 0
        return self.stores[self.store_of[self.fed]].points.last + 1

    def meets(self, store: int, first: int, end: int) -> bool:
        """Whether a storage is alive at any moment from `first` up to `end`."""
        return any(a < end and first < b for a, b in self.stores[store].points.runs)

    def alive(self, first: int, end: int) -> int:
        """Bytes alive at any moment from `first` up to `end`."""
        return sum(
            self.room(number)
            for number in range(len(self.stores))
            if self.meets(number, first, end)
        )

    def begun(self, first: int, end: int) -> int:
        """Bytes alive at `first`, and at no moment behind it up to `end`."""
        return sum(room for again, room in self._again[first] if again >= end)

    @functools.cached_property
    def _again(self) -> list[list[tuple[int, int]]]:
        """By instruction, of what is alive there: when it is so again, and its room."""
        alive: list[list[tuple[int, int]]] = [[] for _ in self.calls]
        for number, store in enumerate(self.stores):
            moments = [n for a, b in store.points.runs for n in range(max(a, 0), b)]
            for moment, again in itertools.pairwise([*moments, len(alive) + 1]):
                if moment < len(alive):
                    alive[moment].append((again, self.room(number)))
        return alive

    def inner(self, call: RowCall, last: int) -> set[int]:
        """Storages that a call needs no more in a region that ends with call `last`."""
        values = {*call.scratch, *(each.value for each in call.unread)}
        if call.index != last and not self.is_wanted(call.out, last):
            values.add(call.out)
        return {self.store_of[value] for value in values if value in self.store_of}


def most(scratch: Sequence[int], first: int, end: int) -> int:
    """Bytes of scratch of the calls from `first` up to `end`, aligned."""
    return -(-max(scratch[first:end]) // ALIGN) * ALIGN
