"""What instructions of Hexagon set, and where they go on, as LLVM reads them."""

from __future__ import annotations

import random
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from ember.firmware.stack import hexagon
from ember.firmware.stack.bound import CallGraph, UnknownBoundError
from ember.firmware.stack.code import Members
from ember.firmware.stack.step import ControlFlow, Decoded

CLANG = ["clang-19", "--target=hexagon-unknown-none-elf", "-mcpu=hexagonv68"]
DISASSEMBLE = [
    *("llvm-objdump-19", "-d", "--no-show-raw-insn", "--mcpu=hexagonv68"),
    "--mattr=+hvxv68,+hvx-length128b",
]
LAST = 0b11 << 14  # word of a packet
EACH = 24  # random instructions of each 2048 kinds
FP, SP, LR = 30, 29, 31
FLOWS = {
    ControlFlow.JUMP: "jump",
    ControlFlow.CALL: "call",
    ControlFlow.POINTER_CALL: "callr",
    ControlFlow.POINTER_JUMP: "jumpr",
    ControlFlow.RETURN: "return",
}
pytestmark = pytest.mark.skipif(
    not (shutil.which(CLANG[0]) and shutil.which(DISASSEMBLE[0])),
    reason="no clang for Hexagon",
)


def assembled(folder: Path, source: str) -> Path:
    (folder / "source.s").write_text(source)
    object_file = folder / "source.o"
    subprocess.run([*CLANG, "-c", folder / "source.s", "-o", object_file], check=True)
    return object_file


