"""What is promised of kernels, by their objects: no heap, no state, no recursion.

The compiled archives are looked at, not the sources, so that engines, inlined functions
and what compilers make of them are all seen.
"""

from __future__ import annotations

import functools
import re
import shutil
import subprocess
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from ember import boards
from ember.toolchain import emulator, libraries

# All that kernels may take from a C library: functions only of their arguments.
_PURE = """
acos acosh asin asinh atan atan2 atanh cbrt ceil cos cosh erf erfc exp exp2 expm1
fabs floor fma fmod frexp hypot ldexp lgamma log log10 log1p log2 modf nearbyint pow
remainder rint round sin sinh sqrt tan tanh tgamma trunc
memchr memcmp memcpy memmove memset strcmp strlen"""
LIBRARY = set(_PURE.split())
LIBRARY |= {f"{name}f" for name in LIBRARY}
COMPILER = re.compile(
    r"__(aeabi|hexagon|gnu)_\w+|__\w+[sdth][fi]\d?|_GLOBAL_OFFSET_TABLE_"
)
BOARDS = {"host": "objdump", "mps2-an386": "arm-none-eabi-objdump"}
BOARDS |= {"mps3-an547": "arm-none-eabi-objdump", "hexagon-v68": "llvm-objdump"}
EACH = [*[*BOARDS][:3], pytest.param("hexagon-v68", marks=pytest.mark.broad)]

FUNCTION = re.compile(r"^[0-9a-f]+ <([\w.]+)>:$")
CALL_ITSELF = re.compile(r"\s(?:callq?|bl|blx)\s+(?:0x)?[0-9a-f]+ <([\w.]+)>$")
JUMP = re.compile(r"\s(call|bl|blx|jmp|j[a-z]+|b|b\.w|b\.n)q?\s")
INDIRECT = re.compile(r"\s(?:callq?\s+\*|blx?\s+r\d|bx\s+r\d|jmpq?\s+\*|callr?\s+r\d)")
RELOCATION = re.compile(
    r"^\s+[0-9a-f]+:\s+R_\w+\s+(\.text\.)?([\w.]+?)([-+]0x[0-9a-f]+)?$"
)


@dataclass
class Objects:
    """The functions of an archive, named <object>:<function> where they are static."""

    calls: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    takes: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    indirect: set[str] = field(default_factory=set)  # calls through a pointer


def archive(board: str, library: str = "ember_kernels") -> Path:
    loaded = boards.load(board)
    if not emulator.available(loaded) or not shutil.which(BOARDS[board]):
        pytest.skip(f"the tools of {board} are not installed")
    built = libraries.build(loaded, messages=True)  # which other tests compile, too
    return next(path for path in built.archives if path.name == f"lib{library}.a")


def output(board: str, *options: str) -> str:
    words = [BOARDS[board], *options, str(archive(board))]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


@functools.cache
def objects(board: str) -> Objects:
    """Read the disassembly with its relocations."""
    listed = Objects()
    member = function = last = ""
    for line in output(board, "-dr", "--no-show-raw-insn").splitlines():
        if head := re.match(r"^(?:.*[(:])?(\w+)\.c\.o(?:bj)?\)?:\s+file format", line):
            member = head[1]
        elif head := FUNCTION.match(line):
            function = f"{member}:{head[1]}"
            listed.calls[function] |= set()
        elif other := RELOCATION.match(line):
            kind = listed.calls if JUMP.search(last) else listed.takes
            kind[function].add(f"{member}:{other[2]}")
        # Without a relocation of its own, a call goes to where the text says.
        if (call := CALL_ITSELF.search(last)) and not RELOCATION.match(line):
            listed.calls[function] |= {function} & {f"{member}:{call[1]}"}
        if INDIRECT.search(line):
            listed.indirect.add(function)
        last = line
    return listed


def merged(listed: Objects) -> dict[str, set[str]]:
    """Who may call whom, across objects.

    A function that calls through pointers may call all whose addresses its own callers
    take.
    """
    home = {name.split(":")[1]: name for name in listed.calls}

    def resolved(names: set[str]) -> set[str]:
        there = {
            n if n in listed.calls else home.get(n.split(":")[1], "") for n in names
        }
        return there - {""}

    edges = {name: resolved(others) for name, others in listed.calls.items()}
    for name, others in listed.takes.items():
        for engine in resolved(listed.calls[name]) & listed.indirect:
            edges[engine] |= resolved(others)
    return edges


