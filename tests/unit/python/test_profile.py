"""`ember profile` and `ember compare` of two profiles."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from ember import cli
from ember.cli.reports import runs
from ember.run import profile

pytestmark = pytest.mark.qemu


@pytest.fixture(autouse=True)
def _in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def profiled(model: Path, name: str, *options: str) -> dict[str, Any]:
    words = ["profile", str(model), "--board", "mps2-an386", "--json", name, *options]
    assert cli.main(words) == 0
    facts: dict[str, Any] = json.loads(Path(name).read_text())
    return facts


def test_costs_are_sorted_and_add_up(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    costs = profiled(data / "mlp.pte", "mlp.json")
    for key in ("nodes", "operators"):
        counts = [row["instructions"] for row in costs[key]]
        assert counts == sorted(counts, reverse=True)
        assert sum(row["share"] for row in costs[key]) == pytest.approx(1)
    nodes, operators = costs["nodes"], costs["operators"]
    assert (
        sum(row["macs"] for row in nodes) == sum(row["macs"] for row in operators) > 0
    )
    total = sum(row["instructions"] for row in nodes)
    assert total == pytest.approx(costs["execute"], rel=0.02)
    product = next(row for row in nodes if row["macs"])
    rate = product["macs"] / product["instructions"]
    assert product["macs_per_instruction"] == rate
    shown = capsys.readouterr().out
    assert "MAC/1" in shown
    assert f"{costs['execute']:,}" in shown


def test_bytes_count_each_tensor_once(data: Path) -> None:
    (node,) = profiled(data / "add.pte", "add.json")["nodes"]
    assert node["name"] == "aten::add.out"
    assert node["moved"] == 3 * 6 * 4  # two inputs and an output of (2, 3) floats
    assert node["macs_per_instruction"] is None


def test_two_profiles_side_by_side(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    add, mlp = (profiled(data / f"{name}.pte", name) for name in ("add", "mlp"))
    capsys.readouterr()
    assert cli.main(["compare", "add", "mlp", "--json", "-"]) == 0
    compared = json.loads(capsys.readouterr().out)
    assert compared["execute"] == [add["execute"], mlp["execute"]]
    assert compared["operators"]["aten::add.out"] == [
        add["nodes"][0]["instructions"],
        0,
    ]
    assert cli.main(["compare", "add", "mlp"]) == 0
    assert "A: add on mps2-an386" in capsys.readouterr().out
    same = profile.read(Path("add"))
    assert json.loads(json.dumps(profile.to_json(same))) == add


def test_cycles_stand_beside_instructions(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    slow = profiled(data / "mlp.pte", "slow", "--cycles", "--optimize", "size")
    fast = profiled(data / "mlp.pte", "fast", "--cycles", "--optimize", "speed")
    for costs in (slow, fast):
        assert costs["execute"] < costs["execute_cycles"] < 4 * costs["execute"]
        assert costs["execute_board_cycles"] == costs["execute_cycles"]  # no waits
        nodes, operators = (
            sum(row["cycles"] for row in costs[key]) for key in ("nodes", "operators")
        )
        assert nodes == operators == pytest.approx(costs["execute_cycles"], rel=0.03)
    capsys.readouterr()
    assert cli.main(["compare", "slow", "fast"]) == 0
    shown = capsys.readouterr().out
    assert "cycles, estimated" in shown
    assert shown.splitlines()[0].split() == ["differs", "A", "B"]
    assert ["--optimize", "size", "speed"] in map(str.split, shown.splitlines())
    assert f"{fast['execute_cycles'] / slow['execute_cycles']:.3f}" in shown
    assert cli.main(["compare", "slow", "fast", "--json", "-"]) == 0
    both = [slow["execute_cycles"], fast["execute_cycles"]]
    assert json.loads(capsys.readouterr().out)["execute_cycles"] == both


def test_ember_run_estimates_cycles(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["run", str(data / "mlp.pte"), "--board", "mps2-an386", "--cycles"]
    assert cli.main([*words, "--json", "run"]) == 0
    assert "cycles, estimated, zero wait states" in capsys.readouterr().out
    estimated = json.loads(Path("run").read_text())
    assert estimated["cycles"]["execute"] == estimated["board_cycles"]["execute"] > 0
    assert all(node["cycles"] > 0 for node in estimated["nodes"] if node["executions"])


def test_cycles_of_a_core_without_a_model(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["profile", str(data / "add.pte"), "--board", "mps2-an505", "--cycles"]
    assert cli.main(words) == 1
    assert "no model of cycles for cortex-m33" in capsys.readouterr().err


def test_what_is_no_profile(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("empty.json").write_text("{}")
    assert cli.main(["compare", "empty.json", "empty.json"]) == 1
    assert "empty.json is not a profile" in capsys.readouterr().err
    words = ["profile", str(data / "add.pte"), "--board", "host"]
    assert cli.main(words) == 1
    assert "host cannot count instructions" in capsys.readouterr().err


def table_of(columns: int, cycles: int | None = None) -> str:
    rows = tuple(
        profile.Row(
            name=f"cortex_m::quantized_depthwise_conv2d_{index}.out",
            kernels=(f"cm_depthwise_conv2d_s8_mve_{index}",),
            nodes=(index,),
            instructions=12_345_678,
            macs=9_876_543,
            moved=1_234_567,
            share=0.25,
            cycles=cycles,
            board_cycles=cycles,
        )
        for index in range(3)
    )
    report = profile.Profile("model", "board", "instructions", 1, 2, rows, rows)
    report = replace(report, execute_cycles=cycles, execute_board_cycles=cycles)
    console = Console(file=io.StringIO(), width=columns)
    runs.show_profile(console, report, 10)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


@pytest.mark.parametrize("columns", [60, 80, 120, 200])
def test_narrow_tables_drop_columns(columns: int) -> None:
    shown = table_of(columns)
    assert all(len(line.rstrip()) <= columns for line in shown.splitlines())
    for index in range(3):  # names are whole, and a row is a line
        (line,) = (row for row in shown.splitlines() if f"s8_mve_{index}" in row)
        assert "12,345,678" in line
        (line,) = (row for row in shown.splitlines() if f"conv2d_{index} " in row)
        assert "12,345,678" in line
    named = {60: "MACs, MAC/1, bytes", 80: "bytes"}
    assert columns > 80 or f"no room for {named[columns]}" in shown
    assert columns < 200 or "no room" not in shown
    heads = [line for line in shown.splitlines() if "instructions" in line]
    assert ("bytes" in heads[1]) == (columns >= 120)
    assert ("MAC/1: multiply-accumulates" in shown) == ("MAC/1" in heads[1])


def test_numbers_are_whole_where_names_have_no_room() -> None:
    shown = table_of(60, cycles=98_765_432)
    assert all(len(line.rstrip()) <= 60 for line in shown.splitlines())
    assert shown.count("98,765,432   98,765,432") == 6
