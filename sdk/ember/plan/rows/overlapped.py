"""A method becomes the one whose outputs of regions lie over rows of their inputs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from ember.kernels import KernelList
from ember.plan import lifetimes
from ember.plan.passes.edit import with_values
from ember.plan.rows import placing, row_regions
from ember.plan.rows.lives import RowLives
from ember.program import Method, types


def pairs(method: Method, stores: Sequence[lifetimes.Storage]) -> placing.Over:
    """Of storages, by their place in `stores`: an input, and an output or a slab that
    may lie over it, with the bytes by which the input starts later. Where an output has
    the very place of an input, both are one storage, which is there before."""
    number = {value: n for n, store in enumerate(stores) for value in store.values}
    return {
        (number[source], number[out]): by
        for region in row_regions.regions(method)
        for (source, out), by in region.over.items()
        if stores[number[source]].points.last == region.rows
        and not stores[number[source]].is_state
        and stores[number[out]].points.runs[0][0] >= region.enter
        and _is_whole(method, stores[number[source]])
        and (out == region.slab or _is_whole(method, stores[number[out]]))
    }


def placed(method: Method, known: KernelList) -> Method:
    """The method with its storages where they need least, outputs over inputs."""
    stores = lifetimes.of(method, known, check=False).storages
    plan = placing.place(stores, pairs(method, stores))
    used = method.used_values()
    gone: Mapping[int, types.Value] = {
        value: types.Null()
        for value, tensor in method.tensors
        if tensor.allocation is not None and value not in used
    }
    there = moved(method, stores, plan.offsets)
    return replace(
        with_values(method, {**gone, **there}),
        planned_sizes=tuple(
            plan.height if size else 0 for size in method.planned_sizes
        ),
    )


def in_place(method: Method, lives: RowLives, calls: Iterable[int]) -> Method:
    """The method with the results of calls where their inputs are."""
    values = list(method.values)
    for index in calls:
        call, source = lives.calls[index], lives.over_source(index)
        assert call is not None and source is not None
        home = values[source]
        assert isinstance(home, types.Tensor)
        for value in lives.stores[lives.store_of[call.out]].values:
            tensor = values[value]
            assert isinstance(tensor, types.Tensor)
            values[value] = replace(tensor, allocation=home.allocation)
    return replace(method, values=tuple(values))


def _is_whole(method: Method, store: lifetimes.Storage) -> bool:
    """Whether all values of a storage fill it."""
    return all(
        isinstance(tensor, types.Tensor) and tensor.nbytes == store.size
        for tensor in (method.values[value] for value in store.values)
    )


def moved(
    method: Method, stores: Sequence[lifetimes.Storage], offsets: Sequence[int]
) -> dict[int, types.Value]:
    values: dict[int, types.Value] = {}
    for store, offset in zip(stores, offsets, strict=True):
        for value, inside in store.values.items():
            tensor = method.values[value]
            assert isinstance(tensor, types.Tensor)
            place = types.Allocation(store.memory_id, offset + inside)
            values[value] = replace(tensor, allocation=place)
    return values
