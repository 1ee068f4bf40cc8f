"""Frames out of instructions against compilers' records; bounds of small programs."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from ember import paths
from ember.firmware.stack.bound import Bound, CallGraph, StackError
from ember.firmware.stack.code import CodeObjects, Members, Place, machine
from ember.firmware.stack.ports import Interrupts, Vectors
from ember.firmware.stack.walk import UnknownStackError
from ember.toolchain import elf

GCC, CLANG = "arm-none-eabi-gcc", "clang-19"
CLANG_ARM = (CLANG, "--target=arm-none-eabi")
CORES = {
    "m0": [GCC, "-mcpu=cortex-m0", "-mfloat-abi=soft", "-fno-jump-tables"],
    "m3": [GCC, "-mcpu=cortex-m3", "-mfloat-abi=soft"],
    "m4": [GCC, "-mcpu=cortex-m4", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard"],
    "m33": [GCC, "-mcpu=cortex-m33", "-mfpu=fpv5-sp-d16", "-mfloat-abi=hard"],
    "m4-clang": [*CLANG_ARM, "-mcpu=cortex-m4", "-mfloat-abi=hard"],
    "m55-clang": [*CLANG_ARM, "-mcpu=cortex-m55", "-mfloat-abi=hard"],
}
for words in CORES.values():
    words.append("-mthumb")
HEXAGON = ["--target=hexagon-unknown-none-elf", "-mcpu=hexagonv68", "-G0"]
HEXAGON += ["-fno-pic", "-nostdlibinc"]
for option in ("spill-func-threshold", "spill-func-threshold-Os"):
    HEXAGON += ["-mllvm", f"-{option}=1000"]  # as toolchains/hexagon-llvm.cmake
CORES["hexagon"] = [CLANG, *HEXAGON]
LINK = 8  # bytes of r31:30, which clang's records of Hexagon leave out

FLAGS = ["-ffunction-sections", "-fomit-frame-pointer", "-fstack-usage"]
needs_arm = pytest.mark.skipif(
    not (shutil.which(GCC) and shutil.which(CLANG)), reason="no compilers for Arm"
)
pytestmark = needs_arm

# Large and small frames, vectors of registers, a table, floats, an aligned array.
FRAMES = """
void use(void *p, ...);
int small(int a) { return a + 1; }
int calls(int a) { int b[4]; use(b); return b[a]; }
int large(int a) { char b[70000]; use(b); return b[a]; }
int middle(int a) { char b[1500]; use(b); return b[a]; }
int many(int a, int b, int c, int d, int e, int f) {
    int x[3]; use(x, a, b, c, d, e, f); return x[a] + b * c + d * e + f; }
float floats(float *p, int n) {
    float a = p[0], b = p[1], c = p[2], d = p[3], e = p[4], f = p[5], g = p[6];
    for (int i = 0; i < n; i++) { use(p); a += b * c; b += c * d; c += d * e;
        d += e * f; e += f * g; f += g * a; g += a * b; }
    return a + b + c + d + e + f + g; }
int table(int a) {
    int x[5];
    switch (a) {
    case 0: use(x); return 1; case 1: use(x, 1); return x[2];
    case 2: use(x, 2); return 9; case 3: use(x, 3); return x[4];
    case 4: use(x, 4); return 7; case 5: use(x, 5); return 11; case 6: use(x); }
    return 3; }
"""


def compiled(folder: Path, core: str, source: str | Path, *words: str) -> Path:
    if isinstance(source, str):
        (folder / "source.c").write_text(source)
        source = folder / "source.c"
    object_file = folder / f"{source.stem}.o"
    command: list[str | Path] = [
        *CORES[core],
        *FLAGS,
        "-Os",
        *words,
        "-c",
        source,
        "-o",
        object_file,
    ]
    subprocess.run(command, check=True, capture_output=True, cwd=folder)
    return object_file


def recorded(object_file: Path) -> dict[str, int]:
    """The compiler's own records of frames of a fixed size."""
    by_name = {}
    for line in object_file.with_suffix(".su").read_text().splitlines():
        place, size, kind = line.split("\t")
        if kind == "static":
            by_name[place.rsplit(":", 1)[-1]] = int(size)
    return by_name


