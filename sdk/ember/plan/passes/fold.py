"""fold: what depends only on constants is computed here, by the kernels of devices.

The calls disappear; their results become constants, and constants that only they read
are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from ember.cases import Run, batch
from ember.cases.inputs import TensorValue
from ember.files.tensors import Data
from ember.kernels import KernelList
from ember.plan import effects, lifetimes
from ember.plan.lifetimes import Storage
from ember.plan.passes.execute import Computer, Executable
from ember.plan.replan import trimmed
from ember.program import Method, Program, types
from ember.program.edit import Draft, with_values, without
from ember.program.types import ALIGN

Results = Mapping[int, bytes]  # what each storage holds, by its number


def exact(draft: Draft, here: Computer, keep: frozenset[int]) -> list[Draft]:
    """Only operators whose results are the same bits everywhere."""
    return _apply(draft, here, keep, inexact=False)


def inexact(draft: Draft, here: Computer, keep: frozenset[int]) -> list[Draft]:
    """Also those whose last bits are Ember's own: exp, sin, softmax.."""
    return _apply(draft, here, keep, inexact=True)


def _apply(
    draft: Draft, here: Computer, keep: frozenset[int], *, inexact: bool
) -> list[Draft]:
    """The draft with everything folded, and the draft with what adds no constants.

    Planned memories with the ids in `keep` stay as they are.
    """
    everything = small = draft
    for index, method in enumerate(draft.program.methods):
        folding = _Folding(method, here.known, keep, inexact=inexact)
        results = folding.results(draft.program, here)
        if results:
            everything = folding.apply(everything, index, results, folding.calls)
            cheap = folding.cheap(draft.program, results)
            small = folding.apply(small, index, results, cheap) if cheap else small
    return [candidate for candidate in (everything, small) if candidate is not draft]


