"""A block of a firmware becomes assembly that llvm-mca takes, one text an instruction.

What the tool has no figures for, or refuses for another reason than its cost, stands in
another form here, and docs/measuring.md says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet

from ember.cycles import mnemonics
from ember.cycles.code import Instruction

Row = tuple[str, ...]

_TARGET = re.compile(r"#?-?0x[0-9a-f]+$")
_CALLS = {"bl": "b", "blx": "bx", "blr": "br"}  # the tool takes 100 cycles for a call
# Loops of Armv8.1-M, which LLVM has no figures for. A core keeps the loop's end in
# LO_BRANCH_INFO and branches without executing it again.
_LOOP_STARTS = ("dls", "wls", "dlstp", "wlstp")
_LOOP_ENDS = ("le", "letp", "lctp")
_FLAGS = "APSR_nzcv, fpscr"
_VECTOR = re.compile(r"\bq\d")
_VECTOR_BLOCK = re.compile(r"(vps?t)([te]{0,3})\b")
_PREDICATED = re.compile(r"v(?!ps?t[te]{0,3}$|cvt$|sqrt$)\w+[te]$")
# Instructions whose own name ends like that: the top halves.
_NARROW_OR_WIDE = re.compile(r"(movl|movu?n|shll|shru?n|mull|cvt)t$")


def row_of(
    block: Iterable[Instruction], without: AbstractSet[Instruction] = frozenset()
) -> Row:
    """The assembly of a block, without addresses of the firmware."""
    row = [text for one in block if one not in without for text in texts(one)]
    return tuple(_ended(_begun(row)))


def _begun(row: list[str]) -> list[str]:
    """Vector instructions that a VPT in the block before covers, without it."""
    for place, text in enumerate(row):
        name, _, operands = text.partition(" ")
        stem, dot, types = name.partition(".")
        vector = _PREDICATED.match(stem) and _VECTOR.search(operands)
        if not vector or _NARROW_OR_WIDE.search(stem):
            return row
        row[place] = f"{stem[:-1]}{dot}{types} {operands}"
    return row


def _ended(row: list[str]) -> list[str]:
    """A VPT whose last instructions are in the next block covers those of this one."""
    for place in range(max(0, len(row) - 4), len(row)):
        match = _VECTOR_BLOCK.match(row[place])
        if match is None or place + 1 + len(match[2]) < len(row):
            continue
        covered = len(row) - place - 1
        rest = row[place][match.end() :]
        row[place] = f"{match[1]}{match[2][: covered - 1]}{rest}" if covered else "nop"
    return row


def tail(row: Row, most: int) -> Row:
    """The end of a row, which begins outside of VPT blocks."""
    begin = max(0, len(row) - most)
    for place in range(max(0, begin - 4), begin):
        if _VECTOR_BLOCK.match(row[place]):
            return row[place:]
    return row[begin:]


def texts(instruction: Instruction) -> Sequence[str]:
    """None for what takes no time; several for what moves several registers."""
    name = _unconditional(instruction.mnemonic, instruction.operands)
    operands = instruction.operands
    stem = name.partition(".")[0]
    if stem in _LOOP_ENDS:
        return ()
    if stem in _LOOP_STARTS:
        return (f"mov lr, {operands.split(', ')[1]}",)
    if mnemonics.base(stem) == "it":
        return ("nop",)
    if (stem, operands) == ("vmrs", _FLAGS):
        return ("vmov r12, s0",)
    if mnemonics.kind(instruction) == "multiple":
        return _in_pairs(instruction)
    name = _CALLS.get(stem, name)
    if _takes_label(stem):
        operands = _TARGET.sub("target", operands)
    return (f"{name} {operands}".strip(),)


def _takes_label(stem: str) -> bool:
    labels = stem.startswith(("b", "cb", "tb", "adr"))
    return labels and not stem.startswith(("bic", "bf", "bkpt", "brk"))


def _in_pairs(instruction: Instruction) -> Sequence[str]:
    """Two registers a cycle: the models take one or three for any number."""
    name = mnemonics.base(instruction.mnemonic) or ""
    word = "ldr" if name.startswith(("ldm", "pop")) else "str"
    address = "sp" if name in ("push", "pop") else mnemonics.results(instruction)[0]
    moved = ["r12" if one == "pc" else one for one in mnemonics.listed(instruction)]
    row = [
        f"{word}d {first}, {second}, [{address}]"
        for first, second in zip(moved[0::2], moved[1::2], strict=False)
    ]
    if len(moved) % 2:
        row.append(f"{word} {moved[-1]}, [{address}]")
    return [*row, "bx lr"] if mnemonics.writes_counter(instruction) else row


def _unconditional(name: str, operands: str) -> str:
    """Costs the same, and needs no IT, which may be in another block."""
    head, dot, rest = name.partition(".")
    base = mnemonics.base(head)
    if base in (None, "b", head) or _VECTOR.search(operands):
        return name
    stem = head[:-2]
    return f"{stem}{dot}{rest}" if stem.removesuffix("s") == base else name
