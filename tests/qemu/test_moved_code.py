"""`memory: {code: ..}`: kernels run in another memory, with the same results."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from committed_cases import path_of

from ember import boards, cli
from ember.toolchain import elf

M55 = path_of("int8_ds_cnn_small_m55")
M4 = path_of("int8_ds_cnn_small_m4")
K = 1024
KERNELS = {  # that M55 calls
    "dequantize_per_tensor_f32_mve",
    "pad_s8",
    "quantize_per_tensor_f32_mve",
    "quantized_avg_pool2d_mve",
    "quantized_conv2d_mve",
    "quantized_depthwise_conv2d_mve",
    "quantized_linear_mve",
    "scratch",
}
pytestmark = pytest.mark.qemu

# The first 64 K of the tightly coupled memory are the flash's here, the rest is code's.
SPLIT: list[dict[str, Any]] = [
    {"name": "itcm", "base": 0x10000, "size": 448 * K, "access": "rwx", "kind": "tcm"},
    {"name": "boot", "base": 0, "size": 64 * K, "access": "rx", "kind": "tcm"},
]
HOLDS = {"itcm": ["kernels"], "boot": ["vectors"]}


@pytest.fixture(autouse=True)
def _in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def facts_of(memory: boards.Memory) -> dict[str, Any]:
    cycles = {"read_cycles", "write_cycles", "fetch_cycles"}
    return memory.model_dump(mode="json", exclude_none=True, exclude=cycles)


def board_like(like: str, changes: dict[str, Any], traced: tuple[int, int]) -> str:
    """A board whose emulator notes what it executes in `traced`, beside its file."""
    base = boards.load(like)
    memories = [facts_of(memory) for memory in base.memories]
    memories = [changes.get(memory["name"], [memory]) for memory in memories]
    log = Path("executed").absolute()
    start, size = traced
    filtered = [
        "-d",
        "exec,nochain",
        "-dfilter",
        f"{start:#x}+{size:#x}",
        "-D",
        str(log),
    ]
    runner = base.runner.model_dump(mode="json", exclude_none=True)
    runner["args"] = [*runner["args"], *filtered]
    facts = {"name": "mine", "like": like, "chip": like, "runner": runner}
    facts["memories"] = [memory for group in memories for memory in group]
    Path("mine.yaml").write_text(yaml.safe_dump(facts))
    return str(Path("mine.yaml").absolute())


def m55_board(size: int = 448 * K) -> str:
    (bram,) = (o for o in boards.load("mps3-an547").memories if o.name == "bram")
    split = [memory | {"holds": HOLDS[memory["name"]]} for memory in SPLIT]
    split[0]["size"] = size
    flash = facts_of(bram) | {"kind": "flash"}
    return board_like(
        "mps3-an547", {"itcm": split, "bram": [flash]}, (0x10000, 448 * K)
    )


def m4_board() -> str:
    """Its kernels run further from flash than an instruction can branch."""
    (far,) = (o for o in boards.load("mps2-an386").memories if o.name == "psram")
    facts = facts_of(far) | {"access": "rwx"}
    facts["holds"] = [*facts["holds"], "kernels"]
    return board_like("mps2-an386", {"psram": [facts]}, (0x21000000, 16 * K * K))


def moved(memory: str, *kernels: str) -> None:
    rule = {"memory": {"code": {memory: list(kernels)}}}
    Path("ember.yaml").write_text(yaml.safe_dump(rule))


def ran(capsys: pytest.CaptureFixture[str], *words: str | Path) -> str:
    """The outputs of a run, as text."""
    status = cli.main([str(word) for word in ("run", *words, "--json", "-")])
    told = capsys.readouterr()
    assert status == 0, told.err
    return json.dumps(json.loads(told.out)["outputs"])


def executed() -> set[int]:
    addresses = re.findall(r"\[[0-9a-f]+/([0-9a-f]+)/", Path("executed").read_text())
    return {int(address, 16) for address in addresses}


@pytest.mark.parametrize("more", [(), ("--prepared",)])
def test_kernels_run_in_tcm_with_the_same_results(
    capsys: pytest.CaptureFixture[str], more: tuple[str, ...]
) -> None:
    board = m55_board()
    before = ran(capsys, M55, "--board", board, "--out", "before", *more)
    assert not executed()
    moved("itcm", "*conv2d*")
    assert ran(capsys, M55, "--board", board, "--out", "after", *more) == before
    firmware = elf.read(Path("after/5-firmware/firmware.elf"))
    for kernel in ("quantized_conv2d_mve", "quantized_depthwise_conv2d_mve"):
        symbol = firmware.symbol(f"ember_run_{kernel}")
        assert symbol is not None
        assert symbol.address & ~1 in executed()
    (section,) = (o for o in firmware.sections if o.name == ".ember_code.itcm")
    facts = json.loads(Path("after/5-firmware/certificate.json").read_text())
    (row,) = (entry for entry in facts["rows"] if entry["purpose"] == "code of kernels")
    assert (row["memory"], row["linked"]) == ("itcm", section.size)


def test_kernels_may_be_further_away_than_a_branch_reaches(
    capsys: pytest.CaptureFixture[str],
) -> None:
    board = m4_board()
    before = ran(capsys, M4, "--board", board, "--out", "before")
    moved("psram", "*")
    assert ran(capsys, M4, "--board", board, "--out", "after") == before
    assert executed()
    names = {
        symbol.name
        for symbol in elf.read(Path("after/5-firmware/firmware.elf")).symbols
    }
    assert "__memcpy_veneer" in names


def test_an_unknown_kernel_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    moved("psram", "packed_conv2d_s8_dps")
    assert cli.main(["build", str(M4), "--board", m4_board()]) == 1
    said = " ".join(capsys.readouterr().err.split())
    assert "no kernel packed_conv2d_s8_dps (did you mean packed_conv2d_s8_dsp?)" in said


@pytest.mark.parametrize(
    ("memory", "told"),
    [("fast", "has no memory fast"), ("data", "data does not hold code; psram, code")],
)
def test_a_memory_that_runs_no_code_is_told(
    capsys: pytest.CaptureFixture[str], memory: str, told: str
) -> None:
    moved(memory, "*")
    assert cli.main(["build", str(M4), "--board", m4_board()]) == 1
    assert told in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(("board", "memory"), [("qemu-a64", "ram"), ("host", "ram")])
def test_a_board_that_runs_code_from_one_memory_is_told(
    board: str, memory: str, capsys: pytest.CaptureFixture[str]
) -> None:
    moved(memory, "*")
    model = path_of("model_mlp_small")
    assert cli.main(["build", str(model), "--board", board]) == 1
    said = " ".join(capsys.readouterr().err.split())
    assert f"all code of {board} runs from one memory" in said
    assert "leave `code` out of ember.yaml" in said


@pytest.mark.broad
def test_too_little_room_is_told_in_bytes(capsys: pytest.CaptureFixture[str]) -> None:
    moved("itcm", "*conv2d*")
    assert cli.main(["build", str(M55), "--board", m55_board(2 * K)]) == 1
    said = " ".join(capsys.readouterr().err.split())
    assert re.search(
        r"memory itcm needs [\d,]+ bytes, [\d,]+ more than the 2,048", said
    )
    assert "code of kernels" in said


@pytest.mark.broad
def test_the_kernels_to_leave_out_are_named(
    capsys: pytest.CaptureFixture[str],
) -> None:
    board = m55_board(6 * K)
    moved("itcm", "*")
    assert cli.main(["build", str(M55), "--board", board]) == 1
    said = " ".join(capsys.readouterr().err.split())
    told = re.search(r"hint: with ([^:]*) left out of itcm under `code:`", said)
    assert told is not None, said
    assert re.search(r"bytes less of itcm, [^:]* it fits", said)
    left_out = told[1].split(", ")
    moved("itcm", *(name for name in KERNELS if name not in left_out))
    assert 0 < len(left_out) < len(KERNELS)
    assert cli.main(["build", str(M55), "--board", board]) == 0


# ---- ember plan ----------------------------------------------------------------------


def planned(*words: str | Path) -> dict[str, Any]:
    wanted = [str(word) for word in ("plan", *words, "--json", "plan.json")]
    assert cli.main(wanted) == 0
    facts: dict[str, Any] = json.loads(Path("plan.json").read_text())
    return facts


def row_of_code(facts: dict[str, Any]) -> dict[str, Any]:
    rows = facts["traffic"]["placements"]
    (row,) = (placement for placement in rows if placement["name"] == "code of kernels")
    assert isinstance(row, dict)
    return row


def test_a_plan_says_what_code_costs_and_what_moving_it_saves(
    capsys: pytest.CaptureFixture[str],
) -> None:
    board = m55_board()
    facts = planned(M55, "--board", board)
    row = row_of_code(facts)
    assert (row["memory"], row["elsewhere"]) == ("bram", {"itcm": 0})
    kernels = facts["code"]["kernels"]
    assert {kernel["kernel"] for kernel in kernels} == KERNELS
    assert facts["code"]["cycles"] == pytest.approx(row["cycles"], abs=len(KERNELS))
    (gain,) = (entry for entry in facts["gains"] if entry["name"] == row["name"])
    assert (gain["memory"], gain["to"], gain["lacking"]) == ("bram", "itcm", 0)
    assert gain["saved"] == gain["cycles"] == row["cycles"] > 0
    assert gain["rule"] in capsys.readouterr().out

    Path("ember.yaml").write_text(yaml.safe_dump(yaml.safe_load(gain["rule"])))
    after = planned(M55, "--board", board)
    assert row_of_code(after)["memory"] == "itcm"
    assert after["code"]["cycles"] == 0
    used = {memory["name"]: memory["used"] for memory in after["memories"]}
    assert used["itcm"] == gain["bytes"] == row_of_code(after)["bytes"]


def test_more_of_a_memory_has_room_for_more_code(
    capsys: pytest.CaptureFixture[str],
) -> None:
    facts = planned(M55, "--board", m55_board(4 * K), "--what-if", "itcm=+16K")
    (gain,) = (entry for entry in facts["gains"] if entry["name"] == "code of kernels")
    assert 0 < gain["saved"] < gain["cycles"]
    assert gain["lacking"] == gain["bytes"] - 4 * K
    tried = facts["what_if"]
    assert tried["code_now"] == gain["cycles"] - gain["saved"]
    assert tried["code"] == 0
    said = " ".join(capsys.readouterr().out.split())
    assert f"0 cycles of waiting for code instead of {tried['code_now']:,}" in said
    assert "--what-if itcm=+" in said


@pytest.mark.parametrize("model", [M4, path_of("model_ds_cnn_small")])
def test_the_estimate_is_near_the_cycles_of_the_emulated_run(model: Path) -> None:
    """docs/memory.md: half to twice of what `ember profile --cycles` says."""
    base = boards.load("mps2-an386")
    memories = [memory.model_dump(exclude_none=True) for memory in base.memories]
    for memory in memories:
        memory["holds"] = list(memory["holds"])
    code, data = (
        next(memory for memory in memories if memory["name"] == name)
        for name in ("code", "data")
    )
    code["fetch_cycles"] = {8: 6}
    data["access"] = "rwx"
    data["holds"].append("kernels")
    described: dict[str, Any] = {"name": "slow", "like": "mps2-an386"}
    described |= {"chip": "mps2-an386", "memories": memories}
    Path("slow.yaml").write_text(yaml.safe_dump(described))
    board = str(Path("slow.yaml").absolute())
    facts = planned(model, "--board", board)
    words = ["profile", str(model), "--board", board, "--cycles", "--json", "p.json"]
    assert cli.main(words) == 0
    nodes = json.loads(Path("p.json").read_text())["nodes"]
    waited = sum(node["board_cycles"] - node["cycles"] for node in nodes)
    assert waited / 2 < facts["code"]["cycles"] < 2 * waited