class _Folding:
    """The calls of one method that can be computed here."""

    def __init__(
        self,
        method: Method,
        known: KernelList,
        keep: frozenset[int],
        *,
        inexact: bool,
    ) -> None:
        self.method = method
        self.inexact = inexact
        self.known = known
        self.effects = effects.of(method, known)
        storages = lifetimes.of(method, known, check=False).storages
        self.storages: list[Storage] = list(storages)
        self.of_value = {
            value: number
            for number, storage in enumerate(self.storages)
            for value in storage.values
        }
        self.fixed = self._fixed(keep)
        self.variable = effects.variable(method)
        self.done: set[int] = set()  # storages that are computed here
        self.calls = frozenset(n for n in self._kernel_calls() if self._fold(n))

    def _kernel_calls(self) -> list[int]:
        return [index for index, _, _ in self.method.kernel_calls()]

    def _fixed(self, keep: frozenset[int]) -> frozenset[int]:
        """Storages that only one instruction fills, and only this method uses."""
        writers: dict[int, set[int]] = {}
        for index, effect in enumerate(self.effects):
            moved = {target for target, _ in effect.handles}
            for value in effect.writes | effect.updates | moved:
                if value in self.of_value:
                    writers.setdefault(self.of_value[value], set()).add(index)
        shown = {*self.method.inputs, *self.method.outputs}
        return frozenset(
            number
            for number, storage in enumerate(self.storages)
            if len(writers.get(number, ())) == 1
            and not storage.is_state
            and storage.memory_id not in keep
            and not shown & set(storage.values)
            and not any(self._tensor(value).is_dynamic for value in storage.values)
        )

    def _tensor(self, value: int) -> types.Tensor:
        tensor = self.method.values[value]
        assert isinstance(tensor, types.Tensor)
        return tensor

    # ---- what can be folded ----------------------------------------------------------

    def _fold(self, index: int) -> bool:
        """Whether a call can be; its results are then known to later ones."""
        effect = self.effects[index]
        written = {self.of_value.get(value, -1) for value in effect.writes}
        possible = (
            bool(written)
            and written <= self.fixed
            and not effect.updates
            and not effect.handles
            and self._is_pure(index)
            and all(map(self._is_known, effect.reads))
            and all(self._fills(value) for value in effect.writes)
        )
        if possible:
            self.done |= written
        return possible

    def _is_pure(self, index: int) -> bool:
        """An operator of Ember's that gives the same whenever it is called so."""
        call = self.method.instructions[index]
        assert isinstance(call, types.KernelCall)
        name = self.method.operator_names[call.op_index]
        operator = self.known.operators[name]
        constant = not self._scalars(call) & self.variable
        same = self.inexact or operator.tolerance == "exact"
        return operator.is_ours and constant and same and not operator.is_random

    def _scalars(self, call: types.KernelCall) -> set[int]:
        """Arguments that are no tensors, and what lists of integers hold."""
        scalars: set[int] = set()
        for index in call.args:
            value = self.method.values[index]
            if not isinstance(value, types.Tensor):
                scalars.add(index)
            if isinstance(value, types.IntList):
                scalars.update(value.items)
        return scalars

    def _is_known(self, value: int) -> bool:
        return self._tensor(value).is_constant or self.of_value.get(value) in self.done

    def _fills(self, value: int) -> bool:
        storage = self.storages[self.of_value[value]]
        size = self._tensor(value).nbytes
        return storage.values[value] == 0 and size == storage.size

    # ---- computing -------------------------------------------------------------------

    def results(self, program: Program, here: Computer) -> Results:
        """The results that later instructions read; empty when a call fails."""
        wanted = self._wanted()
        if not wanted:
            return {}
        subject = Executable.of(self._program(program, list(wanted.values())))
        (result,) = here.run([(subject, [Run(self.method.name, (), ())])])
        if result is None or result.status != batch.OK:
            return {}
        values = result.outputs[0].values
        return {
            number: value.data
            for number, value in zip(wanted, values, strict=True)
            if isinstance(value, TensorValue)
        }

    def _wanted(self) -> dict[int, int]:
        """Storages that are folded and needed, with the value that fills them."""
        read: set[int] = set()
        for index, effect in enumerate(self.effects):
            if index not in self.calls:
                sources = {source for _, source in effect.handles}
                read.update(effect.reads | effect.updates | sources)
        needed = {self.of_value[value] for value in read if value in self.of_value}
        return {
            self.of_value[value]: value
            for index in sorted(self.calls)
            for value in sorted(self.effects[index].writes)
            if self.of_value[value] in needed
        }

    def _program(self, program: Program, outputs: Iterable[int]) -> Program:
        """A program of only the folded calls, each storage in a separate place."""
        calls = tuple(self.method.instructions[index] for index in sorted(self.calls))
        places: dict[int, types.Value] = {}
        size = 0
        for number in sorted(self.done):
            for value, start in self.storages[number].values.items():
                allocation = types.Allocation(1, size + start)
                places[value] = replace(self._tensor(value), allocation=allocation)
            size += -(-self.storages[number].size // ALIGN) * ALIGN
        method = replace(
            with_values(self.method, places),
            inputs=(),
            outputs=tuple(outputs),
            chains=(types.Chain(calls),),
            delegates=(),
            planned_sizes=(0, size),
            planned_devices=(),
            containers=None,
        )
        return trimmed(
            replace(program, methods=(method,), mutable_data=(), named_data=())
        )

    # ---- the result ------------------------------------------------------------------

    def apply(
        self, draft: Draft, index: int, results: Results, calls: frozenset[int]
    ) -> Draft:
        """The draft without `calls` of its method `index`."""
        constants = list(draft.program.constants)
        changed: dict[int, types.Value] = {}
        for number in sorted(self._written(calls)):
            changed.update(self._constants(number, results, constants))
        draft = replace(
            draft, program=replace(draft.program, constants=tuple(constants))
        )
        method, kept = without(self.method, calls)
        return draft.with_method(index, with_values(method, changed), kept)

    def _written(self, calls: Iterable[int]) -> set[int]:
        return {
            self.of_value[value]
            for index in calls
            for value in self.effects[index].writes
        }

    def _constants(
        self, number: int, results: Results, constants: list[Data]
    ) -> Iterator[tuple[int, types.Value]]:
        """The values of a storage as constants, or as nothing where nobody reads it."""
        content = results.get(number)
        for value, start in self.storages[number].values.items():
            tensor = self._tensor(value)
            if content is None:
                yield value, types.Null()
                continue
            constants.append(content[start : start + tensor.nbytes])
            index = len(constants) - 1
            yield value, replace(tensor, data_index=index, allocation=None)

    # ---- what costs no flash ---------------------------------------------------------

    def cheap(self, program: Program, results: Results) -> frozenset[int]:
        """Calls whose results take no more room than the constants that go."""
        left = self._left(program)
        cheap: set[int] = set()
        for group in self._groups(program, left):
            new = {
                results[storage]
                for storage in self._written(group)
                if storage in results
            }
            read = {
                program.constants[constant] for constant in self._constants_of(group)
            }
            if sum(map(len, new - left)) <= sum(map(len, read - left)):
                cheap |= group
        return frozenset(cheap)

    def _left(self, program: Program) -> frozenset[Data]:
        """Constants that other calls than the folded ones read."""
        rest = without(self.method, self.calls)[0]
        others = [rest if m.name == rest.name else m for m in program.methods]
        used = replace(program, methods=tuple(others)).used_constants()
        return frozenset(program.constants[constant] for constant in used)

    def _constants_of(self, calls: Iterable[int]) -> set[int]:
        return {
            self._tensor(value).data_index
            for index in calls
            for value in self.effects[index].reads
            if self._tensor(value).is_constant
        }

    def _groups(self, program: Program, left: frozenset[Data]) -> list[set[int]]:
        """The folded calls by what connects them: results, and constants that go."""
        groups: list[tuple[set[int], set[object]]] = []
        for index in sorted(self.calls):
            effect = self.effects[index]
            ties: set[object] = set(self._written([index]))
            ties |= {self.of_value[v] for v in effect.reads if v in self.of_value}
            contents = {
                program.constants[constant] for constant in self._constants_of([index])
            }
            ties |= contents - left
            calls = {index}
            apart = []
            for other, held in groups:
                if held & ties:
                    calls |= other
                    ties |= held
                else:
                    apart.append((other, held))
            groups = [*apart, (calls, ties)]
        return [calls for calls, _ in groups]
