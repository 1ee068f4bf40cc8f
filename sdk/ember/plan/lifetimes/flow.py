"""A method becomes its flow: what each instruction touches, and where it goes on."""

from __future__ import annotations

import functools

from ember.kernels import KernelList
from ember.plan import effects
from ember.program import Method, types


class Flow:
    def __init__(self, method: Method, known: KernelList) -> None:
        self.method = method
        self.instructions = method.instructions
        self.effects = list(effects.of(method, known))
        self.count = len(self.effects)
        self.variable = effects.variable(method)
        self.successors = [self._after(index) for index in range(self.count)]
        self.predecessors = _reversed(self.successors)

    def _after(self, index: int) -> tuple[int, ...]:
        """Where instruction `index` may go on; their number is the exit."""
        instruction = self.instructions[index]
        if not isinstance(instruction, types.JumpFalseCall):
            return (index + 1,)
        condition = self.method.values[instruction.condition]
        if (
            isinstance(condition, types.Bool)
            and instruction.condition not in self.variable
        ):
            return (index + 1,) if condition.value else (instruction.target,)
        return tuple({index + 1, instruction.target})

    @functools.cached_property
    def is_straight(self) -> bool:
        """Whether each instruction goes on to the next."""
        following = enumerate(self.successors, start=1)
        return all(after == (index,) for index, after in following)

    def before(self, index: int) -> tuple[int, ...]:
        """The instructions that may lead to instruction `index`; -1 is the entry."""
        return self.predecessors[index] + ((-1,) if index == 0 else ())


def _reversed(successors: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Predecessors of each instruction and of the exit."""
    before: list[list[int]] = [[] for _ in range(len(successors) + 1)]
    for index, after in enumerate(successors):
        for successor in after:
            before[successor].append(index)
    return [tuple(predecessors) for predecessors in before]
