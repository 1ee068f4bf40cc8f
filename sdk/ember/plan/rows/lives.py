"""A method becomes its calls that can run by rows, and the bytes alive at any call.

Some calls are split, or cut, for that:

- A pool of large windows becomes two calls: one adds rows up, one makes means of sums.
  Memory then holds the sums of the rows so far, not the windows. A row of sums is that
  of all rows of its window up to this one; it is written over the one before
  (kernels/cortex_m/avg_pool_rows_s8.h).
- A call that must know which row it makes becomes two: one counts, one is told the
  number. That is a row of four bytes, from 1; each is written over the one before
  (kernels/rows/row_number.c).
- An element-wise call in a region by itself gets parts of rows, so that its windows are
  short: quantising a float32 image of 224 columns takes 840 bytes instead of 3,360.
"""

from __future__ import annotations

import functools
import itertools
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from ember.files.tensors import DType
from ember.kernels import KernelList
from ember.plan import effects, lifetimes
from ember.plan.rows import forms, reads
from ember.plan.rows.reads import RowCall, RowRead
from ember.plan.rows.row_regions import BILINEAR, MEANS, NUMBER, SUMS
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
        edges = {*method.inputs, *method.outputs}
        self.is_edge = [not edges.isdisjoint(store.values) for store in self.stores]
        self.given = self._given()
        self.whole = [self._is_whole(number) for number in range(len(self.stores))]
        self._parts: dict[int, tuple[RowCall, ...]] = {}
        self.calls = [self._call(n) for n in range(len(method.instructions))]

    def _call(self, index: int) -> RowCall | None:
        call = forms.of_call(self.method, self.known, index)
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

    def parts(self, index: int) -> tuple[RowCall, ...]:
        """The calls that a region has in place of one; none of one that cannot run by
        rows."""
        if index not in self._parts:
            call = self.calls[index]
            self._parts[index] = tuple(
                part
                for each in (summed(self.method, call, self.known) if call else ())
                for part in counted(self.method, each, self.known)
            )
        return self._parts[index]

    def _given(self) -> list[frozenset[int]]:
        """By storage, its values that calls write, or that are inputs."""
        given = set(self.method.inputs)
        given.update(*(effect.writes | effect.updates for effect in self.effects))
        return [frozenset(given & store.values.keys()) for store in self.stores]

    def owner(self, value: int) -> int | None:
        """The value that is written at the place of `value`, as a whole; None where
        others are there too."""
        number = self.store_of.get(value)
        if number is None or not self.whole[number]:
            return None
        given = self.given[number]
        if len(given) > 1:
            return None
        owner = min(given, default=value)
        same = [self.method.values[n] for n in (owner, value)]
        rows = {reads.rows(t) for t in same if isinstance(t, types.Tensor)}
        alike = all(map(reads.is_image, same)) and len(rows) == 1
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
        """Whether the storage of an input is unneeded after call `last`."""
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
        numbers = [self.store_of[v] for v in (call.out, value)]
        stores = [self.stores[number] for number in numbers]
        others = [r.value for r in call.reads if r.value != value]
        return (
            self.may_be_overwritten(value, call.index)
            and stores[0].memory_id == stores[1].memory_id
            and numbers[1] not in [self.store_of[other] for other in others]
            and not any(store.is_state for store in stores)
            and not any(self.is_edge[number] for number in numbers)
        )

    def room(self, store: int) -> int:
        size = self.stores[store].size
        if self.fed is not None and self.store_of[self.fed] == store:
            tensor = self.method.values[self.fed]
            assert isinstance(tensor, types.Tensor)
            size = reads.row_bytes(tensor)
        return -(-size // ALIGN) * ALIGN

    def planes(self, value: int) -> int:
        """How many planes an image has, each with a part of a row."""
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
        return self.stores[store].points.meets(first, end)

    def alive(self, first: int, end: int) -> int:
        """Bytes alive at any moment from `first` up to `end`."""
        gone = (self.begun(moment, end) for moment in range(first, end - 1))
        return self._alive[end - 1] + sum(gone)

    def begun(self, first: int, end: int) -> int:
        """Bytes alive at `first`, and at no moment behind it up to `end`."""
        return sum(room for again, room in self._ends[first + 1] if again >= end)

    @functools.cached_property
    def _alive(self) -> list[int]:
        """Bytes alive, by instruction."""
        changes = [0] * (len(self.calls) + 2)
        for number, store in enumerate(self.stores):
            for first, end in store.points.runs:
                changes[max(first, 0)] += self.room(number)
                changes[end] -= self.room(number)
        return list(itertools.accumulate(changes))

    @functools.cached_property
    def _ends(self) -> defaultdict[int, list[tuple[int, int]]]:
        """By instruction, for each storage that is alive before it and not at it: when
        it is alive again, and its room."""
        ends: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
        never = len(self.calls) + 1, 0
        for number, store in enumerate(self.stores):
            for (_, end), (again, _) in itertools.pairwise((*store.points.runs, never)):
                ends[end].append((again, self.room(number)))
        return ends

    def inner(self, call: RowCall, last: int) -> set[int]:
        """Storages that a call needs no longer in a region that ends with `last`."""
        values = {*call.scratch, *(each.value for each in call.unread)}
        if call.index != last and not self.is_wanted(call.out, last):
            values.add(call.out)
        return {self.store_of[value] for value in values if value in self.store_of}


def most(scratch: Sequence[int], first: int, end: int) -> int:
    """Bytes of scratch of the calls from `first` up to `end`, aligned."""
    return -(-max(scratch[first:end]) // ALIGN) * ALIGN


# ---- pools of large windows ----------------------------------------------------------


_POOL = "cortex_m::quantized_avg_pool2d"
_LESS = 2  # so many times the bytes, at least
_COLUMNS = 8  # of rows, at least: what narrower ones save takes many short calls


def summed(method: Method, call: RowCall, known: KernelList) -> tuple[RowCall, ...]:
    """The two calls of such a pool; any other call as it is."""
    (read, *_) = call.reads
    step = read.stride if reads.rows(call.tensor) > 1 else read.extent
    wide = read.tensor.sizes[-1] >= _COLUMNS
    if not (_is_pool(method, call) and wide and step >= read.extent):
        return (call,)
    sums = _sums(call, step, read.extent)
    row = reads.row_bytes(read.tensor)
    if _LESS * (row + reads.row_bytes(sums)) > read.extent * row:
        return (call,)
    out = len(method.values) + call.index  # no value of the method
    single = replace(read, extent=1, stride=1)
    plain = known.named_at(method, call.index).without("ceil_mode")  # for both calls
    call = replace(call, arguments=plain.args)
    adding = replace(
        call, out=out, reads=(single,), tensor=sums, operator=SUMS, renewed=step
    )
    last = RowRead(read.arg, out, 1, step, 1 - read.extent, owner=out, tensor=sums)
    return adding, replace(call, reads=(last,), operator=MEANS)


def _is_pool(method: Method, call: RowCall) -> bool:
    instruction = method.instructions[call.index]
    assert isinstance(instruction, types.KernelCall)
    return method.operators[instruction.op_index].name == _POOL


def _sums(call: RowCall, step: int, extent: int) -> types.Tensor:
    """One row for each row of the image that is added, also between windows."""
    n, c, height, width = call.tensor.sizes
    rows = (height - 1) * step + extent
    return types.Tensor(DType.FLOAT32, (n, c, rows, width), call.tensor.dim_order)


# ---- calls that must know their row --------------------------------------------------


_ORDER = (0, 1, 2, 3)


def counted(method: Method, call: RowCall, known: KernelList) -> tuple[RowCall, ...]:
    """The two calls of one that must know its row; any other call as it is."""
    if call.operator != BILINEAR:
        return (call,)
    (image,) = call.reads
    count = reads.rows(image.tensor)
    number = len(method.values) + call.index  # no value of the method
    numbers = types.Tensor(DType.INT32, (1, 1, count, 1), _ORDER)
    counting = RowCall(
        call.index,
        number,
        (),
        tensor=numbers,
        operator=NUMBER,
        arguments=(number, number),
        renewed=count,
        result=number,
    )
    told = RowRead(1, number, owner=number, tensor=numbers)
    same = known.named_at(method, call.index)
    arguments: dict[str, int | types.Value] = {
        **same.arguments,
        "rows": image.value,
        "number": number,
        "image_rows": types.Int(count),
    }
    given = known.operators[BILINEAR.full_name].ordered(arguments, same.result)
    return counting, replace(call, reads=(image, told), arguments=given)


# ---- parts of rows -------------------------------------------------------------------


_MOST = 1000  # bytes of windows that are not cut


def in_pieces(call: RowCall) -> RowCall | None:
    """The call with parts of rows; None where rows are short, and where a row has other
    columns than its input."""
    columns = call.tensor.sizes[-1]
    tensors = [call.tensor, *(read.tensor for read in call.reads)]
    row = sum(map(reads.row_bytes, tensors))
    if not call.is_elementwise or row <= _MOST:
        return None
    counts = (
        n for n in range(2, columns + 1) if columns % n == 0 and row // n <= _MOST
    )
    count = next(counts, None)
    if count is None:
        return None
    cut = [replace(read, tensor=_cut(read.tensor, count)) for read in call.reads]
    return replace(call, tensor=_cut(call.tensor, count), reads=tuple(cut))


def _cut(image: types.Tensor, count: int) -> types.Tensor:
    n, c, h, w = image.sizes
    return replace(image, sizes=(n, c, h * count, w // count))
