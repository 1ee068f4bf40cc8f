"""in_place, update: a call writes its result over an argument that is not needed again.

in_place: only where each kernel of the operator may (`in_place` in kernels.yaml), and
where the argument is of the result's type, shape and dim order.

update: a state is changed in place, not in a copy that is copied back. A buffer that a
model changes, such as a cache of keys, is exported as two calls: one that computes its
next content elsewhere, and copy_, which brings that back. The first now writes to the
state itself, and copy_ goes. Where the first reads the state, as index_put does, its
kernels must change a copy of `self` (`amends` in kernels.yaml); that copy goes as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ember.files import tensors
from ember.plan import lifetimes
from ember.plan.passes.execute import Computer
from ember.plan.passes.join import ENTRY, Joining, Store, is_straight
from ember.program import Method, types
from ember.program.edit import Draft, with_values, without


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
    """Whether only the call writes the bytes of its result, and reads none of the
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


# ---- update --------------------------------------------------------------------------


_COPY = "aten::copy_"


def update(draft: Draft, here: Computer, keep: frozenset[int]) -> list[Draft]:
    after = draft
    for index, method in enumerate(draft.program.methods):
        if not is_straight(method, here):
            continue
        states = _States(method, here, keep)
        gone = frozenset(
            number
            for number, name, call in method.kernel_calls()
            if name == _COPY and states.take(number, call)
        )
        changed = states.method()
        if gone and states.are_kept_by(changed):
            after = after.with_method(index, *without(changed, gone))
    return [] if after is draft else [after]


class _States:
    """A method whose states are changed in place, one after the other."""

    def __init__(self, method: Method, here: Computer, keep: frozenset[int]) -> None:
        self.source = method
        self.known = here.known
        self.joining = Joining(method, here, keep)
        self.values: dict[int, types.Value] = {}  # changed
        self.calls: dict[int, types.KernelCall] = {}  # changed
        self.groups: dict[int, frozenset[int]] = {}  # state -> values in its place

    def take(self, copy: int, call: types.KernelCall) -> bool:
        """Whether the copy back of instruction `copy` is not needed any more."""
        named = self.known.named(self.source, call)
        state, content = named["self"], named["src"]
        kept, new = self._store(state), self._store(content)
        if kept is None or new is None or kept is new or not kept.is_state:
            return False
        maker = self._maker(new, state)
        fits = (
            are_alike(self.source, state, content)
            and kept.size == new.size
            and self.groups.keys().isdisjoint(kept.starts)
            and maker is not None
            and self._is_free(kept, new, maker, copy)
            and self._may_write(maker, kept, state)
        )
        if fits and maker is not None:
            self._join(maker, state, new)
            self.groups[state] = frozenset({*kept.starts, *new.starts})
        return fits

    def _store(self, value: int) -> Store | None:
        number = self.joining.store_of(value)
        return None if number is None else self.joining.stores[number]

    def _maker(self, new: Store, state: int) -> int | None:
        """The one call that makes the new content, as a value like the state."""
        if len(new.writers) != 1 or new.is_state or new.is_input or new.is_output:
            return None
        (maker,) = new.writers
        call = self.source.instructions[maker]
        if not isinstance(call, types.KernelCall):
            return None
        result = call.result
        single = self.joining.written(maker) == {result}
        return maker if single and are_alike(self.source, state, result) else None

    def _is_free(self, kept: Store, new: Store, maker: int, copy: int) -> bool:
        """Whether the old content of the state is unneeded once it is changed, and the
        state stays as it is while its new content is read elsewhere."""
        between = self.joining.effects[maker + 1 : copy]
        return (
            maker < copy
            and not any(
                not effect.touched.isdisjoint(kept.starts) for effect in between
            )
            and not kept.is_written(copy + 1, new.points.last)
            and not kept.is_output
        )

    def _may_write(self, maker: int, kept: Store, state: int) -> bool:
        """Whether the call may write to the state: it reads nothing of it, or all of it
        as the `self` that its kernels amend."""
        read = self.joining.effects[maker].touched & kept.starts.keys()
        call = self.known.named_at(self.source, maker)
        amended = self.known.amends_self(call.operator)
        once = amended and call.call.args.count(state) == 1
        return not read or (once and read == {state} and call["self"] == state)

    def _join(self, maker: int, state: int, new: Store) -> None:
        """Let the call write to the state, whose bytes the other values then show."""
        call, tensor = self.source.instructions[maker], self.source.values[state]
        assert isinstance(call, types.KernelCall) and isinstance(tensor, types.Tensor)
        assert tensor.allocation is not None
        result = call.result
        for value in new.starts:
            other = self.source.values[value]
            assert isinstance(other, types.Tensor)
            start = tensor.allocation.offset + new.start(value) - new.start(result)
            place = types.Allocation(tensor.allocation.memory_id, start)
            self.values[value] = replace(other, allocation=place)
        args = tuple(state if value == result else value for value in call.args)
        self.calls[maker] = replace(call, args=args)

    def method(self) -> Method:
        (chain,) = self.source.chains
        instructions = tuple(
            self.calls.get(number, instruction)
            for number, instruction in enumerate(chain.instructions)
        )
        changed = replace(chain, instructions=instructions)
        return with_values(replace(self.source, chains=(changed,)), self.values)

    def are_kept_by(self, method: Method) -> bool:
        """Whether the values in the place of each state are one storage."""
        storages = lifetimes.of(method, self.known, check=False).storages
        home = {
            value: number for number, s in enumerate(storages) for value in s.values
        }
        return all(
            len({home.get(value) for value in group} - {None}) == 1
            for group in self.groups.values()
        )
