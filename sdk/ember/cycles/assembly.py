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
_VECTOR_BLOCK = re.compile(r"v(ps?)t[te]{0,3}$")
# What ends with the t of "top" lanes; t or e behind any other name is a predicate's.
_TOPS = re.compile(
    r"v((q?r?shru?n|qmovu?n|movn|movl|q?d?mull|shll)t\.|cvtt\.f(16\.f32|32\.f16)$)"
)


def row_of(
    block: Iterable[Instruction], without: AbstractSet[Instruction] = frozenset()
) -> Row:
    """The assembly of a block, without addresses of the firmware."""
    return tuple(
        text
        for instruction in block
        if instruction not in without
        for text in texts(instruction)
    )


def texts(instruction: Instruction) -> Sequence[str]:
    """None for what takes no time; several for what moves several registers."""
    name = _unconditional(instruction.mnemonic, instruction.operands)
    operands = instruction.operands
    stem = name.partition(".")[0]
    if stem in _LOOP_ENDS:
        return ()
    if stem in _LOOP_STARTS:
        return (f"mov lr, {operands.split(', ')[1]}",)
    if mnemonics.base(stem) == "it" or stem == "vpst":
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
    moved = [
        "r12" if register == "pc" else register
        for register in mnemonics.listed(instruction)
    ]
    row = [
        f"{word}d {first}, {second}, [{address}]"
        for first, second in zip(moved[0::2], moved[1::2], strict=False)
    ]
    if len(moved) % 2:
        row.append(f"{word} {moved[-1]}, [{address}]")
    return [*row, "bx lr"] if mnemonics.writes_counter(instruction) else row


def _unconditional(name: str, operands: str) -> str:
    """Costs the same, and needs no IT or VPT, which may be in another block."""
    head, dot, rest = name.partition(".")
    block = _VECTOR_BLOCK.match(head)
    if block:
        return "vpst" if block[1] == "ps" else f"vcmp{dot}{rest}"
    if _VECTOR.search(operands):
        always = _TOPS.match(name) or not head.endswith(("t", "e"))
        return name if always else f"{head[:-1]}{dot}{rest}"
    base = mnemonics.base(head)
    if base in (None, "b", head):
        return name
    stem = head[:-2]
    return f"{stem}{dot}{rest}" if stem.removesuffix("s") == base else name
