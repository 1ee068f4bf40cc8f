"""Edges between blocks become cycles by LLVM's models of M7, M55, A76 and A510.

A block overlaps with the one before it, so it takes what both take in a row, less what
the first takes alone; a block that follows itself takes what one more round of its loop
does. Where jumps go is taken as known: no misprediction, no refill.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ember.cycles import mca
from ember.cycles.assembly import Row, row_of, texts
from ember.cycles.code import Instruction
from ember.cycles.mca import McaCore

_TAIL = 64  # instructions of the block before that are looked at
_ROUND = 96  # instructions of a loop that are looked at, at least


def unknown(core: McaCore, blocks: Iterable[Sequence[Instruction]]) -> set[Instruction]:
    """The instructions that the model does not have."""
    rows = {row_of(block): block for block in blocks}
    totals = mca.totals(core, rows)
    refused = [block for row, block in rows.items() if totals[row] is None]
    suspects = {
        instruction: _alone(instruction) for block in refused for instruction in block
    }
    totals = mca.totals(core, (row for ways in suspects.values() for row in ways))
    lacking = {
        instruction
        for instruction, ways in suspects.items()
        if all(totals[row] is None for row in ways)
    }
    again = {row_of(block, lacking): block for block in refused}
    totals = mca.totals(core, again)
    whole = [block for row, block in again.items() if totals[row] is None]
    return lacking.union(*whole)


def _alone(instruction: Instruction) -> list[Row]:
    """The ways in which an instruction may stand by itself."""
    row = tuple(texts(instruction))
    return [row, ("vpst", *row)]


def costs(
    core: McaCore, pairs: Iterable[tuple[Row, Row]]
) -> Mapping[tuple[Row, Row], float]:
    """The cycles of the second row behind the first."""
    wanted = {pair: _long_and_short(*pair) for pair in pairs}
    totals = mca.totals(core, (row for both in wanted.values() for row in both))
    costs: dict[tuple[Row, Row], float] = {}
    for pair, (long, short) in wanted.items():
        cycles = (totals[long] or 0) - (totals[short] or 0)
        costs[pair] = cycles / (_rounds(pair[0]) if pair[0] == pair[1] else 1)
    return costs


def _long_and_short(first: Row, second: Row) -> tuple[Row, Row]:
    """Two rows that differ by what is to be known."""
    if first == second:
        return first * (2 * _rounds(first)), first * _rounds(first)
    before = first[-_TAIL:]
    return before + second, before


def _rounds(loop: Row) -> int:
    return max(4, -(-_ROUND // max(1, len(loop))))
