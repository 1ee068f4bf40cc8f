"""`ember profile`: nodes inside of delegates have rows of their own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from committed_cases import path_of

from ember import cli

pytestmark = [pytest.mark.qemu, pytest.mark.slow]


@pytest.fixture(autouse=True)
def _in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def profiled(name: str, board: str, *options: str) -> dict[str, Any]:
    words = ["profile", str(path_of(name)), "--board", board, "--json", "profile.json"]
    assert cli.main([*words, *options]) == 0
    facts: dict[str, Any] = json.loads(Path("profile.json").read_text())
    return facts


@pytest.mark.parametrize(
    ("name", "macs", "calls"),
    [
        ("xnnpack_mlp_qd8", 64 * 128 + 128 * 10, 2),
        ("xnnpack_resnet8_static", 864_416, 10),
    ],
)
@pytest.mark.parametrize("board", ["qemu-a64", "mps2-an386"])
def test_what_delegates_do_adds_up(
    name: str, macs: int, calls: int, board: str, capsys: pytest.CaptureFixture[str]
) -> None:
    facts = profiled(name, board)
    rows = facts["nodes"]
    within = [row for row in rows if row["inside"] is not None]
    products = [row for row in within if row["macs"]]
    assert len(products) == calls
    assert sum(row["macs"] for row in within) == macs
    assert all(row["kernels"] and row["instructions"] > 0 for row in products)
    # Marks around nodes move the whole by a few instructions each.
    whole = sum(row["instructions"] for row in rows)
    assert abs(whole - facts["execute"]) < 40 * (len(within) + 2)
    rest = [row["instructions"] for row in rows if row["name"] == "XnnpackBackend"]
    assert 0 < sum(rest) < whole
    assert (
        f"{products[0]['nodes'][0]}.{products[0]['inside']}" in capsys.readouterr().out
    )


def test_cycles_of_nodes_inside() -> None:
    facts = profiled("xnnpack_mlp_qd8", "qemu-a64", "--cycles")
    within = [row for row in facts["nodes"] if row["inside"] is not None]
    assert within
    assert all(row["cycles"] > 0 for row in within if row["instructions"])


def test_runs_have_them_too(tmp_path: Path) -> None:
    words = ["run", str(path_of("xnnpack_mlp_qd8")), "--board", "qemu-a64"]
    assert cli.main([*words, "--json", "run.json"]) == 0
    nodes = json.loads(Path("run.json").read_text())["nodes"]
    within = [inside for node in nodes for inside in node["inside"]]
    assert {"FullyConnected", "Convert"} <= {inside["op"] for inside in within}
    assert all(inside["executions"] == 1 for inside in within)
