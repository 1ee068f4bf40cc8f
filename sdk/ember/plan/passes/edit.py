"""A method and decisions about its instructions become another method.

Value indices never change: inputs, outputs and lists keep their meaning.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ember.program import Method, Program, types


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