def frames(object_file: Path) -> dict[str, int]:
    parsed = elf.read_object(object_file)
    kind = machine(parsed.file.machine)
    assert kind is not None
    members = Members([object_file], [], "none", gnu=True)
    members._defined = _Everything(members)
    code = CodeObjects(members, kind)
    depths = {}
    for (section, offset), name in members.objects[0].functions.items():
        depths[name] = code.frame(Place(members.objects[0], section, offset)).depths[""]
    return depths


def is_same(core: str, frame: int, compilers: int) -> bool:
    return frame - compilers in ((0, LINK) if core == "hexagon" else (0,))


class _Everything(dict[str, Any]):
    """Whatever is called is there: some function of the object itself."""

    def __init__(self, members: Members) -> None:
        super().__init__()
        member = members.objects[0]
        self.any = next((member, s) for s in member.symbols if s.name in member.defined)

    def get(self, name: str, default: object = None) -> object:
        return super().get(name, self.any)


@pytest.mark.parametrize("core", CORES)
@pytest.mark.parametrize("option", ["-Os", "-O2", "-O1"])
def test_frames_are_those_of_the_compiler(
    tmp_path: Path, core: str, option: str
) -> None:
    object_file = compiled(tmp_path, core, FRAMES, option)
    expected = recorded(object_file)
    computed = frames(object_file)
    assert len(expected) == 7
    assert computed.keys() == expected.keys()
    assert all(is_same(core, computed[name], size) for name, size in expected.items())


SOURCES = [
    "kernels/engine/reduce.c",
    "kernels/engine/copy.c",
    "kernels/engine/map.c",
    "kernels/engine/sort.c",
    "kernels/linear/matmul.c",
    "kernels/convolution/convolution_f32.c",
    "kernels/elementwise/pow.c",
    "runtime_c/ember_core.c",
]


@pytest.mark.slow
@pytest.mark.parametrize("core", ["m3", "m4", "m4-clang", "m55-clang", "hexagon"])
def test_frames_of_the_runtime_are_those_of_the_compiler(
    tmp_path: Path, core: str
) -> None:
    root = paths.root()
    words = [f"-I{root}", f"-I{root / 'runtime_c' / 'include'}", "-std=c11"]
    libc = (
        root / "runtime_c/libc/include" if core == "hexagon" else "/usr/include/newlib"
    )
    words += ["-isystem", str(libc), "-DEMBER_ERROR_STRINGS=0"]
    compared = 0
    for name in SOURCES:
        object_file = compiled(tmp_path, core, root / name, *words)
        computed = frames(object_file)
        for function, size in recorded(object_file).items():
            same = [
                n for n in computed if n.partition(".")[0] == function.partition(".")[0]
            ]
            if same == [function]:
                assert is_same(core, computed[function], size), function
                compared += 1
    assert compared > 100


KEEP = "#define KEEP __attribute__((noinline))\n"


# ---- programs ------------------------------------------------------------------------


def bound(folder: Path, source: str, core: str = "m4", entry: str = "entry") -> Bound:
    object_file = compiled(folder, core, source)
    graph = CallGraph(Members([object_file], [], entry, gnu=True))
    return graph.bound([], 0, "")


def sizes(folder: Path, names: Sequence[str]) -> int:
    records = recorded(folder / "source.o")
    return sum(records[name] for name in names)


def test_the_deepest_path(tmp_path: Path) -> None:
    limit = bound(
        tmp_path,
        KEEP
        + """
        KEEP int leaf(volatile char *p) { volatile char b[99]; b[*p] = 1; return b[1]; }
        KEEP int wide(volatile char *p) { volatile char b[60]; b[*p] = 1; return b[1]; }
        KEEP int deep(volatile char *p) { volatile char b[8]; b[1] = 1; *p = 2;
            return leaf(b) + leaf(p); }
        int entry(void) { volatile char b[4]; return deep(b) + wide(b); }
        """,
    )
    assert [link.function for link in limit.path] == ["entry", "deep", "leaf"]
    assert limit.bytes == sizes(tmp_path, ["entry", "deep", "leaf"])