def disassembled(folder: Path, words: Sequence[int]) -> Iterator[tuple[int, str]]:
    """Words that are packets, and what they say."""
    lines = [f".word {word:#x}\n" for word in words]
    object_file = assembled(folder, ".text\n" + "".join(lines))
    words_of: list[str | Path] = [*DISASSEMBLE, object_file]
    told = subprocess.run(words_of, check=True, capture_output=True, text=True)
    for line in told.stdout.splitlines():
        parts = re.match(r"\s*([0-9a-f]+):\s(.*)", line)
        if parts and "unknown" not in parts[2]:
            yield words[int(parts[1], 16) // 4], parts[2]


def instructions(text: str) -> Iterator[tuple[str, bool]]:
    """Each, and whether it has a condition."""
    for part in re.split(r"[;\n\t]", re.sub("[{}]", " ", text)):
        bare = re.sub(r"^if \((?:[^()]|\([^)]*\))*\)\s*", "", part.strip())
        yield bare, bare != part.strip()


def registers(text: str, word: int) -> set[int]:
    """That an instruction sets; a return restores what nobody looks at afterwards."""
    names: set[int] = set()
    for instruction, _ in instructions(text):
        if "dealloc_return" in instruction:
            continue
        if "deallocframe" in instruction:
            names |= {SP} if ":raw" in instruction else {SP, FP, LR}
        elif "allocframe" in instruction:
            names |= {FP, word >> 16 & 31 if ":raw" in instruction else SP}
        left = re.split(r"[-+&|^]?=", instruction)[0] if "=" in instruction else ""
        for target in left.split(",") if "(" not in left else []:
            if parts := re.fullmatch(r"\s*r(\d+)(?::(\d+))?(\.[hl])?\s*", target):
                names |= {int(each) for each in parts.groups()[:2] if each}
        moved = re.findall(r"\(\s*r(\d+)\s*(?:\+\+|=)", instruction)
        names |= {int(each) for each in moved}
    return names


def ways(text: str) -> list[tuple[str, bool]]:
    ends: list[tuple[str, bool]] = []
    for instruction, sometimes in instructions(text):
        first = re.match(r"(jumpr|jump|callr|call|.*dealloc_return)\b", instruction)
        if first:
            kind = first[1]
            returns = kind.endswith("_return") or instruction.endswith("r31")
            ends.append(("return" if returns else kind, sometimes))
    return sorted(ends)


def decoded_ways(step: Decoded) -> list[tuple[str, bool]]:
    all_ways = [step, *step.also]
    sometimes = any(way.flow is ControlFlow.NEXT for way in all_ways)
    return sorted((FLOWS[way.flow], sometimes) for way in all_ways if way.flow in FLOWS)


def compare(folder: Path, words: Sequence[int]) -> int:
    compared = 0
    for word, text in disassembled(folder, words):
        step = hexagon.decode(word.to_bytes(4, "little"), 0)
        sets = {register for register, _ in step.sets if register < 32}
        assert sets == registers(text, word), f"{word:#x} {text}"
        assert decoded_ways(step) == ways(text), f"{word:#x} {text}"
        compared += 1
    return compared


def test_instructions_of_every_kind(tmp_path: Path) -> None:
    chance = random.Random(1)
    words = [
        kind << 21 | chance.getrandbits(21) | LAST
        for kind in range(1 << 7, 1 << 11)
        for _ in range(EACH)
    ]
    assert compare(tmp_path, words) > 10_000


def test_pairs_of_short_instructions(tmp_path: Path) -> None:
    chance = random.Random(2)
    words = [chance.getrandbits(32) & ~LAST for _ in range(8_000)]
    assert compare(tmp_path, words) > 4_000


# ---- packets -------------------------------------------------------------------------

LEAF = """
 .globl leaf
 .type leaf,@function
leaf:
 { allocframe(#40) }
 { dealloc_return }
"""


def deepest(folder: Path, body: str) -> dict[str, int]:
    head = ' .section .text.entry,"ax",@progbits\n .globl entry\n'
    source = head + f" .type entry,@function\nentry:\n{body}\n"
    object_file = assembled(
        folder, source + ' .section .text.leaf,"ax",@progbits' + LEAF
    )
    graph = CallGraph(Members([object_file], [], "entry", gnu=False))
    return {step.function: step.bytes for step in graph.bound([], 0, "").path}


PACKETS = {
    # The call happens after its packet, so below the frame.
    "frame_and_call": ("{ allocframe(#16); call leaf }\n { dealloc_return }", 24, 48),
    "far_call": ("{ allocframe(#16); r0 = r1\n call ##leaf }\n dealloc_return", 24, 48),
    "conditional": ("allocframe(#8)\n if (p0) call leaf\n dealloc_return", 16, 48),
    "large": ("allocframe(#0)\n r29 = add(r29,##-70000)\n call leaf", 70_008, 48),
    "aligned": ("allocframe(#256)\n r29 = and(r29,#-128)\n call leaf", 384, 48),
    "tail": ("allocframe(#8)\n { deallocframe; jump leaf }", 0, 48),
    "of_two_jumps": (
        "{ if (p0) jump .Lx; jump .Ly }\n.Lx:\n allocframe(#64)\n call leaf\n"
        " dealloc_return\n.Ly:\n jumpr r31",
        *(72, 48),
    ),
    "behind_a_return": (
        "allocframe(#8)\n if (p0) dealloc_return\n { r29 = add(r29,#-32); call leaf }",
        *(48, 48),
    ),
    "sometimes": ("if (p0) r29 = add(r29,#-8)\n call leaf\n jumpr r31", 8, 48),
    "sometimes_back": (
        "r29 = add(r29,#-8)\n { if (p0) r29 = add(r29,#8)\n if (p0) jumpr r31 }\n"
        " call leaf\n { r29 = add(r29,#8)\n jumpr r31 }",
        *(8, 48),
    ),
    "by_a_constant": (
        "allocframe(#8)\n r0 = memw(##table+4)\n callr r0\n dealloc_return\n"
        ' .section .rodata.t,"a",@progbits\n .p2align 2\ntable: .word 0, leaf\n',
        *(16, 48),
    ),
    "by_an_address": (
        "allocframe(#8)\n r0 = ##table\n r0 = memw(r0+#4)\n callr r0\n"
        ' .section .rodata.t,"a",@progbits\n .p2align 2\ntable: .word 0, leaf\n',
        *(16, 48),
    ),
    "in_a_loop": (
        "allocframe(#8)\n loop0(.Lx,#5)\n.Lx:\n { r0 = r1; r1 = r0 }\n"
        " { nop; nop }:endloop0\n call leaf\n dealloc_return",
        *(16, 48),
    ),
}


@pytest.mark.parametrize("name", PACKETS)
def test_packets(tmp_path: Path, name: str) -> None:
    body, entry, leaf = PACKETS[name]
    body = body.replace("; ", "\n ") if "loop" not in name else body
    assert deepest(tmp_path, body) == {"entry": entry, "leaf": leaf}


ENDLESS = (
    "loop0(.Lx,#5)\n.Lx:\n { r29 = add(r29,#-8)\n nop }:endloop0\n jumpr r31",
    "r29 = sub(r29,r1)\n jumpr r31",
    "if (p0) r29 = r1\n jumpr r31",
    "{ nop\n nop }:endloop0\n jumpr r31",
)


@pytest.mark.parametrize("body", ENDLESS)
def test_what_nobody_can_bound(tmp_path: Path, body: str) -> None:
    with pytest.raises(UnknownBoundError, match="stack use of 'entry' is unknown"):
        deepest(tmp_path, body)


def test_what_is_no_packet_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UnknownBoundError, match="stack use of 'entry' is unknown"):
        deepest(tmp_path, " .word 0x7f004000\n" * 5)