def cycle(edges: dict[str, set[str]]) -> list[str]:
    """Functions that reach themselves, in order; empty when there are none."""
    done: set[str] = set()
    for start in edges:
        path: list[str] = []
        work = [(start, False)]
        while work:
            name, leaving = work.pop()
            if leaving:
                done.add(path.pop())
            elif name in path:
                return [*path[path.index(name) :], name]
            elif name not in done:
                path.append(name)
                work += [(name, True), *((callee, False) for callee in edges[name])]
    return []


@pytest.mark.parametrize("board", EACH)
def test_no_heap_and_no_system(board: str) -> None:
    table = output(board, "-t")
    missing = set(re.findall(r"\*UND\*\s+(?:0x)?[0-9a-f]+\s+(\S+)", table))
    assert "ember_node_tensor" in missing, "the symbol table was not understood"
    others = {symbol for symbol in missing if not symbol.startswith("ember_")} - LIBRARY
    assert {symbol for symbol in others if not COMPILER.fullmatch(symbol)} == set()


@pytest.mark.parametrize("board", EACH)
def test_no_mutable_data(board: str) -> None:
    sections = re.findall(r"^\s*\d+ (\.\S+)\s+([0-9a-f]+)\s", output(board, "-h"), re.M)
    assert any(name.startswith(".text") for name, _ in sections)
    writable = re.compile(r"\.(data|bss|tbss|tdata|sdata|sbss)(?!\.rel\.ro)")
    assert [
        name for name, size in sections if writable.match(name) and int(size, 16)
    ] == []


@pytest.mark.parametrize("board", [*BOARDS][:3])
def test_no_recursion(board: str) -> None:
    edges = merged(objects(board))
    assert len(edges) > 500
    assert sum(map(len, edges.values())) > 500, "the disassembly was not understood"
    assert cycle(edges) == []


def test_recursion_is_found() -> None:
    assert cycle({"a": {"b"}, "b": {"c"}, "c": set()}) == []
    assert cycle({"a": {"b"}, "b": {"c", "d"}, "c": set(), "d": {"b"}}) == [
        "b",
        "d",
        "b",
    ]
    listed = Objects()
    listed.calls |= {"x:row": {"x:engine"}, "x:run": {"x:engine"}, "e:engine": set()}
    listed.takes["x:run"] = {"x:row"}
    listed.indirect.add("e:engine")
    assert cycle(merged(listed)) != []


# ---- Hexagon -------------------------------------------------------------------------

# Floats in vectors, which V68 has and V66 has not: the emulator has few of them, and
# some that it decodes as other instructions.
FORBIDDEN = re.compile(
    r"\bv\d+(?::\d+)?\.(?:[sh]f|bf|qf\d+)\b|\bvf(?:mv|neg)\b|\bvcvt\b|\bv6mpy\b"
)


def vector_instructions(path: Path) -> list[str]:
    words = [
        "llvm-objdump-19",
        "-d",
        "--no-show-raw-insn",
        "--mattr=+hvxv68",
        str(path),
    ]
    text = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    return [line for line in text.splitlines() if re.search(r"\bv\d+", line)]


@pytest.mark.broad
def test_hexagon_has_no_vectors_of_floats() -> None:
    lines = vector_instructions(archive("hexagon-v68", "ember_variants"))
    assert sum("vrmpy" in line for line in lines) > 100, "no variants were found"
    assert [line for line in lines if FORBIDDEN.search(line)] == []


def test_vectors_of_floats_are_found(tmp_path: Path) -> None:
    source = tmp_path / "floats.s"
    source.write_text(
        "{ v0.qf32 = vadd(v1.sf,v2.sf) }\n{ v0.sf = v1.qf32 }\n"
        "{ v0.w = vadd(v1.w,v2.w) }\n"
    )
    compiled = tmp_path / "floats.o"
    target = ["--target=hexagon-unknown-none-elf", "-mcpu=hexagonv68", "-mhvx"]
    words = ["clang-19", *target, "-c", str(source), "-o", str(compiled)]
    subprocess.run(words, check=True)
    lines = vector_instructions(compiled)
    assert len(lines) == 3
    assert sum(FORBIDDEN.search(line) is not None for line in lines) == 2
