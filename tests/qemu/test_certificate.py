"""The RAM certificate: equal to the image, above what runs use, told when it fails."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from certify import BOARDS, DELEGATES, certify
from committed_cases import matching, path_of

from ember import cli, paths
from ember.cases import inputs
from ember.errors import SdkError
from ember.firmware import Built, Options, build
from ember.firmware import folder as build_folder
from ember.firmware.linking import LinkInputs
from ember.firmware.stack import image
from ember.firmware.stack.bound import CallGraph
from ember.model.steering import Steering
from ember.run import run
from ember.toolchain import elf, emulator

MODELS = sorted(
    [*(paths.root() / "examples" / "models").glob("*/*.pte"), *matching("model_*")]
)
MLP = path_of("model_mlp_small")
M4 = "mps2-an386"
pytestmark = pytest.mark.qemu

MAIN = """
#include "ember/model.h"
#include "ember/port.h"
static ember_program_t program;
static ember_method_t method;
static ember_error_t error;
int main(void) {
    if (ember_model_open(&program, &error) != EMBER_OK ||
        ember_model_load(&method, &program, NULL, &error) != EMBER_OK) {
        return 1;
    }
    return other((int)method.arena.used);
}
"""


@pytest.fixture(autouse=True)
def _in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def error_of(capsys: pytest.CaptureFixture[str], *words: str | Path) -> str:
    words = ("build", MLP, "--board", M4, *words)
    assert cli.main([str(word) for word in words]) == 1
    said = capsys.readouterr().err
    assert "Traceback" not in said
    return said


# One with each way of calling, of saving registers and of aligning: Armv6-M, M4 with an
# FPU, M55. `make check` tries the cores between these, and each model on each.
FEW = ("mps2-an385-v6m", "mps3-an547")


@pytest.mark.slow
@pytest.mark.broad
@pytest.mark.parametrize("board", FEW)
def test_models_stay_below_their_bounds(board: str) -> None:
    assert len(MODELS) > 15
    stay_below(MODELS[FEW.index(board) :: 4], board)


@pytest.mark.slow
def test_some_models_stay_below_their_bound() -> None:
    stay_below(MODELS[::4], M4)


@pytest.mark.slow
@pytest.mark.parametrize(
    "board",
    [
        pytest.param(
            board, marks=pytest.mark.broad if board == M4 else pytest.mark.long
        )
        for board in BOARDS
    ],
)
def test_every_model_stays_below_its_bound(board: str) -> None:
    assert len(MODELS) > 15
    stay_below(MODELS, board)


def stay_below(models: Sequence[Path], board: str) -> None:
    for path in models:
        case = inputs.of_case(path)
        options = Options(methods=(case.method,) if case and case.method else ())
        built = build(path, board, options=options)
        method = built.methods[0]
        given = inputs.lay_out(method, case.given) if case else inputs.zeros(method)
        log = run.run(built, given, trace=False)
        stack = built.certificate["stack"]
        assert log.stack_used is not None
        assert log.stack_used <= stack["calls"] <= 1.5 * log.stack_used, path.name
        assert stack["bound"] < stack["reserved"] == built.sizes["size"]["stack"]
        for row in built.certificate["rows"]:
            assert row["linked"] == row["planned"]


@pytest.mark.broad
@pytest.mark.parametrize(
    "name", ["int8_resnet8_small_m55", "model_mlp_small", "xnnpack_resnet8_static"]
)
def test_vectors_of_hexagon_stay_below_their_bound(name: str) -> None:
    """Kernels with vectors on the stack, portable ones, and nodes of a delegate."""
    stay_below([path_of(name)], "hexagon-v68")


@pytest.mark.slow
@pytest.mark.broad
def test_models_on_hexagon_stay_below_their_bounds() -> None:
    stay_below(MODELS[::4], "hexagon-v68")


@pytest.mark.long
@pytest.mark.parametrize("board", DELEGATES)
def test_memory_of_delegates_is_what_was_planned(board: str) -> None:
    for name in ("mlp_qd8", "mlp_int4", "encoder_f16", "resnet8_static"):
        memory = certify(path_of(f"xnnpack_{name}"), board)["memory"]
        assert 0 < memory["written"] <= memory["highest"] <= memory["scratch"]
        assert memory["delegates"] <= memory["scratch"]
        assert (memory["packed"] > 0) == board.startswith("qemu-a64")


def test_scratch_that_is_not_asked_for_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    make = build

    def made(*words: Any, **options: Any) -> Built:
        built = make(*words, **options)
        built.plan["scratch"] += 16
        return built

    monkeypatch.setattr("certify.build", made)
    with pytest.raises(SdkError, match=r"scratch \d+ and delegates"):
        certify(path_of("xnnpack_mlp_static"), "qemu-a64")


def extents(built: Built) -> dict[str, list[int]]:
    """First and last address in use of each memory, also of what is copied at start."""
    file = elf.read(built.firmware)
    pieces = [
        (section.address, section.size)
        for section in file.sections
        if section.in_memory
    ]
    for name in (".data", *(f".ember_code.{m.name}" for m in built.board.memories)):
        load = file.symbol(
            f"__ember_{name.removeprefix('.ember_').replace('.', '')}_load"
        )
        load = load or file.symbol(f"__ember_code_{name.rpartition('.')[2]}_load")
        sizes = [section.size for section in file.sections if section.name == name]
        pieces += [(load.address, size) for size in sizes if load]
    ends: dict[str, list[int]] = {}
    for memory in built.board.memories:
        inside = [p for p in pieces if p[1] and memory.base <= p[0] < memory.end]
        if inside:
            last = max(address + size for address, size in inside)
            ends[memory.name] = [min(inside)[0], last]
    return ends


def every_byte_has_a_row(built: Built) -> None:
    rows = [row for row in built.certificate["rows"] if not row["lent"]]
    for row in rows:
        assert row["linked"] == row["planned"]
    for memory, (first, last) in extents(built).items():
        linked = sum(row["linked"] for row in rows if row["memory"] == memory)
        assert linked == last - first, memory


def test_rows_add_up_to_the_memories() -> None:
    built = build(MLP, M4)
    folder = built.folder / "5-firmware"
    written = json.loads((folder / build_folder.CERTIFICATE).read_text())
    assert written == built.certificate
    every_byte_has_a_row(built)


VARIABLES = """
static char table[192] __attribute__((aligned(512)));
static char small[3] = {1, 2, 3};
static char odd[129] __attribute__((aligned(2048), section(".data.odd"))) = {1};
static int other(int n) {
    ((volatile char *)table)[n & 63] = 1;
    return ((volatile char *)odd)[n & 127] + ((volatile char *)small)[n & 1] < 0;
}
"""


@pytest.mark.parametrize(
    "board",
    [M4, "mps2-an385-v6m", "mps3-an547", "nucleo-h743zi2", "rpi-pico", "qemu-a64"],
)
def test_every_byte_of_each_memory_has_a_row(board: str, tmp_path: Path) -> None:
    """Also between variables that are aligned to much more than those before them."""
    options = Options(app=app(tmp_path, VARIABLES))
    built = build(MLP, board, options=options)
    every_byte_has_a_row(built)
    gaps = [row for row in built.certificate["rows"] if row["place"] == "before .bss"]
    assert [row["foreseen"] for row in gaps] == [board != "qemu-a64"] * len(gaps)


@pytest.mark.parametrize("memory", ["itcm", "sram"])
def test_every_byte_of_two_memories_has_a_row(memory: str, tmp_path: Path) -> None:
    """With code, or activations and arenas, in a second one."""
    steering = (
        Steering(code={"itcm": ("*",)})
        if memory == "itcm"
        else Steering(place={"activations": ("sram",)}, align={"scratch": 256})
    )
    options = Options(app=app(tmp_path, VARIABLES), steering=steering)
    board = "nucleo-h743zi2" if memory == "itcm" else "mps3-an547"
    built = build(MLP, board, options=options)
    assert memory in extents(built)
    every_byte_has_a_row(built)


def test_a_gap_that_nobody_planned_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    link = LinkInputs.link

    def made(self: LinkInputs, firmware: Path, script: Path) -> None:
        text = script.read_text()
        assert ".bss (NOLOAD) : ALIGN(16)" in text
        text = text.replace(".bss (NOLOAD) : ALIGN(16)", ".bss (NOLOAD) : ALIGN(4096)")
        script.write_text(text)
        link(self, firmware, script)

    monkeypatch.setattr(LinkInputs, "link", made)
    said = " ".join(error_of(capsys).split())
    assert re.search(r"before .bss \(alignment\) has [\d,]+ bytes in data, but", said)


@pytest.mark.parametrize("board", [M4, "linux-aarch64", "host"])
def test_memory_of_a_model_that_an_application_leaves_out_has_no_row(
    board: str, tmp_path: Path
) -> None:
    source = tmp_path / "app.c"
    source.write_text("int main(void) { return 0; }\n")
    built = build(MLP, board, options=Options(app=source))
    purposes = {row["purpose"] for row in built.certificate["rows"]}
    assert purposes.isdisjoint({"activations", "method arena", "scratch"})
    assert emulator.run(built.board, built.firmware).exit_code == 0


def test_a_traced_twin_has_the_stack_it_needs() -> None:
    built = build(path_of("op_add"), M4)
    log = run.run(built, inputs.zeros(built.methods[0]), trace=True)
    assert log.nodes[0].instructions


# ---- what must fail ------------------------------------------------------------------


def app(folder: Path, text: str) -> Path:
    path = folder / "app.c"
    path.write_text(text + MAIN)
    return path


def test_recursion_of_an_application_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (
        "static int other(int n);\n"
        "static __attribute__((noinline)) int more(int n)"
        " { return 3 * other(n / 2); }\n"
        "static __attribute__((noinline)) int other(int n)"
        " { return n ? 5 * more(n - 1) : 1; }\n"
    )
    said = error_of(capsys, "--app", app(tmp_path, text))
    assert "a function may call itself: other > more > other" in said
    assert "call path: ember_cortexm_reset > ember_cortexm_start > main" in said


def test_an_unknown_frame_of_an_application_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (
        "static __attribute__((noinline)) int other(int n)"
        " { volatile char b[n + 1]; b[n] = 1; return b[0]; }\n"
    )
    said = error_of(capsys, "--app", app(tmp_path, text))
    assert "the stack use of 'other' is unknown" in said


def test_a_stated_stack_takes_the_place_of_a_proof(tmp_path: Path) -> None:
    text = (
        "static __attribute__((noinline)) int other(int n)"
        " { volatile char b[n + 1]; b[n] = 1; return b[0]; }\n"
    )
    options = Options(app=app(tmp_path, text), stack=3000)
    stack = build(MLP, M4, options=options).certificate["stack"]
    assert (stack["reserved"], stack["bound"]) == (3000, None)
    assert "the stack use of 'other' is unknown" in stack["unproven"]


def test_a_stack_below_the_bound_names_the_deepest_calls(
    capsys: pytest.CaptureFixture[str],
) -> None:
    bound = build(MLP, M4).certificate["stack"]
    said = error_of(capsys, "--stack", "1024")
    assert f"--stack 1024 is {bound['bound'] + 68 - 1024:,} bytes less" in said
    assert f"main {bound['path'][2]['bytes']} > " in " ".join(said.split())
    assert build(MLP, M4, options=Options(stack=4096)).plan["stack"] == 4096


def grown(text: str) -> Callable[[LinkInputs, Path, Path], None]:
    """Objects.link() with another object, of which nobody was told."""
    link = LinkInputs.link

    def made(self: LinkInputs, firmware: Path, script: Path) -> None:
        source = firmware.with_name("more.c")
        source.write_text(text)
        (more,) = self.libs.compile([source], firmware.parent)
        link(LinkInputs(self.libs, (*self.files, more), None, None), firmware, script)

    return made


def test_a_section_that_grew_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = '__attribute__((section(".bss.ember_marks"))) char grown[64];\n'
    monkeypatch.setattr(LinkInputs, "link", grown(text))
    said = error_of(capsys)
    assert ".ember_marks (bss) has 96 bytes in data, but 32 were planned" in said


def test_a_section_nobody_planned_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    link = LinkInputs.link

    def made(self: LinkInputs, firmware: Path, script: Path) -> None:
        text = script.read_text()
        more = "SECTIONS\n{\n  .more (NOLOAD) : { . += 48; } > data :NONE\n"
        script.write_text(text.replace("SECTIONS\n{\n", more))
        link(self, firmware, script)

    monkeypatch.setattr(LinkInputs, "link", made)
    said = error_of(capsys)
    assert ".more takes 48 bytes of data, but none were planned" in said


def test_a_frame_that_is_another_in_the_image_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known: list[CallGraph] = []
    compare = image.differences

    def noted(graph: CallGraph, firmware: Path) -> list[str]:
        known.append(graph)
        return compare(graph, firmware)

    monkeypatch.setattr(image, "differences", noted)
    built = build(MLP, M4, options=Options(app=None, stack=8192))
    (graph,) = known
    file = elf.read(built.firmware)
    start = file.address("main") & ~1
    code = next(section for section in file.sections if section.name == ".text")
    at = code.offset + start - code.address
    data = bytearray(built.firmware.read_bytes())
    while data[at + 1] != 0xB0 or not data[at] & 0x80:  # sub sp, #..
        at += 2
    data[at] += 1
    built.firmware.write_bytes(data)
    (problem,) = compare(graph, built.firmware)
    assert problem.startswith("main uses ")


def test_a_run_above_the_bound_is_an_error() -> None:
    built = build(MLP, M4)
    built.certificate["stack"]["bound"] = 100
    with pytest.raises(SdkError, match="more than its bound of 100"):
        run.run(built, inputs.zeros(built.methods[0]), trace=False)
