"""in_place: a call writes its result over an argument that nobody needs afterwards.

Only where each kernel of the operator may (`in_place` in kernels.yaml), and where the
argument is of the result's type, shape and dim order.
"""

from __future__ import annotations

from collections.abc import Iterator

from ember.files import tensors
from ember.plan.passes.edit import Draft
from ember.plan.passes.execute import Computer
from ember.plan.passes.join import ENTRY, Joining, is_straight
from ember.program import Method, types


def apply(draft: Draft, here: Computer, keep: frozenset[int]) -> list[Draft]:
    after = draft
    for index, method in enumerate(draft.program.methods):
        if not is_straight(method, here):
            continue
        joining = Joining(method, here, keep)
        calls = [
            number
            for number, name, _ in method.kernel_calls()
            if here.known.writes_in_place(name)
        ]
        shared = sum(_share(joining, number) for number in calls)
        if shared:
            order = range(len(method.instructions))
            after = after.with_method(index, joining.method(), order)
    return [] if after is draft else [after]


def _share(joining: Joining, index: int) -> bool:
    """Whether the call now writes over one of its arguments."""
    return any(
        joining.join(None, outer, {inner: start})
        for outer, inner, start in _choices(joining, index)
    )


def _choices(joining: Joining, index: int) -> Iterator[tuple[int, int, int]]:
    """Storages of the result and of an argument, and where the latter would start."""
    effect = joining.effects[index]
    written = [value for value in effect.writes if not _is_empty(joining, value)]
    if len(written) != 1 or effect.updates:
        return
    (out,) = written
    outer = joining.store_of(out)
    for value in sorted(effect.reads):
        inner = joining.store_of(value)
        if outer is None or inner is None or {outer, inner} & joining.fixed:
            continue
        if outer == inner or not are_alike(joining.source, out, value):
            continue
        start = joining.stores[outer].start(out)
        if _is_last(joining, index, inner, value) and _is_own(joining, index, out):
            yield outer, inner, start


def _is_empty(joining: Joining, value: int) -> bool:
    tensor = joining.source.values[value]
    return isinstance(tensor, types.Tensor) and 0 in tensor.sizes


def are_alike(method: Method, this: int, other: int) -> bool:
    a, b = method.values[this], method.values[other]
    return (
        isinstance(a, types.Tensor)
        and isinstance(b, types.Tensor)
        and not a.is_dynamic
        and not b.is_dynamic
        and (a.dtype, a.sizes) == (b.dtype, b.sizes)
        and tensors.same_order(a.sizes, a.dim_order, b.dim_order)
    )


def _is_last(joining: Joining, index: int, inner: int, value: int) -> bool:
    """Whether nobody needs the argument's storage after the call, of which the call
    reads nothing but the argument."""
    store = joining.stores[inner]
    tensor = joining.source.values[value]
    assert isinstance(tensor, types.Tensor)
    others = {v for v in joining.effects[index].reads if v in store.starts} - {value}
    return (
        store.points.last == index
        and store.size == tensor.nbytes
        and not store.is_state
        and not store.is_input
        and not others
    )


def _is_own(joining: Joining, index: int, out: int) -> bool:
    """Whether the call alone writes the bytes of its result, and reads none of the
    storage that they are part of."""
    number = joining.store_of(out)
    assert number is not None
    store = joining.stores[number]
    group = store.starts.keys()
    return (
        not store.is_state
        and not any(value in group for value in joining.effects[index].reads)
        and all(
            other == out or not joining.meet(store, other, out)
            for number in store.writers
            if number not in (index, ENTRY)
            for other in joining.written(number)
            if other in group
        )
        and not any(
            joining.meet(store, value, out)
            for value in (joining.source.inputs if store.is_input else ())
            if value in group
        )
    )
