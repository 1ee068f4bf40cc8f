"""A model while its methods are placed: what they access, and what may move.

It starts as the packed model with its selection, and ends as the model in whose methods
everything has moved.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from ember import program
from ember.boards import Board, Role
from ember.plan import check as plan_check
from ember.plan import effects, regions, traffic
from ember.plan.improved import Chosen, Improved
from ember.plan.replan import Places, Replanned, relocate, trimmed
from ember.plan.traffic import Traffic
from ember.program import Method, types
from ember.program.remembered import remembered
from ember.program.types import ALIGN, VIEWS
from ember.select import selection
from ember.select.rules import Rules
from ember.select.selection import Examined, Selection

Region = tuple[int, str]  # the number of its model, and its name
Block = tuple[Region, Role, str, int, Traffic]  # region, role, class, bytes, accesses


# Kernels read their states in their loops: so many accesses of tensors for one.
_ARENA_PART = 8


class RefusedError(Exception):
    """Kernels do not take some constants as copies: (number of the model, data)."""

    def __init__(self, constants: frozenset[tuple[int, int]]) -> None:
        super().__init__(constants)
        self.constants = constants


class Use:
    """A model while its methods are placed."""

    def __init__(
        self, model: Improved, chosen: Selection, number: int, rules: Rules
    ) -> None:
        self.model = model
        self.packed = model.program
        self.chosen = chosen
        self.number = number
        self.known = rules.known
        self.scratch = Traffic()
        self.copied: dict[str, dict[int, int]] = {}  # constants, by method and value
        self.traffic: dict[str, dict[int, Traffic]] = {}
        for method, needs in zip(chosen.methods, chosen.needs, strict=True):
            sizes = {call.instruction: call.scratch for call in needs.calls}
            kernels = {c.instruction: c.kernel for c in needs.calls if c.kernel}
            self.traffic[method.name] = traffic.of(method, self.known, kernels, sizes)
            scratch_of = effects.scratch_of(method)
            for index, kernel in kernels.items():
                size = sizes[index]
                used = traffic.of_scratch(method, self.known, kernel, index, size)
                of = self.traffic[method.name].get(
                    scratch_of.get(index, -1), self.scratch
                )
                of.add(used)

    def _method(self, name: str) -> Method:
        """As it was packed."""
        method = self.packed.method(name)
        assert method is not None
        return method

    def total(self, name: str) -> int:
        """Accesses of all tensors in one run."""
        return sum(accesses.count for accesses in self.traffic[name].values())

    def prefix(self, name: str) -> str:
        names = [method.name for method in self.chosen.methods]
        return regions.prefixes(self.chosen.methods)[names.index(name)]

    def replanned(self, name: str) -> Replanned:
        return self.model.replanned[name]

    def home_of(self, name: str, number: int) -> Region:
        """Of a planned memory of a method, by its id."""
        return self.number, f"{self.prefix(name)}_planned_{number}"

    def blocks(self, caller_io: bool) -> Iterable[Block]:
        """What is one piece: arenas, what the program leaves to the caller, and
        memories that stay as they are."""
        for method, needs in zip(self.chosen.methods, self.chosen.needs, strict=True):
            home = (self.number, f"{self.prefix(method.name)}_arena")
            size = max(needs.arena + _growth(method), ALIGN)
            reads = Traffic({4: self.total(method.name) // _ARENA_PART})
            yield home, "method", "arena", size, reads
            yield from self._lent(
                method, "input", regions.unbound_inputs(method, caller_io)
            )
            outputs = regions.unbound_outputs(method, caller_io)
            yield from self._lent(method, "output", outputs)
            yield from self._kept(method)
        shared = regions.shared_memories(self.model, self.chosen.methods)
        for number, size in shared.items():
            home = (self.number, f"shared_planned_{number}")
            yield home, "planned", "activations", size, traffic.words(size)

    def _kept(self, method: Method) -> Iterable[Block]:
        """Memories that only one method uses and that were not packed."""
        shared = regions.shared_memories(self.model, self.chosen.methods)
        for number, size in enumerate(method.planned_sizes):
            packed = self.replanned(method.name).packed
            if number > 0 and number not in packed and number not in shared:
                home = self.home_of(method.name, number)
                yield home, "planned", "activations", size, traffic.words(size)

    def _lent(
        self, method: Method, kind: str, values: Sequence[int | None]
    ) -> Iterable[Block]:
        for number, index in enumerate(values):
            if index is None:
                continue
            value = method.values[index]
            assert isinstance(value, program.Tensor)
            home = (self.number, f"{self.prefix(method.name)}_{kind}_{number}")
            used = self.traffic[method.name].get(index, Traffic())
            yield home, "io", f"{kind}s", max(value.nbytes, 1), used

    def constants(self, name: str) -> dict[int, Traffic]:
        """By data, the constants that only kernels of the method touch; none in a
        prepared method, which copies none."""
        if self.chosen.prepared:
            return {}
        of_constants: dict[int, Traffic] = {}
        taken: set[int] = set()
        for method in self.model.program.methods:
            read = _read_by_kernels(method) if method.name == name else frozenset()
            for value in method.used_values():
                tensor = method.values[value]
                if not isinstance(tensor, types.Tensor) or not tensor.is_constant:
                    continue
                accesses = self.traffic.get(name, {}).get(value)
                if (
                    value in read
                    and accesses
                    and not accesses.fixed
                    and tensor.nbytes > 0
                ):
                    of_constants.setdefault(tensor.data_index, Traffic()).add(accesses)
                else:
                    taken.add(tensor.data_index)
        return {
            index: accesses_
            for index, accesses_ in of_constants.items()
            if index not in taken
        }

    def move(self, name: str, places: Places) -> None:
        """Move a method to new places."""
        changed = relocate(self.model.program, name, places)
        method = changed.method(name)
        assert method is not None
        replanned = replace(
            self.model.replanned[name],
            method=method,
            packed=tuple(sorted({placed.memory_id for placed in places.placed})),
            placed=places.placed,
            copied=places.copied,
        )
        self.copied[name] = {
            value: tensor.data_index
            for value, tensor in self._method(name).tensors
            if tensor.is_constant and tensor.data_index in places.copies
        }
        self.model = replace(
            self.model,
            program=changed,
            replanned={**self.model.replanned, name: replanned},
        )

    def pair(self, board: Board, rules: Rules) -> Chosen:
        """The model with its new bytes, and a selection of its new methods."""
        trimmed_program = self._checked()
        content = program.content(trimmed_program)
        replanned = {
            method.name: replace(self.model.replanned[method.name], method=method)
            for method in trimmed_program.methods
        }
        model = replace(
            self.model, content=content, program=trimmed_program, replanned=replanned
        )
        methods = [model.method(method.name) for method in self.chosen.methods]
        if not any(self.copied.values()):
            return Chosen(model, replace(self.chosen, methods=tuple(methods)))
        examined = selection.examine(
            *(model.program, model.content, model.data, board, methods, model.name),
            rules,
        )
        refused = frozenset(self._refused(examined))
        if refused:
            raise RefusedError(refused)
        if examined.selection is None:
            raise selection.missing(examined.gaps)
        return Chosen(model, examined.selection)

    def _checked(self) -> program.Program:
        """The model's program with its new places, whose file is read back and checked;
        of equal ones, which the rounds of a build often make, once."""
        smaller = trimmed(self.model.program)

        def checked() -> program.Program:
            plan_check.check(self.packed, program.read_back(smaller), self.known)
            return smaller

        return remembered(self.packed, ("placed", smaller, self.known), checked)

    def _refused(self, examined: Examined) -> Iterator[tuple[int, int]]:
        """Constants whose kernel no longer takes the call once they move."""
        lost = {(gap.method, gap.instruction) for gap in examined.gaps}
        if examined.selection is not None:
            for method, old, new in zip(
                self.chosen.methods,
                self.chosen.needs,
                examined.selection.needs,
                strict=True,
            ):
                lost |= {
                    (method.name, before.instruction)
                    for before, after in zip(old.calls, new.calls, strict=True)
                    if before.kernel != after.kernel
                }
        for name, instruction in lost:
            touched = effects.of(self._method(name), self.known)[instruction].touched
            for value in touched:
                data = self.copied.get(name, {}).get(value)
                if data is not None:
                    yield self.number, data


def _read_by_kernels(method: Method) -> frozenset[int]:
    """Values that are arguments of kernels, and of nothing else."""
    read: set[int] = set()
    other = {*method.inputs, *method.outputs}
    for call in method.instructions:
        match call:
            case types.KernelCall(op_index=op, args=args):
                name = method.operator_names[op]
                target = other if name in VIEWS else read
                target.update(args)
            case types.DelegateCall(args=args):
                other.update(args)
            case types.MoveCall(source, target_value):
                other.update((source, target_value))
            case _:
                pass
    lists = types.TensorList | types.OptionalTensorList
    for value in tuple(other):
        held = method.values[value]
        if isinstance(held, lists):
            other.update(held.items)
    for value in tuple(read):
        held = method.values[value]
        if isinstance(held, lists):
            read.update(held.items)
    return frozenset(read - other)


def _growth(method: Method) -> int:
    """Bytes that a method arena grows by when the method has initial states: a bit for
    each value, the work before each instruction."""
    bits, work = 4 * -(-len(method.values) // 32), 8 * len(method.instructions)
    return bits + work + ALIGN
