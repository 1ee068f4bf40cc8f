"""layout: a state lies in the order of dimensions in which it is read.

A cache of keys is turned in each run for the product that reads it. If the cache itself
lies that way, its new rows are what is turned, when they are put into it, and the call
that turns the whole is a view. The dim order of a tensor says how it lies; only calls
that take any, permutes and those that amend the state, may touch it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from ember.plan.passes import join
from ember.plan.passes.edit import Draft, with_values
from ember.plan.passes.execute import Computer
from ember.plan.passes.join import Joining, Store, is_straight
from ember.program import Method, types

_PERMUTE = "aten::permute_copy.out"
_TRANSPOSE = "aten::transpose_copy.int_out"
Order = tuple[int, ...]  # dimensions, outermost first


def apply(draft: Draft, here: Computer, keep: frozenset[int]) -> list[Draft]:
    after, done = draft, False
    while not done:
        turned = _turned(after, here, keep)
        viewed = join.views(turned, here, keep) if turned is not after else []
        done = not viewed
        after = viewed[0] if viewed else after
    return [] if after is draft else [after]


def _turned(draft: Draft, here: Computer, keep: frozenset[int]) -> Draft:
    """The draft with states in the order of the first call that turns them."""
    for index, method in enumerate(draft.program.methods):
        if not is_straight(method, here):
            continue
        states = _States(method, here, keep)
        orders = dict(states.orders())
        if orders:
            numbers = range(len(method.instructions))
            draft = draft.with_method(index, _with_orders(method, orders), numbers)
    return draft


def _with_orders(method: Method, orders: Mapping[int, Order]) -> Method:
    changed: dict[int, types.Value] = {}
    for value, order in orders.items():
        tensor = method.values[value]
        assert isinstance(tensor, types.Tensor)
        changed[value] = replace(tensor, dim_order=order)
    return with_values(method, changed)


class _States:
    def __init__(self, method: Method, here: Computer, keep: frozenset[int]) -> None:
        self.method = method
        self.known = here.known
        self.joining = Joining(method, here, keep)

    def orders(self) -> Iterator[tuple[int, Order]]:
        """New dim orders of values."""
        for number, store in self.joining.stores.items():
            if store.is_state and number not in self.joining.fixed:
                yield from (self._of(store) or {}).items()

    def _of(self, store: Store) -> Mapping[int, Order] | None:
        """Those of all values of a state; None if it stays as it is."""
        if store.is_input or store.is_output or not self._is_whole(store):
            return None
        turning = None
        for index, effect in enumerate(self.joining.effects):
            if effect.touched.isdisjoint(store.starts):
                continue
            call = self.method.instructions[index]
            if not isinstance(call, types.KernelCall):
                return None
            name = self.method.operator_names[call.op_index]
            if name in (_PERMUTE, _TRANSPOSE):
                turning = turning or self._wanted(store, name, call)
            elif not self.known.amends_self(name) or call.args[0] not in store.starts:
                return None
        return turning

    def _is_whole(self, store: Store) -> bool:
        """Whether each value has all bytes of the state, which starts as zeros."""
        return all(
            self._tensor(value).nbytes == store.size
            and self._tensor(value).data_index == 0
            and not self._tensor(value).is_dynamic
            for value in store.starts
        )

    def _wanted(
        self, store: Store, name: str, call: types.KernelCall
    ) -> Mapping[int, Order] | None:
        """The orders of all values with which a call turns nothing."""
        source, out = call.args[0], self._tensor(call.args[-1])
        if source not in store.starts:
            return None
        dims = self._dims(name, call, len(out.sizes))
        now = _lying(self._tensor(source))
        wanted = [dims[dim] for dim in _lying(out)]
        places = [now.index(dim) for dim in wanted]
        return self._placed(store, source, places) if wanted != now else None

    def _placed(
        self, store: Store, source: int, places: Sequence[int]
    ) -> Mapping[int, Order] | None:
        """The orders with `places` of the dimensions as they lie now in their places;
        None unless all values are like `source` there."""
        orders: dict[int, Order] = {}
        for value in store.starts:
            tensor = self._tensor(value)
            if _lying_sizes(tensor) != _lying_sizes(self._tensor(source)):
                return None
            now = _lying(tensor)
            orders[value] = _order(tensor.sizes, [now[place] for place in places])
        return orders

    def _dims(self, name: str, call: types.KernelCall, rank: int) -> Order:
        """The dimension of the argument that each one of the result is."""
        if name == _PERMUTE:
            given = self.method.values[call.args[1]]
            assert isinstance(given, types.IntList)
            return tuple(self._int(item) % rank for item in given.items)
        first, second = (self._int(value) % rank for value in call.args[1:3])
        dims = list(range(rank))
        dims[first], dims[second] = second, first
        return tuple(dims)

    def _int(self, value: int) -> int:
        number = self.method.values[value]
        assert isinstance(number, types.Int)
        return number.value

    def _tensor(self, value: int) -> types.Tensor:
        tensor = self.method.values[value]
        assert isinstance(tensor, types.Tensor)
        return tensor


def _lying(tensor: types.Tensor) -> list[int]:
    """Its dimensions of more than one as they lie, outermost first."""
    return [dim for dim in tensor.dim_order if tensor.sizes[dim] != 1]


def _lying_sizes(tensor: types.Tensor) -> list[int]:
    return [tensor.sizes[dim] for dim in _lying(tensor)]


def _order(sizes: Sequence[int], lying: Sequence[int]) -> Order:
    """The dim order in which the dimensions of more than one lie so."""
    if list(lying) == sorted(lying):
        return tuple(range(len(sizes)))
    ones = [dim for dim, size in enumerate(sizes) if size == 1]
    return (*ones, *lying)
