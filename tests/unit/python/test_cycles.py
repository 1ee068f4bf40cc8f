"""Estimates of cycles: known answers of the manuals, and what no model knows."""

from __future__ import annotations

import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from ember import boards
from ember.boards import Memory
from ember.cycles import code, estimate, manuals, mca
from ember.cycles.code import Instruction
from ember.cycles.estimate import wait_of_access, waits_of_fetches
from ember.errors import SdkError
from ember.toolchain import emulator, traces

CLANG = {
    "cortex-m0": ("thumbv6m-none-eabi", "soft"),
    "cortex-m0plus": ("thumbv6m-none-eabi", "soft"),
    "cortex-m3": ("thumbv7m-none-eabi", "soft"),
    "cortex-m4": ("thumbv7em-none-eabi", "hard"),
    "cortex-m7": ("thumbv7em-none-eabi", "hard"),
    "cortex-m55": ("thumbv8.1m.main-none-eabi", "hard"),
    "cortex-a76": ("aarch64-none-elf", None),
    "cortex-a510": ("aarch64-none-elf", None),
}


def assemble(cpu: str, text: str, folder: Path, *options: str) -> Path:
    triple, floats = CLANG[cpu]
    source, binary = folder / "snippet.S", folder / "snippet"
    head = ".syntax unified\n.thumb\n" if floats else ""
    source.write_text(f"{head}{text}\n")
    words = ["clang-19", f"--target={triple}", f"-mcpu={cpu}"]
    words += [f"-mfloat-abi={floats}"] if floats else []
    words += ["-nostdlib", *(options or ("-c",)), str(source), "-o", str(binary)]
    done = subprocess.run(words, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return binary


def instructions(cpu: str, text: str, folder: Path) -> list[Instruction]:
    binary = assemble(cpu, text.replace("; ", "\n"), folder)
    core = mca.CORES.get(cpu)
    decoded = code.of_firmware(binary, cpu, core.triple if core else None)
    return [decoded[address] for address in sorted(decoded)]


# The sentences of the manuals on pairs of accesses, then their tables.
M4 = {
    "ldr r0, [r1]; ldr r1, [r2]": 3,
    "ldr r0, [r1, r2]; str r0, [r3, #20]": 3,
    "ldr r0, [r1, r2]; str r1, [r3, r2]": 3,
    "ldr r0, [r1, r5]; ldr r1, [r2]; ldr r2, [r3, #4]": 4,
    "ldr r0, [r1]; ldr r2, [r0]": 4,
    "str r0, [r1, #4]": 1,
    "str r0, [r1, r2]": 2,
    "str r0, [r1]; ldr r2, [r3]": 3,
    "ldm r0, {r1, r2, r3}": 4,
    "stm r0!, {r1, r2, r3, r4, r5, r6, r7, r8}": 9,
    "ldrd r0, r1, [r2]": 3,
    "ldr r0, [r1]; ldrd r2, r3, [r4]; ldr r5, [r6]": 7,
    "push {r4, r5, r6, lr}": 5,
    "smlad r0, r1, r2, r0; sxtb16 r3, r4; mla r5, r6, r7, r5": 3,
    "umull r0, r1, r2, r3; muls r0, r1, r0": 2,
    "udiv r0, r1, r2": 7,
    "movs r0, #1; it eq; moveq r0, #2": 2,
    "movw r0, #1000; it eq; moveq r0, #2": 3,
    "vldr s0, [r0]; vldr d1, [r0]": 5,
    "vldmia r0!, {s0-s3}": 5,
    "vpush {d8-d9}": 5,
    "vmla.f32 s0, s1, s2; vmla.f32 s3, s1, s2": 6,
    "vadd.f32 s0, s1, s2; vmul.f32 s3, s0, s0": 3,
    "vadd.f32 s0, s1, s2; vmul.f32 s3, s4, s5": 2,
    "vdiv.f32 s0, s1, s2; vsqrt.f32 s3, s4": 28,
    "vmov r0, s1; vmov r0, r1, d2": 3,
}
M3 = {
    "mul r0, r1, r2; mla r0, r1, r2, r3; mls r0, r1, r2, r3": 5,
    "smull r0, r1, r2, r3; umlal r0, r1, r2, r3": 10,
    "ldr r0, [r1]; ldr r1, [r2]": 3,
    "ldm r0, {r1, r2, r3, r4}": 5,
}
M0 = {
    "ldr r0, [r1]; ldr r1, [r2]": 4,
    "strb r0, [r1]": 2,
    "muls r0, r1, r0; adds r0, r0, r1; uxtb r0, r0": 3,
    "ldm r0!, {r1, r2, r3}": 4,
    "push {r4, r5, lr}": 4,
    "dmb sy": 4,
}
# What a jump takes when it is taken.
TAKEN = [
    *(("cortex-m0", "b .", 3), ("cortex-m0", "bne .", 3), ("cortex-m0", "bl .", 4)),
    *(("cortex-m0", "bx lr", 3), ("cortex-m0", "pop {r4, r5, pc}", 7)),
    *(("cortex-m0plus", "b .", 2), ("cortex-m0plus", "bl .", 3)),
    *(("cortex-m0plus", "bx lr", 2), ("cortex-m0plus", "pop {r4, r5, pc}", 6)),
    *(("cortex-m3", "bne .", 3), ("cortex-m3", "tbb [pc, r0]", 4)),
    *(("cortex-m4", "cbz r0, 1f; nop; 1:", 3), ("cortex-m4", "blx r3", 3)),
    *(("cortex-m4", "pop {r4, pc}", 5), ("cortex-m4", "ldr pc, [r0]", 4)),
]


@pytest.mark.parametrize(
    ("cpu", "text", "cycles"),
    [
        (cpu, text, cycles)
        for cpu, known in (("cortex-m4", M4), ("cortex-m3", M3), ("cortex-m0", M0))
        for text, cycles in known.items()
    ],
)
def test_the_tables_of_the_manuals(
    cpu: str, text: str, cycles: int, tmp_path: Path
) -> None:
    row = instructions(cpu, text, tmp_path)
    assert all(manuals.known(manuals.TABLES[cpu], instruction) for instruction in row)
    assert manuals.straight(manuals.TABLES[cpu], row) == cycles


@pytest.mark.parametrize(("cpu", "text", "cycles"), TAKEN)
def test_jumps_that_are_taken(cpu: str, text: str, cycles: int, tmp_path: Path) -> None:
    jump = instructions(cpu, text, tmp_path)[0]
    table = manuals.TABLES[cpu]
    assert manuals.straight(table, [jump]) + manuals.taken(table, jump) == cycles


def steady(cpu: str, text: str, folder: Path) -> float:
    """The cycles of one round of a loop."""
    row = mca.row_of(instructions(cpu, text, folder))
    return mca.costs(mca.CORES[cpu], [(row, row)])[row, row]


LOADS = [f"vldrb.u8 q{n}, [r{n + 1}], #16" for n in range(4)]
PRODUCTS = [f"vmlava.s8 r{8 + 2 * (n % 2)}, q{n % 4}, q{n // 4}" for n in range(4)]


@pytest.mark.parametrize("text", [text for text in M4 if ";" in text])
def test_a_row_that_is_cut_takes_what_it_takes_whole(text: str, tmp_path: Path) -> None:
    """Pages of the emulator end blocks where no jump does."""
    table = manuals.TABLES["cortex-m4"]
    row = instructions("cortex-m4", text, tmp_path)
    for cut in range(1, len(row)):
        blocks = [
            traces.Block(0x8000, cut, 4 * cut),
            traces.Block(0x8000 + 4 * cut, len(row) - cut, 4 * (len(row) - cut)),
        ]
        costs = estimate._by_table(table, [row[:cut], row[cut:]], blocks, {(0, 1): 1})
        first = manuals.straight(table, row[:cut])
        assert first + costs[0, 1] == manuals.straight(table, row)


def test_an_access_of_cortex_m55_hides_behind_a_product(tmp_path: Path) -> None:
    apart = steady("cortex-m55", "; ".join([*LOADS, *PRODUCTS]), tmp_path)
    turns = [line for pair in zip(LOADS, PRODUCTS, strict=True) for line in pair]
    between = steady("cortex-m55", "; ".join(turns), tmp_path)
    assert between < apart <= 16  # two cycles each, were nothing to overlap


@pytest.mark.parametrize("cpu", ["cortex-a76", "cortex-a510"])
@pytest.mark.parametrize(("sums", "cycles"), [(8, 4), (4, 8), (2, 16), (1, 32)])
def test_sums_of_arm64_wait_for_each_other(
    cpu: str, sums: int, cycles: int, tmp_path: Path
) -> None:
    """By Arm's guides a product of floats takes four cycles, and two begin in one."""
    row = "; ".join(f"fmla v{n % sums}.4s, v30.4s, v31.4s" for n in range(8))
    assert steady(cpu, row, tmp_path) == cycles


def test_several_registers_take_time_on_dual_issue_cores(tmp_path: Path) -> None:
    few, many = ("ldr r1, [r0]", "ldm r0, {r1, r2, r3, r4, r5, r6, r7, r8}")
    for cpu in ("cortex-m7", "cortex-m55"):
        assert steady(cpu, many, tmp_path) >= steady(cpu, few, tmp_path) + 2


def test_blocks_need_not_hold_all_of_a_vpt_block(tmp_path: Path) -> None:
    lines = "vpstt; vldrbt.u8 q0, [r0]; vmovltt.s8 q1, q0; vmovlt.s8 q2, q0; nop"
    row = instructions("cortex-m55", lines, tmp_path)
    core = mca.CORES["cortex-m55"]
    parts = [row[:end] for end in range(1, 5)] + [row[start:] for start in range(1, 5)]
    assert not mca.unknown(core, [*parts, row])
    compared = instructions(
        "cortex-m55", "vpt.s32 lt, q0, q1; vaddt.i32 q0, q0, q1", tmp_path
    )
    assert mca.row_of(compared) == ("vcmp.s32 lt, q0, q1", "vadd.i32 q0, q0, q1")


def test_blocks_need_not_hold_the_it_that_covers_them(tmp_path: Path) -> None:
    row = instructions("cortex-m55", "it le; pople {r4, pc}; movs r0, #1", tmp_path)
    core = mca.CORES["cortex-m55"]
    for block in (row[:1], row[1:], row):
        assert not mca.unknown(core, [block])


def test_blocks_need_not_hold_the_vpt_that_covers_them(tmp_path: Path) -> None:
    text = """vptte.s32 gt, q0, r1; vaddt.i32 q0, q1, q2; vldrbt.u8 q1, [r6]
        vmovlte.s8 q3, q4; vmovlt.s8 q3, q4; vcvtt.f16.f32 q0, q1; movs r0, #1"""
    row = instructions("cortex-m55", text, tmp_path)
    core = mca.CORES["cortex-m55"]
    for place in range(len(row) + 1):
        assert not mca.unknown(core, [row[:place], row[place:]])
    first = mca.row_of(row[2:])
    assert first[:3] == ("vldrb.u8 q1, [r6]", "vmovlt.s8 q3, q4", "vmovlt.s8 q3, q4")
    assert mca.row_of(row[:1]) == ("vcmp.s32 gt, q0, r1",)
    text = "vcvt.s32.f32 s0, s1; vsqrt.f32 s2, s0; vselge.f32 s0, s1, s2"
    for scalar in instructions("cortex-m55", text, tmp_path):
        assert mca.row_of([scalar]) == (scalar.text,)
    (vector,) = instructions("cortex-m55", "vcvt.s32.f32 q0, q1", tmp_path)
    assert mca.row_of([vector]) == (vector.text,)


# ---- whole programs ----------------------------------------------------------------

PROGRAM = """
.section .text
.word 0x20001000, start
.thumb_func
start:
    ldr r0, =ember_marks
    ldr r3, =0x20000100
    movs r1, #100
    str r1, [r0, #4]
    b loop
    nop
loop:
    ldr r2, [r3]
    subs r1, #1
    bne loop
    b last
    nop
last:
    ldr r2, [r0, #4]
    b end
    nop
end:
    movs r0, #0x18
    ldr r1, =0x20026
    bkpt #0xab
.ltorg
.bss
.global ember_marks
ember_marks: .space 32
"""


@pytest.mark.qemu
@pytest.mark.parametrize(
    ("board", "cpu", "jump"),
    [("mps2-an386", "cortex-m4", 3), ("mps2-an385-v6m", "cortex-m0", 3)],
)
def test_a_loop_takes_what_the_manual_says(
    board: str, cpu: str, jump: int, tmp_path: Path
) -> None:
    places = ("-Wl,-Ttext=0", "-Wl,-Tbss=0x20000000", "-Wl,-estart", "-fuse-ld=lld-19")
    firmware = assemble(cpu, PROGRAM, tmp_path, *places)
    result = emulator.run(boards.load(board), firmware, blocks=True).check("snippet")
    assert result.trace is not None
    estimated = estimate.of_run(boards.load(board), firmware, result.trace)
    first = jump  # from the mark into the loop
    rounds = 100 * (2 + 1 + 1) + 99 * (jump - 1)
    rest = jump + (2 + 1)  # to the block that reads the mark
    assert estimated.of(result.trace.between(0, 1)).core == first - 1 + rounds + rest
    passes = sum(
        result.trace.blocks[block].instructions * times
        for (_, block), times in result.trace.between(0, 1).edges.items()
    )
    assert passes == 3 * 100 + 1 + 2


def test_a_core_without_a_model_is_refused() -> None:
    with pytest.raises(SdkError, match="no model of cycles for cortex-m85"):
        estimate.check_known("cortex-m85")


def test_what_a_model_lacks_is_an_error_above_one_percent(tmp_path: Path) -> None:
    board = boards.load("mps2-an385-v6m")
    binary = assemble("cortex-m0", "nop\nb .\n.word 0xdeadbeef", tmp_path)
    block, outside = traces.Block(0, 2, 4), traces.Block(0x9000, 3, 6)
    often = Counter({(0, 0): 1000, (0, 1): 1})
    trace = traces.Trace((block, outside), (traces.TracedStep(often),))
    estimate.of_run(board, binary, trace)
    often[1, 1] = 20
    with pytest.raises(SdkError, match=r"lacks 3\.1% of the instructions that ran"):
        estimate.of_run(board, binary, trace)


def test_the_log_of_the_plugin_is_read_between_marks(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text(
        "b 1 100 2 4\nb 2 104 3 8\ne 1 2 5\n1 w 12\n"
        "e 2 2 7\ne 2 1 1\nt 0 r 4 9\n2 w 20\ne 1 2 1\nt 1 w 16 2\nt 0 r 4 1\n"
        "2 r 21\n1 r 22\nrange 0 0 0 0\nend 30\n"
    )
    trace = traces.read(log)
    assert trace.blocks == (traces.Block(0x100, 2, 4), traces.Block(0x104, 3, 8))
    assert trace.between(0, 3).edges == {(1, 1): 7, (1, 0): 1, (0, 1): 1}
    accesses = {traces.Access(0, False, 4): 10, traces.Access(1, True, 16): 2}
    assert trace.between(0, 3).accesses == accesses
    assert trace.between(1, 2).edges == {(0, 1): 1}
    marks, total = emulator.read_marks(log)
    assert [mark.count for mark in marks] == [12, 20, 21, 22]
    assert total == 30


# ---- memories ----------------------------------------------------------------------


def memory(base: int = 0, **facts: object) -> Memory:
    fixed = {"name": "ram", "base": base, "size": 4096, "access": "rwx"}
    return Memory.model_validate({**fixed, "kind": "sram", "holds": ["code"], **facts})


@pytest.mark.parametrize(
    ("bus", "facts", "size", "writes", "waits"),
    [
        (4, {"read_cycles": 1}, 4, False, 0),
        (4, {"read_cycles": 3}, 1, False, 2),
        (4, {"read_cycles": 3}, 16, False, 4 * 2),  # LDM of four words
        (4, {"read_cycles": 3, "write_cycles": 1}, 4, True, 0),
        (8, {"read_cycles": {8: 1}}, 16, False, 0),  # a vector in two cycles
        (8, {"read_cycles": {8: 3}}, 16, False, 2 * 2),
        (8, {"read_cycles": 1}, 16, False, 2),  # through 32 bits
    ],
)
def test_an_access_waits_for_its_memory(
    bus: int, facts: dict[str, Any], size: int, writes: bool, waits: int
) -> None:
    access = traces.Access(0, writes, size)
    assert wait_of_access(memory(**facts), access, bus) == waits


def test_code_is_fetched_while_the_core_executes() -> None:
    blocks = traces.Block(0, 4, 16), traces.Block(16, 2, 4), traces.Block(0x1000, 1, 4)
    memories = [memory(read_cycles=3), memory(0x1000, read_cycles=1)]
    cycles = {(0, 0): 5.0, (0, 1): 9.0, (1, 0): 14.0, (1, 2): 1.0}
    assert waits_of_fetches(memories, blocks, cycles) == {
        (0, 0): 4 * 3 - 5 + 2,  # what is not hidden, and the target of the jump
        (0, 1): 0,
        (1, 0): 2,
        (1, 2): 0,
    }


def test_a_prefetch_buffer_hides_waits_of_code_not_of_data() -> None:
    flash = memory(read_cycles=3, fetch_cycles={16: 6})
    block = traces.Block(0, 16, 32)
    assert waits_of_fetches([flash], [block], {(0, 0): 10.0}) == {(0, 0): 12 - 10 + 5}
    assert wait_of_access(flash, traces.Access(0, False, 4), 4) == 2
