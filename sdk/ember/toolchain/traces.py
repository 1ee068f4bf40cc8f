"""The log of the emulator's plugin becomes which blocks ran, and after which.

A block is a row of instructions that ends where the emulator ends its translation: at
a jump, or at the end of a page. tools/plugin/blocks.h has the lines.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

LINES = ("b", "e", "t")
Edge = tuple[int, int]  # a block, and the one that ran before it, by index


@dataclass(frozen=True)
class Block:
    address: int
    instructions: int
    size: int  # bytes

    @property
    def end(self) -> int:
        return self.address + self.size


@dataclass(frozen=True)
class Access:
    """Of a range of addresses; what an instruction moves in a row is one."""

    place: int  # of the range, in the order that was asked
    writes: bool
    size: int  # bytes


@dataclass
class TracedStep:
    """What ran between two marks, and how often."""

    edges: Counter[Edge] = field(default_factory=Counter)
    accesses: Counter[Access] = field(default_factory=Counter)


@dataclass(frozen=True)
class Trace:
    blocks: tuple[Block, ...]
    steps: tuple[TracedStep, ...]  # what ran before each mark, and after the last

    def between(self, first: int, second: int) -> TracedStep:
        """What ran between two marks, by their places in the row of all marks."""
        return joined(self.steps[first + 1 : second + 1])


def joined(steps: Iterable[TracedStep]) -> TracedStep:
    """The sum of several."""
    whole = TracedStep()
    for step in steps:
        whole.edges.update(step.edges)
        whole.accesses.update(step.accesses)
    return whole


def read(log: Path) -> Trace:
    """What the plugin wrote with edges=1."""
    blocks: list[Block] = []
    steps = [TracedStep()]
    if not log.is_file():
        return Trace((), ())
    with log.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            kind, *words = line.split()
            if kind == "e":
                before, after, times = map(int, words)
                steps[-1].edges[before - 1, after - 1] += times
            elif kind == "t":
                access = Access(int(words[0]), words[1] == "w", int(words[2]))
                steps[-1].accesses[access] += int(words[3])
            elif kind == "b":
                blocks.append(Block(*(int(word, 16) for word in words[1:])))
            elif kind != "range":
                steps.append(TracedStep())
    return Trace(tuple(blocks), tuple(steps[:-1]))
