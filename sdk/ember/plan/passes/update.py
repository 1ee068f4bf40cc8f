"""update: a state is changed where it lies, instead of in a copy that is copied back.

A buffer that a model changes, such as a cache of keys, is exported as two calls: one
that computes its next content elsewhere, and copy_, which brings that back. The first
now writes to the state itself, and copy_ goes. Where the first reads the state, as
index_put does, its kernels must change a copy of `self` (`amends` in kernels.yaml),
which is then no copy.
"""

from __future__ import annotations

from dataclasses import replace

from ember.plan import lifetimes
from ember.plan.passes.edit import Draft, with_values, without
from ember.plan.passes.execute import Computer
from ember.plan.passes.in_place import are_alike
from ember.plan.passes.join import Joining, Store, is_straight
from ember.program import Method, types

_COPY = "aten::copy_"


def apply(draft: Draft, here: Computer, keep: frozenset[int]) -> list[Draft]:
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
    """A method whose states are changed where they lie, one after the other."""

    def __init__(self, method: Method, here: Computer, keep: frozenset[int]) -> None:
        self.source = method
        self.known = here.known
        self.joining = Joining(method, here, keep)
        self.values: dict[int, types.Value] = {}  # changed
        self.calls: dict[int, types.KernelCall] = {}  # changed
        self.groups: dict[int, frozenset[int]] = {}  # state -> what lies in its place

    def take(self, copy: int, call: types.KernelCall) -> bool:
        """Whether the copy back of instruction `copy` is not needed any more."""
        state, content = call.args[:2]
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
        result = call.args[-1]
        alone = self.joining.written(maker) == {result}
        return maker if alone and are_alike(self.source, state, result) else None

    def _is_free(self, kept: Store, new: Store, maker: int, copy: int) -> bool:
        """Whether nobody needs what the state held once it is changed, and nobody
        changes it while its new content is read elsewhere."""
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
        call = self.source.instructions[maker]
        assert isinstance(call, types.KernelCall)
        read = self.joining.effects[maker].touched & kept.starts.keys()
        name = self.source.operator_names[call.op_index]
        amended = self.known.amends_self(name) and call.args.count(state) == 1
        return not read or (amended and read == {state} and call.args[0] == state)

    def _join(self, maker: int, state: int, new: Store) -> None:
        """Let the call write to the state, whose bytes the other values then show."""
        call, tensor = self.source.instructions[maker], self.source.values[state]
        assert isinstance(call, types.KernelCall) and isinstance(tensor, types.Tensor)
        assert tensor.allocation is not None
        result = call.args[-1]
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
        """Whether what lies in the place of each state is known as one storage."""
        storages = lifetimes.of(method, self.known, check=False).storages
        home = {
            value: number for number, s in enumerate(storages) for value in s.values
        }
        return all(
            len({home.get(value) for value in group} - {None}) == 1
            for group in self.groups.values()
        )