def test_calls_by_pointer_reach_what_has_its_address_taken(tmp_path: Path) -> None:
    limit = bound(
        tmp_path,
        """
        int one(int a) { volatile char b[200]; b[a] = 1; return b[2]; }
        int two(int a) { volatile char b[300]; b[a] = 1; return b[2]; }
        int other(int a) { volatile char b[900]; b[a] = 1; return b[2]; }
        int (*const table[])(int) = {one, two};
        int entry(int a) { return table[a](a) + 1; }
        """,
    )
    assert [link.function for link in limit.path] == ["entry", "two"]


def test_a_cycle_is_named(tmp_path: Path) -> None:
    with pytest.raises(StackError, match="first > second > first") as error:
        bound(
            tmp_path,
            KEEP
            + """
            int second(int a);
            KEEP int first(int a) { return a ? second(a - 1) * 3 : 1; }
            KEEP int second(int a) { return first(a / 2) * 5; }
            int entry(int a) { return first(a) + 1; }
            """,
        )
    assert "may call itself" in str(error.value)


UNKNOWN = {
    "an array of variable length": """
        void use(char *);
        KEEP int grows(int n) { char b[n]; use(b); return b[1]; }
        """,
    "assembly that sets sp": """
        void use(char *);
        KEEP int grows(int n) { __asm volatile("mov sp, %0" : : "r"(n * 7)); return n; }
        """,
    "assembly in a loop": """
        void use(char *);
        __attribute__((naked)) int grows(int n) {
            __asm volatile("1: push {r0, r1}\\n subs r0, #1\\n bne 1b\\n bx lr"); }
        """,
}


@pytest.mark.parametrize("kind", UNKNOWN)
@pytest.mark.parametrize("core", ["m3", "m4-clang"])
def test_an_unknown_frame_is_named(tmp_path: Path, kind: str, core: str) -> None:
    source = KEEP + UNKNOWN[kind]
    source += "KEEP void use(char *p) { p[0] = 1; p[3] = 2; }"
    source += "int entry(int n) { return grows(n) + 1; }"
    with pytest.raises(
        StackError, match="the stack use of 'grows' is unknown"
    ) as error:
        bound(tmp_path, source, core)
    assert str(error.value.hint).startswith("call path: entry > grows; ")


def test_a_function_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(StackError, match="'nowhere', which is not defined") as error:
        bound(tmp_path, "int nowhere(int); int entry(int a) { return nowhere(a) + 1; }")
    assert "add the file that defines it" in str(error.value.hint)
    assert "--stack" not in str(error.value.hint)


def test_what_follows_a_call_without_return_is_not_walked(tmp_path: Path) -> None:
    limit = bound(
        tmp_path,
        KEEP
        + """
        KEEP _Noreturn void stop(int a) { for (;;) { __asm volatile("" : : "r"(a)); } }
        KEEP int check(int a) { if (a > 3) { stop(a); } return a * 2; }
        int entry(int a) { return check(a) + check(a + 1); }
        """,
    )
    assert limit.bytes == sizes(tmp_path, ["entry", "check", "stop"])


def test_another_stack_must_be_large_enough(tmp_path: Path) -> None:
    source = """
        int handle(int a) { volatile char b[120]; b[a] = 1; return b[2]; }
        char other[SIZE] __attribute__((aligned(8)));
        __attribute__((naked)) void entry(void) {
            __asm volatile("ldr r1, =other + %c0\\n mov sp, r1\\n b handle\\n .ltorg"
                           : : "i"(sizeof other)); }
        """
    limit = bound(tmp_path, source.replace("SIZE", "160"))
    assert limit.bytes == 0
    assert limit.others == {"other": (sizes(tmp_path, ["handle"]), 160)}
    with pytest.raises(StackError, match="'other' has 96 bytes, but its handlers need"):
        bound(tmp_path, source.replace("SIZE", "96"))


def test_a_switch_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    object_file = compiled(tmp_path, "m0", FRAMES, "-fjump-tables")
    with pytest.raises(UnknownStackError, match="through a table"):
        frames(object_file)


IN_CODE = " adr r2, 3f\\n ldr.w pc, [r2, r0, lsl #2]\\n .p2align 2\\n"
IN_CODE += "3: .word one + 1, two + 1\\n"
BESIDE = " lsls r1, r0, #2\\n ldr r2, =places\\n ldr r1, [r2, r1]\\n mov pc, r1\\n"


