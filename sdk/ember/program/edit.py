"""A program becomes another: instructions reordered or left out, values added.

Value indices never change: inputs, outputs and lists keep their meaning.

Buffers that a program leaves to its caller become state in planned memory. Such a
buffer has a name and no memory (the exporter: `alloc_mutable_buffers=False`), and the
application lends it: in ExecuTorch through `get_attribute()`, here by
`ember_method_set_attribute()`. Firmware that leaves this to the SDK gets memory for it
from the plan: one memory for all, in which each name has one place, so methods share
it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ember.files.tensors import DType
from ember.program import types
from ember.program.types import ALIGN, VIEWS, Method, Program


@dataclass(frozen=True)
class Draft:
    """A program under way, and where its instructions came from."""

    program: Program
    origins: Mapping[str, tuple[int, ...]]  # by method: old index of each instruction

    def with_method(self, index: int, method: Method, order: Sequence[int]) -> Draft:
        """Method `index` replaced; instruction k of the new one was `order[k]`."""
        methods = list(self.program.methods)
        before = self.origins[methods[index].name]
        methods[index] = method
        origins = {**self.origins, method.name: tuple(before[place] for place in order)}
        return Draft(replace(self.program, methods=tuple(methods)), origins)


def draft(program: Program) -> Draft:
    numbers = {
        method.name: tuple(range(len(method.instructions)))
        for method in program.methods
    }
    return Draft(program, numbers)


def with_frames(drafted: Draft, start: Draft) -> Draft:
    """The draft whose instructions have the frames of those that they stem from in
    `start`, which a file may not hold."""

    def told(method: Method) -> Method:
        before = start.program.method(method.name)
        if before is None or len(method.chains) != 1 or len(before.chains) != 1:
            return method
        trace = before.chains[0].stacktrace
        if trace is None:
            return method
        place = {n: at for at, n in enumerate(start.origins[method.name])}
        frames = tuple(trace[place[n]] for n in drafted.origins[method.name])
        return replace(method, chains=(replace(method.chains[0], stacktrace=frames),))

    methods = tuple(map(told, drafted.program.methods))
    return replace(drafted, program=replace(drafted.program, methods=methods))


def reordered(method: Method, order: Sequence[int]) -> Method:
    """The instructions `order` of a method with one chain, in that order.

    A jump to an instruction that is left out goes to the next one that is kept; what
    jumps lead to must not change places.
    """
    (chain,) = method.chains
    kept = sorted(order)
    place = {
        old: bisect_left(kept, old)
        for old in {
            instruction.target
            for instruction in chain.instructions
            if isinstance(instruction, types.JumpFalseCall)
        }
    }

    def moved(instruction: types.Instruction) -> types.Instruction:
        if isinstance(instruction, types.JumpFalseCall):
            return replace(instruction, target=place[instruction.target])
        return instruction

    instructions = (moved(chain.instructions[old]) for old in order)
    return replace(method, chains=(chain.rewritten(instructions, order),))


def without(method: Method, gone: frozenset[int]) -> tuple[Method, tuple[int, ...]]:
    """The method without those instructions, and the indices of the others."""
    kept = tuple(n for n in range(len(method.instructions)) if n not in gone)
    return reordered(method, kept), kept


def with_values(method: Method, changed: Mapping[int, types.Value]) -> Method:
    values = enumerate(method.values)
    return replace(method, values=tuple(changed.get(n, value) for n, value in values))


_DTYPES = {DType.INT8: np.int8, DType.INT32: np.int32, DType.FLOAT32: np.float32}

# Of a call: a value of the method, a new one, elements of a constant, or integers.
Argument = int | types.Value | np.ndarray | tuple[int, ...]


# ---- new values, constants and operators ---------------------------------------------


@dataclass
class Additions:
    """To a method of a program with these constants."""

    method: Method
    constants: Sequence[bytes | memoryview]
    added: list[bytes] = field(default_factory=list)  # constants
    values: list[types.Value] = field(default_factory=list)
    operators: tuple[types.Operator, ...] = ()

    def __post_init__(self) -> None:
        self.operators = self.method.operators

    def value(self, index: int) -> types.Value:
        before = len(self.method.values)
        return (
            self.values[index - before]
            if index >= before
            else self.method.values[index]
        )

    def add(self, value: types.Value) -> int:
        self.values.append(value)
        return len(self.method.values) + len(self.values) - 1

    def given(self, argument: Argument) -> int:
        """The value that an argument is, or becomes."""
        if isinstance(argument, int):
            return argument
        if isinstance(argument, np.ndarray):
            return self.add_constant(argument)
        if isinstance(argument, tuple):
            return self.add_ints(argument)
        return self.add(argument)

    def add_ints(self, numbers: Sequence[int]) -> int:
        items = tuple(self.add(types.Int(number)) for number in numbers)
        return self.add(types.IntList(items))

    def add_constant(self, array: np.ndarray, like: types.Tensor | None = None) -> int:
        """A tensor of int8, int32 or float32, or one of `array` as it is in memory that
        is like another."""
        self.added.append(array.tobytes())
        number = len(self.constants) + len(self.added) - 1
        if like is not None:
            return self.add(replace(like, data_index=number))
        dtype = next(d for d, kind in _DTYPES.items() if array.dtype == kind)
        order = tuple(range(array.ndim))
        return self.add(types.Tensor(dtype, array.shape, order, data_index=number))

    def add_operator(self, operator: types.Operator) -> int:
        if operator not in self.operators:
            self.operators = (*self.operators, operator)
        return self.operators.index(operator)

    def integer(self, index: int) -> int | None:
        value = self.value(index)
        return value.value if isinstance(value, types.Int) else None

    def integers(self, index: int) -> tuple[int, ...] | None:
        value = self.value(index)
        return self.method.int_list(value) if isinstance(value, types.IntList) else None

    def constant(self, index: int, dtype: DType) -> np.ndarray | None:
        """The elements of a constant of the program; None where it is none, or in
        another order of dimensions."""
        tensor = self.value(index)
        if not isinstance(tensor, types.Tensor):
            return None
        plain = tensor.dim_order == tuple(range(len(tensor.sizes)))
        elements = self.elements(index, dtype) if plain else None
        return None if elements is None else elements.reshape(tensor.sizes)

    def elements(self, index: int, dtype: DType) -> np.ndarray | None:
        """Those of a constant as they are in memory."""
        tensor = self.value(index)
        if not isinstance(tensor, types.Tensor) or tensor.dtype != dtype:
            return None
        if tensor.data_index == 0 or tensor.allocation is not None:
            return None
        if tensor.is_external or tensor.is_dynamic:
            return None
        data = [*self.constants, *self.added][tensor.data_index]
        return np.frombuffer(data, _DTYPES[dtype], tensor.numel)


# ---- buffers of the caller -----------------------------------------------------------


def adopted(program: Program) -> Program:
    """The program whose named buffers have planned memory; itself without such."""
    sizes: dict[str, int] = {}
    for method in program.methods:
        for _, tensor in _lent(method):
            name = tensor.name or ""
            sizes[name] = max(sizes.get(name, 0), tensor.nbytes)
    return _planned(program, sizes) if sizes else program


def _planned(program: Program, sizes: Mapping[str, int]) -> Program:
    """The program with a memory for buffers, bytes by name."""
    # Not the first: what methods share is in another.
    memory = max(2, *(len(method.planned_sizes) for method in program.methods))
    places: dict[str, types.Allocation] = {}
    end = 0
    for name, size in sizes.items():
        places[name] = types.Allocation(memory, end)
        end += -(-size // ALIGN) * ALIGN
    methods = (_with_memory(method, places, memory, end) for method in program.methods)
    return replace(program, methods=tuple(methods))


def _lent(method: Method) -> Iterator[tuple[int, types.Tensor]]:
    """Values with a name and no memory, which no view points elsewhere."""
    passed = {*method.inputs, *method.outputs}
    viewed = {call.result for _, name, call in method.kernel_calls() if name in VIEWS}
    for index, tensor in method.tensors:
        if tensor.role == "unbound" and tensor.name and index not in passed | viewed:
            yield index, tensor


def _with_memory(
    method: Method, places: Mapping[str, types.Allocation], memory: int, size: int
) -> Method:
    allocations = {index: places[tensor.name or ""] for index, tensor in _lent(method)}
    if not allocations:
        return method
    values = tuple(
        replace(value, allocation=allocations[index])
        if index in allocations and isinstance(value, types.Tensor)
        else value
        for index, value in enumerate(method.values)
    )
    none = (0,) * (memory - len(method.planned_sizes))
    sizes = (*method.planned_sizes, *none, size)
    return replace(method, values=values, planned_sizes=sizes)
