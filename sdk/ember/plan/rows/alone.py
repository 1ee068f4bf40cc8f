"""A storage becomes those of each result that calls wrote over what they read.

A row of such a result lies over the row before it anyway (cascade.py); whole tensors
are put over each other again where they are not in a region.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ember.kernels import KernelList
from ember.plan import effects
from ember.plan.lifetimes import Storage
from ember.program import Method, types


def split(method: Method, store: Storage, known: KernelList) -> Sequence[Storage]:
    """The storage itself, if it has one result, or others than whole ones."""
    written = {
        value for effect in effects.of(method, known) for value in effect.writes
    } & store.values.keys()
    if len(written) < 2 or store.is_state or not _is_whole(method, store):
        return (store,)
    homes = _homes(method, store, known)
    if homes is None:
        return (store,)
    numbers = sorted({*homes.values()})
    return tuple(
        replace(store, values={value: 0 for value in homes if homes[value] == number})
        for number in numbers
    )


def _is_whole(method: Method, store: Storage) -> bool:
    tensors = (method.values[value] for value in store.values)
    return not any(store.values.values()) and all(
        isinstance(tensor, types.Tensor) and tensor.nbytes == store.size
        for tensor in tensors
    )


def _homes(method: Method, store: Storage, known: KernelList) -> dict[int, int] | None:
    """Of each value, the number of the result that it is, or a view of; None where
    values are more than one of them."""
    homes = dict.fromkeys(store.values.keys() & {*method.inputs}, 0)
    now = 0
    for effect in effects.of(method, known):
        if effect.updates & store.values.keys():
            return None
        for value in effect.reads & store.values.keys():
            if homes.setdefault(value, now) != now:
                return None
        results = effect.writes & store.values.keys()
        now += len(results)
        if len(results) > 1 or results & homes.keys():
            return None
        homes.update(dict.fromkeys(results, now))
    for value in store.values.keys() & {*method.outputs}:
        if homes.setdefault(value, now) != now:
            return None
    return homes if homes.keys() == store.values.keys() else None
