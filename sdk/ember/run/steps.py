"""What a traced run counted becomes its steps, in the order of execution."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from ember.run.costs import Cost
from ember.run.inside import InsideRun


@dataclass(frozen=True)
class Step:
    """One execution of an instruction, and of the nodes inside of a delegate."""

    index: int  # of the instruction
    cost: Cost
    inside: tuple[Cost, ...] = ()


@dataclass(frozen=True)
class Traced:
    """What the instructions took that were executed, and nodes inside of delegates."""

    steps: list[int]
    costs: list[Cost]
    within: list[Cost]  # of nodes inside of delegates, as they ran
    inside: dict[int, tuple[InsideRun, ...]]

    def in_order(self) -> Iterator[Step]:
        waiting = iter(self.within)
        for index, cost in zip(self.steps, self.costs, strict=False):
            nodes = len(self.inside.get(index, ()))
            yield Step(index, cost, tuple(itertools.islice(waiting, nodes)))
