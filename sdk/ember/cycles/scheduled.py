"""Edges between blocks become cycles by LLVM's models of M7, M55, A76 and A510.

A block overlaps with the one before it, so it takes what both take in a row, less what
the first takes alone; a block that follows itself takes what one more round of its loop
does. Where jumps go is taken as known: no misprediction, no refill.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet

from ember.cycles import mca
from ember.cycles.code import Instruction
from ember.cycles.mca import Core, Row

_TAIL = 64  # instructions of the block before that are looked at
_ROUND = 96  # instructions of a loop that are looked at, at least
_TARGET = re.compile(r"#?-?0x[0-9a-f]+$")
_CALLS = {"bl": "b", "blx": "bx", "blr": "br"}  # the tool takes 100 cycles for a call
# Loops of Armv8.1-M, which LLVM has no figures for. A core keeps the loop's end in
# LO_BRANCH_INFO and branches without executing it again.
_LOOP_STARTS = ("dls", "wls", "dlstp", "wlstp")
_LOOP_ENDS = ("le", "letp", "lctp")


def row_of(
    block: Iterable[Instruction], without: AbstractSet[Instruction] = frozenset()
) -> Row:
    """What the assembler of llvm-mca takes, without addresses of the firmware."""
    texts = (_text(one) for one in block if one not in without)
    return tuple(text for text in texts if text)


def _text(instruction: Instruction) -> str:
    name, operands = instruction.mnemonic, instruction.operands
    stem = name.partition(".")[0]
    if stem in _LOOP_ENDS:
        return ""
    if stem in _LOOP_STARTS:
        return f"mov lr, {operands.split(', ')[1]}"
    for call, jump in _CALLS.items():
        if stem == call or (stem[:-2] == call and stem != "bls"):
            name = jump + name.removeprefix(call)
            break
    if _takes_label(stem):
        operands = _TARGET.sub("target", operands)
    return f"{name} {operands}".strip()


def _takes_label(stem: str) -> bool:
    labels = stem.startswith(("b", "cb", "tb", "adr"))
    return labels and not stem.startswith(("bic", "bf", "bkpt", "brk"))


def unknown(core: Core, blocks: Iterable[Sequence[Instruction]]) -> set[Instruction]:
    """The instructions that the model does not have."""
    found: set[Instruction] = set()
    left = list(blocks)
    while True:
        totals = mca.totals(core, (row_of(block, found) for block in left))
        left = [block for block in left if totals[row_of(block, found)] is None]
        if not left:
            return found
        starts = [row_of(b[:end], found) for b in left for end in range(1, len(b) + 1)]
        totals = mca.totals(core, starts)
        found |= {_first_refused(block, found, totals) for block in left}


def _first_refused(
    block: Sequence[Instruction],
    known: AbstractSet[Instruction],
    totals: Mapping[Row, int | None],
) -> Instruction:
    ends = range(1, len(block) + 1)
    refused = (end for end in ends if totals[row_of(block[:end], known)] is None)
    return block[next(refused) - 1]


def costs(
    core: Core, pairs: Iterable[tuple[Row, Row]]
) -> Mapping[tuple[Row, Row], float]:
    """The cycles of the second row behind the first."""
    wanted = {pair: _long_and_short(*pair) for pair in pairs}
    totals = mca.totals(core, (row for both in wanted.values() for row in both))
    found: dict[tuple[Row, Row], float] = {}
    for pair, (long, short) in wanted.items():
        cycles = (totals[long] or 0) - (totals[short] or 0)
        found[pair] = cycles / (_rounds(pair[0]) if pair[0] == pair[1] else 1)
    return found


def _long_and_short(first: Row, second: Row) -> tuple[Row, Row]:
    """Two rows that differ by what is to be known."""
    if first == second:
        return first * (2 * _rounds(first)), first * _rounds(first)
    tail = first[-_TAIL:]
    return tail + second, tail


def _rounds(loop: Row) -> int:
    return max(4, -(-_ROUND // max(1, len(loop))))
