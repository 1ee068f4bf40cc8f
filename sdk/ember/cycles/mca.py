"""Blocks of a firmware become cycles by LLVM's scheduling models (llvm-mca).

A block becomes assembly, one text an instruction; an instruction without figures gets
another form (docs/measuring.md). Many rows go through one call of the tool, and their
cycles are kept in the cache folder. A block overlaps with the one before it, so it
takes what both take in a row, less what the first takes by itself; a block that follows
itself takes what one more round of its loop does. Where jumps go is assumed to be
known: no misprediction, no refill.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path

from ember import paths
from ember.cycles import code
from ember.cycles.code import Instruction
from ember.errors import SdkError
from ember.toolchain import tools

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
# What ends with the t of "top" lanes or of its own name; t or e behind any other name
# is a predicate's.
_TOPS = re.compile(
    r"v((q?r?shru?n|qmovu?n|movn|movl|q?d?mull|shll)t\.|cvtt\.f(16\.f32|32\.f16)$|cvt\.)"
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
    if code.base(stem) == "it" or stem == "vpst":
        return ("nop",)
    if (stem, operands) == ("vmrs", _FLAGS):
        return ("vmov r12, s0",)
    if code.kind(instruction) == "multiple":
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
    name = code.base(instruction.mnemonic) or ""
    word = "ldr" if name.startswith(("ldm", "pop")) else "str"
    address = "sp" if name in ("push", "pop") else code.results(instruction)[0]
    moved = [
        "r12" if register == "pc" else register for register in code.listed(instruction)
    ]
    row = [
        f"{word}d {first}, {second}, [{address}]"
        for first, second in zip(moved[0::2], moved[1::2], strict=False)
    ]
    if len(moved) % 2:
        row.append(f"{word} {moved[-1]}, [{address}]")
    return [*row, "bx lr"] if code.writes_counter(instruction) else row


def _unconditional(name: str, operands: str) -> str:
    """Costs the same, and needs no IT or VPT, which may be in another block."""
    head, dot, rest = name.partition(".")
    block = _VECTOR_BLOCK.match(head)
    if block:
        return "vpst" if block[1] == "ps" else f"vcmp{dot}{rest}"
    if _VECTOR.search(operands):
        always = _TOPS.match(name) or not head.endswith(("t", "e"))
        return name if always else f"{head[:-1]}{dot}{rest}"
    base = code.base(head)
    if base in (None, "b", head):
        return name
    stem = head[:-2]
    return f"{stem}{dot}{rest}" if stem.removesuffix("s") == base else name


# ---- llvm-mca ------------------------------------------------------------------------


TOOL = "llvm-mca-19"
_NOTHING = "no assembly instructions found"  # that it knows, in all rows together
_REGION = re.compile(
    r"^\[\d+\] Code Region - (\w+)\n\n"
    r"Iterations: +1\nInstructions: +(\d+)\nTotal Cycles: +(\d+)\n",
    re.MULTILINE,
)


@dataclass(frozen=True)
class McaCore:
    """What llvm-mca calls a core."""

    triple: str
    cpu: str
    comment: str  # that begins a comment of its assembler
    bus: int  # bytes that it moves in a cycle


M_CORES = {
    name: McaCore("thumbv8.1m.main-none-eabi", name, "@", 8)
    for name in ("cortex-m7", "cortex-m55")
}
CORES = {
    **M_CORES,
    "cortex-a76": McaCore("aarch64-none-elf", "neoverse-n1", "#", 16),
    "cortex-a510": McaCore("aarch64-none-elf", "cortex-a510", "#", 16),
}


def totals(core: McaCore, rows: Iterable[Row]) -> Mapping[Row, int | None]:
    """The cycles from the first instruction's issue to the last one's end; None for a
    row with an instruction that the model does not know.
    """
    wanted = dict.fromkeys(rows)
    place = _place(core)
    kept = _read(place)
    keys = {row: hashlib.sha256("\n".join(row).encode()).hexdigest() for row in wanted}
    missing = [row for row, key in keys.items() if key not in kept]
    if missing:
        fresh = _measure(core, missing)
        kept |= {keys[row]: cycles for row, cycles in fresh.items()}
        _write(place, kept)
    return {row: kept[key] for row, key in keys.items()}


def _place(core: McaCore) -> Path:
    version = tools.version(TOOL)
    return paths.cache() / "cycles" / f"{core.cpu}-{version}.json"


def _read(place: Path) -> dict[str, int | None]:
    try:
        kept: dict[str, int | None] = json.loads(place.read_bytes())
    except (OSError, ValueError):
        return {}
    return kept


def _write(place: Path, kept: Mapping[str, int | None]) -> None:
    paths.writable_folder(place.parent)
    with tempfile.NamedTemporaryFile("w", dir=place.parent, delete=False) as file:
        json.dump(kept, file)
    os.replace(file.name, place)  # noqa: PTH105 - atomic, also over another's


def _measure(core: McaCore, rows: Sequence[Row]) -> dict[Row, int | None]:
    lines: list[str] = []
    for index, row in enumerate(rows):
        lines.append(f"{core.comment} LLVM-MCA-BEGIN row{index}")
        lines += row
        lines.append(f"{core.comment} LLVM-MCA-END row{index}")
    words = [tools.path(TOOL), f"-mtriple={core.triple}", f"-mcpu={core.cpu}"]
    words += ["-iterations=1", "-resource-pressure=false", "-instruction-info=false"]
    words += ["-skip-unsupported-instructions=any"]
    done = subprocess.run(
        words,
        input="\n".join(lines) + "\n",
        check=False,
        capture_output=True,
        text=True,
    )
    if done.returncode != 0 and _NOTHING not in done.stderr:
        raise SdkError(f"{TOOL} failed: {done.stderr.strip()[-300:]}")
    measured: dict[Row, int | None] = dict.fromkeys(rows)
    if () in measured:
        measured[()] = 0
    for name, count, cycles in _REGION.findall(done.stdout):
        row = rows[int(name.removeprefix("row"))]
        if int(count) == len(row):
            measured[row] = int(cycles)
    return measured


# ---- blocks --------------------------------------------------------------------------


_TAIL = 64  # instructions of the block before that are looked at
_ROUND = 96  # instructions of a loop that are looked at, at least


def unknown(core: McaCore, blocks: Iterable[Sequence[Instruction]]) -> set[Instruction]:
    """The instructions that the model does not have."""
    rows = {row_of(block): block for block in blocks}
    taken = totals(core, rows)
    refused = [block for row, block in rows.items() if taken[row] is None]
    suspects = {
        instruction: _alone(instruction) for block in refused for instruction in block
    }
    taken = totals(core, (row for ways in suspects.values() for row in ways))
    lacking = {
        instruction
        for instruction, ways in suspects.items()
        if all(taken[row] is None for row in ways)
    }
    again = {row_of(block, lacking): block for block in refused}
    taken = totals(core, again)
    whole = [block for row, block in again.items() if taken[row] is None]
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
    taken = totals(core, (row for both in wanted.values() for row in both))
    costs: dict[tuple[Row, Row], float] = {}
    for pair, (long, short) in wanted.items():
        cycles = (taken[long] or 0) - (taken[short] or 0)
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