@pytest.mark.parametrize(("core", "jump"), [("m4", IN_CODE), ("m0", BESIDE)])
def test_a_table_of_addresses_is_followed(core: str, jump: str, tmp_path: Path) -> None:
    """As GCC 14 writes a switch for Armv7-M, and libgcc divides floats on Armv6-M."""
    source = """
        KEEP int deep(int a) { volatile char b[100]; b[a] = 1; return b[2]; }
        __attribute__((naked)) int entry(int a) {
            __asm volatile(".syntax unified\\n push {r4, lr}\\n" "JUMP"
                "one: pop {r4, pc}\\n"
                "two: sub sp, #24\\n bl deep\\n add sp, #24\\n pop {r4, pc}\\n"
                ".ltorg\\n .section .rodata\\n .p2align 2\\n"
                "places: .word one, two\\n .previous"); }
        """
    limit = bound(tmp_path, KEEP + source.replace("JUMP", jump), core)
    assert limit.bytes == 8 + 24 + sizes(tmp_path, ["deep"])


def test_a_return_by_another_register(tmp_path: Path) -> None:
    """Armv6-M cannot pop the link register; a pointer could be any function."""
    source = """
        KEEP int deep(int a) { volatile char b[100]; b[a] = 1; return b[2]; }
        __attribute__((naked, noinline)) int shallow(int a) {
            __asm volatile(".syntax unified\\n push {r4, lr}\\n pop {r4}\\n"
                           "pop {r3}\\n bx r3"); }
        int (*volatile chosen)(int) = deep;
        KEEP int wide(int a) { volatile char b[90]; b[a] = 1; return shallow(a); }
        int entry(int a) { return wide(a) + chosen(a); }
        """
    limit = bound(tmp_path, KEEP + source, "m0")
    deepest = max(sizes(tmp_path, ["wide"]) + 8, sizes(tmp_path, ["deep"]))
    assert limit.bytes == sizes(tmp_path, ["entry"]) + deepest


def test_walking_stops_at_what_it_does_not_know(tmp_path: Path) -> None:
    object_file = compiled(tmp_path, "m4", KEEP + UNKNOWN["assembly that sets sp"])
    with pytest.raises(UnknownStackError, match=re.escape("stack pointer")):
        frames(object_file)


# ---- vectors -------------------------------------------------------------------------

WRITES = {
    "VTOR": "*(volatile unsigned *)0xE000ED08 = 0x20000000;",
    "VTOR, which": "set((volatile unsigned *)0xE000ED08);",
    "the table of vectors": "((volatile unsigned *)0x20000000)[40] = 1;",
    "the table": "(*(volatile unsigned *volatile *)0xE000ED08)[40] = 1;",
}


def checked(folder: Path, write: str, table_at: int) -> None:
    """As the vectors of a firmware whose library has a function that writes so."""
    library = "void set(volatile unsigned *at) { *at = 0x20000000; }\n"
    (folder / "set.c").write_text(f"{library}int boot(void) {{ {write} return 1; }}\n")
    object_file = compiled(folder, "m4", folder / "set.c", "-fno-inline", "-fno-ipa-cp")
    archive = folder / "libvendor.a"
    subprocess.run(["arm-none-eabi-ar", "qcs", archive, object_file], check=True)
    main = compiled(folder, "m4", "int boot(void); int entry(void) { return boot(); }")
    graph = CallGraph(Members([main], [archive], "entry", gnu=True))
    vectors = Vectors(graph, Interrupts(), 36)
    graph.bound(vectors.ending, 36, "")
    vectors.check(table_at)


@pytest.mark.parametrize("what", WRITES)
def test_an_archive_that_sets_up_vectors_is_told(tmp_path: Path, what: str) -> None:
    with pytest.raises(StackError, match=f"writes {what.partition(',')[0]}"):
        checked(tmp_path, WRITES[what], 0x20000000)


def test_a_null_pointer_in_an_archive_is_no_vector(tmp_path: Path) -> None:
    checked(tmp_path, "((volatile unsigned *)0)[3] = 1;", 0)
