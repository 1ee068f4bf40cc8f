"""The same cases with Hexagon's vectors and without: right, and in how many packets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pytest
from committed import check

from ember import boards
from ember.boards import Board
from ember.cases import Found
from ember.run import testing
from ember.run.testing import Outcome
from ember.toolchain import emulator

Outcomes = Mapping[str, Outcome]


def outcomes(cases: Sequence[Found], board: Board) -> Outcomes:
    """By name; all have passed."""
    if not emulator.available(board):
        pytest.skip(f"{board.runner.binary} is not installed")
    results = testing.test(cases, [board], jobs=1)
    check(results)
    return {each.name: each for each in results}


def with_and_without(cases: Sequence[Found]) -> tuple[Outcomes, Outcomes]:
    """On hexagon-v68, and by portable C there."""
    board = boards.load("hexagon-v68")
    if emulator.available(board) and emulator.unit(board) is None:
        pytest.skip(emulator.counts_nothing(board))
    return outcomes(cases, board), outcomes(cases, board.model_copy(update={"isa": ()}))


def packets(outcome: Outcome) -> int:
    return outcome.instructions or 0


def slower(
    vectors: Outcomes, portable: Outcomes, most: Callable[[str, int], float]
) -> list[str]:
    """A line for each case that takes more packets than `most` says of its name and
    of what portable C takes."""
    counts = {
        name: (packets(each), packets(portable[name])) for name, each in vectors.items()
    }
    return [
        f"{name}: {after} packets, {before} without"
        for name, (after, before) in counts.items()
        if after > most(name, before)
    ]
