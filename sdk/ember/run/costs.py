"""A run's marks and trace become what its marked regions took."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ember.boards import Board
from ember.cycles import estimate
from ember.cycles.estimate import NOT_ESTIMATED, Cycles, Estimator
from ember.toolchain.emulator import RunResult


@dataclass(frozen=True)
class Cost:
    """Of a region; None: nobody counted."""

    instructions: int | None = None  # or packets
    cycles: Cycles = NOT_ESTIMATED


@dataclass(frozen=True)
class Costs:
    """What the marked regions of a run took."""

    result: RunResult
    estimator: Estimator | None  # None: no cycles

    @classmethod
    def of(cls, board: Board, firmware: Path, result: RunResult) -> Costs:
        """With cycles, where the run has a trace."""
        trace = result.trace
        return cls(result, estimate.of_run(board, firmware, trace) if trace else None)

    def region(self, word: int) -> Cost:
        """The first one of `word`."""
        return next(iter(self.regions(word)), Cost())

    def regions(self, word: int) -> list[Cost]:
        marks = enumerate(self.result.marks)
        places = [place for place, mark in marks if mark.word == word]
        pairs = zip(places[0::2], places[1::2], strict=False)
        return [self._between(*pair) for pair in pairs]

    def _between(self, begin: int, end: int) -> Cost:
        marks, trace = self.result.marks, self.result.trace
        cycles = NOT_ESTIMATED
        if self.estimator is not None and trace is not None:
            cycles = self.estimator.of(trace.between(begin, end))
        return Cost(marks[end].count - marks[begin].count, cycles)


def summed(figures: Iterable[Cycles]) -> Cycles:
    row = list(figures)
    return Cycles(
        added(cycles.core for cycles in row), added(cycles.board for cycles in row)
    )


def added(figures: Iterable[int | None]) -> int | None:
    """None when nobody knew one of them."""
    row = list(figures)
    return None if None in row else sum(figure or 0 for figure in row)
