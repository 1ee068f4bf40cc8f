"""The log of the emulator's plugin becomes which blocks ran, and after which.

A block is a row of instructions that ends where the emulator ends its translation: at
a jump, or at the end of a page. tools/plugin/blocks.h has the lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

LINES = ("b", "e")
Edges = Mapping[tuple[int, int], int]  # how often a block ran after another, by index


@dataclass(frozen=True)
class Block:
    address: int
    instructions: int
    size: int  # bytes

    @property
    def end(self) -> int:
        return self.address + self.size


@dataclass(frozen=True)
class Trace:
    blocks: tuple[Block, ...]
    steps: tuple[Edges, ...]  # what ran before each mark, and after the last

    def between(self, first: int, second: int) -> Edges:
        """What ran between two marks, by their places in the row of all marks."""
        return joined(self.steps[first + 1 : second + 1])


def joined(steps: Iterable[Edges]) -> Edges:
    """The sum of several."""
    sums: dict[tuple[int, int], int] = {}
    for step in steps:
        for edge, times in step.items():
            sums[edge] = sums.get(edge, 0) + times
    return sums


def read(log: Path) -> Trace:
    """What the plugin wrote with edges=1."""
    blocks: list[Block] = []
    steps: list[Edges] = []
    step: dict[tuple[int, int], int] = {}
    if not log.is_file():
        return Trace((), ())
    with log.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            words = line.split()
            if words[0] == "e":
                edge = int(words[1]) - 1, int(words[2]) - 1
                step[edge] = step.get(edge, 0) + int(words[3])
            elif words[0] == "b":
                blocks.append(Block(*(int(word, 16) for word in words[2:])))
            elif words[0] == "end" or words[1] in ("w", "r"):
                steps.append(step)
                step = {}
    return Trace(tuple(blocks), tuple(steps))
