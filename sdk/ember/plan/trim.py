"""A program becomes the same without what nothing uses, what is equal once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ember.files.segments import Data
from ember.plan import effects
from ember.program import Chain, Instruction, KernelCall, Method, Null, Program, Tensor
from ember.program.types import (
    Bool,
    BoolList,
    Double,
    DoubleList,
    Int,
    IntList,
    String,
    Value,
)

_PLAIN = Null | Int | Bool | Double | String | DoubleList | BoolList


def trimmed(program: Program) -> Program:
    """Value indices stay; calls share equal scalars and lists, unused values become
    null, unused operators go, and the rest rise by name, as those of a firmware do: a
    device finds each at the first look."""
    shared = map(_with_shared, program.methods)
    used = replace(program, methods=tuple(map(_without_unused, shared)))
    places: dict[Data, int] = {}
    moved = {0: 0}
    for index in sorted(used.used_constants()):
        moved[index] = places.setdefault(program.constants[index], len(places) + 1)
    methods = tuple(_with_constants(method, moved) for method in used.methods)
    return replace(used, methods=methods, constants=(b"", *places))


def _with_shared(method: Method) -> Method:
    """The first of equal values that cannot change stands for all of them in calls."""
    fixed = method.used_values() - effects.variable(method)
    first: dict[Value, int] = {}
    same: dict[int, int] = {}
    values = list(method.values)
    for index in sorted(fixed):
        if isinstance(value := values[index], _PLAIN):
            same[index] = first.setdefault(value, index)
    for index in sorted(fixed):
        if isinstance(value := values[index], IntList):
            items = tuple(same.get(item, item) for item in value.items)
            values[index] = IntList(items)
            same[index] = first.setdefault(values[index], index)
    return replace(
        method,
        values=tuple(values),
        chains=tuple(_with_arguments(chain, same) for chain in method.chains),
    )


def _with_arguments(chain: Chain, same: Mapping[int, int]) -> Chain:
    def moved(instruction: Instruction) -> Instruction:
        if isinstance(instruction, KernelCall):
            args = tuple(same.get(arg, arg) for arg in instruction.args)
            return replace(instruction, args=args)
        return instruction

    return replace(chain, instructions=tuple(map(moved, chain.instructions)))


def _without_unused(method: Method) -> Method:
    used = method.used_values()
    called = sorted(
        {call.op_index for _, _, call in method.kernel_calls()},
        key=lambda index: method.operators[index].full_name.encode(),
    )
    numbers = {old: new for new, old in enumerate(called)}
    return replace(
        method,
        values=tuple(
            value if index in used else Null()
            for index, value in enumerate(method.values)
        ),
        chains=tuple(_with_operators(chain, numbers) for chain in method.chains),
        operators=tuple(method.operators[old] for old in called),
    )


def _with_operators(chain: Chain, numbers: Mapping[int, int]) -> Chain:
    def moved(instruction: Instruction) -> Instruction:
        if isinstance(instruction, KernelCall):
            return replace(instruction, op_index=numbers[instruction.op_index])
        return instruction

    return replace(chain, instructions=tuple(map(moved, chain.instructions)))


def _with_constants(method: Method, moved: Mapping[int, int]) -> Method:
    return replace(
        method,
        values=tuple(
            replace(value, data_index=moved[value.data_index])
            if isinstance(value, Tensor) and value.is_constant
            else value
            for value in method.values
        ),
    )
