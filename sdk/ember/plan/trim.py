"""A program becomes the same without what nothing uses, equal constants once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ember.files.segments import Data
from ember.program import Chain, Instruction, KernelCall, Method, Null, Program, Tensor


def trimmed(program: Program) -> Program:
    """Value indices stay; unused values become null, unused operators go, and the rest
    rise by name, as those of a firmware do: a device finds each at the first look."""
    used = replace(program, methods=tuple(map(_without_unused, program.methods)))
    places: dict[Data, int] = {}
    moved = {0: 0}
    for index in sorted(used.used_constants()):
        moved[index] = places.setdefault(program.constants[index], len(places) + 1)
    methods = tuple(_with_constants(method, moved) for method in used.methods)
    return replace(used, methods=methods, constants=(b"", *places))


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
