# SPDX-License-Identifier: Apache-2.0
"""Regions of rows in firmware: memory saved in the image, results as without."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from committed_cases import path_of
from row_networks import inception_like, mobilenet_v1, mobilenet_v2, resnet8

from ember import cases, cli

pytestmark = pytest.mark.qemu

BOARD_CASES = Path(__file__).resolve().parents[1] / "boards"
CASE = BOARD_CASES / "int8_ds_cnn_m4.bpte"
BOARDS = {"m4": "mps2-an386", "m55": "mps3-an547"}
WITHOUT_DSP = pytest.param("mps2-an385", marks=pytest.mark.broad)
MOST_INSTRUCTIONS = 1.05  # with rows, of those without
MADE = {
    "resnet8": resnet8(),
    "mobilenet_v1": mobilenet_v1(0.25, 96),
    "mobilenet_v2": mobilenet_v2(0.35, 96),
}
NETWORKS = ("resnet8", "mobilenet", "unet", "unet_smooth", "ds_cnn", "inception")


def run(tmp_path: Path, *words: str) -> dict[str, Any]:
    """The JSON of `ember run` with the inputs of the case."""
    to = tmp_path / "run.json"
    out = ["--out", str(tmp_path / "build"), "--json", str(to)]
    assert cli.main(["run", str(CASE), *words, *out]) == 0
    facts: dict[str, Any] = json.loads(to.read_text())
    return facts


def planned(facts: dict[str, Any], tmp_path: Path, out: str = "build") -> int:
    plan = json.loads((tmp_path / out / "3-plan.json").read_text())
    return int(plan["activations"]["planned"])


@pytest.mark.parametrize("prepared", [(), ("--prepared",)])
def test_results_and_memory_of_firmware(
    prepared: tuple[str, ...], tmp_path: Path
) -> None:
    board = ("--board", "mps2-an386", *prepared)
    (tmp_path / "off").mkdir()
    (tmp_path / "by").mkdir()
    whole = run(tmp_path / "off", *board, "--rows", "off")
    by_rows = run(tmp_path / "by", *board, "--rows", "smallest")
    assert by_rows["outputs"] == whole["outputs"]
    saved = planned(whole, tmp_path / "off") - planned(by_rows, tmp_path / "by")
    assert saved > 6000
    linked = [facts["size"]["arena"] for facts in (whole, by_rows)]
    assert linked[0] - linked[1] > saved - 3000  # states of calls are larger
    assert by_rows["stack"]["used"] <= by_rows["stack"]["bound"]


@pytest.mark.parametrize("core", BOARDS)
def test_rows_cost_few_instructions(core: str, tmp_path: Path) -> None:
    case = BOARD_CASES / f"int8_ds_cnn_{core}.bpte"
    assert_cheap(case, BOARDS[core], tmp_path)


@pytest.mark.broad
@pytest.mark.parametrize("core", BOARDS)
@pytest.mark.parametrize("network", MADE)
def test_rows_of_networks_cost_few_instructions(
    network: str, core: str, tmp_path: Path
) -> None:
    path = tmp_path / f"{network}.pte"
    path.write_bytes(MADE[network].content)
    assert_cheap(path, BOARDS[core], tmp_path)


def assert_cheap(model: Path, board: str, to: Path) -> None:
    whole, by_rows = (executed(model, board, rows, to) for rows in ("off", "smallest"))
    assert by_rows != whole  # there is a region
    assert by_rows <= MOST_INSTRUCTIONS * whole


def executed(model: Path, board: str, rows: str, to: Path) -> int:
    """Instructions of a run."""
    facts = to / f"{rows}.json"
    words = ["profile", str(model), "--board", board, "--rows", rows]
    assert cli.main([*words, "--out", str(to / rows), "--json", str(facts)]) == 0
    return int(json.loads(facts.read_text())["execute"])


def test_profile_shows_a_region_as_one_node(tmp_path: Path) -> None:
    to = tmp_path / "profile.json"
    words = ["profile", str(CASE), "--board", "mps2-an386", "--rows", "smallest"]
    assert cli.main([*words, "--out", str(tmp_path / "build"), "--json", str(to)]) == 0
    facts = json.loads(to.read_text())
    assert "ember::rows.out" in [node["name"] for node in facts["nodes"]]
    nodes = sum(node["instructions"] for node in facts["nodes"])
    assert nodes == pytest.approx(facts["execute"], rel=0.01)


@pytest.mark.parametrize("poison", [(), ("--poison", "0xA5")])
@pytest.mark.parametrize("core", ["m4", "m55"])
def test_images_that_come_row_by_row(core: str, poison: tuple[str, ...]) -> None:
    """Each row in an execution of its own, the outputs of the last one those of the
    whole image; between them, only what the plan keeps is there."""
    cases = [str(path_of(f"int8_{name}_small_{core}")) for name in NETWORKS]
    cases.append(str(path_of("model_resnet8_small")))  # float32
    words = ["--board", BOARDS[core], "--rows", "fed", *poison]
    assert cli.main(["test", *cases, *words]) == 0


@pytest.mark.parametrize("name", ["inception", "unet_smooth"])
@pytest.mark.parametrize("core", ["m4", "m55"])
def test_a_mean_of_rows_and_rows_between_rows(core: str, name: str) -> None:
    board = BOARDS[core]
    case = path_of(f"int8_{name}_small_{core}")
    words = [str(case), "--board", board, "--rows", "smallest"]
    assert cli.main(["test", *words, "--poison", "0xA5"]) == 0


@pytest.mark.parametrize("board", [WITHOUT_DSP, "mps2-an386", "mps3-an547"])
def test_windows_that_share_memory(board: str, tmp_path: Path) -> None:
    """Blocks of branches, with random weights, by each set of kernels."""
    model, image = tmp_path / "blocks.pte", tmp_path / "image.npy"
    model.write_bytes(inception_like(24, 2).content)
    random = np.random.default_rng(5)
    np.save(image, random.integers(-128, 128, (1, 3, 24, 24), np.int8))
    outputs, bytes_planned = [], []
    for rows in ("off", "smallest"):
        to, out = tmp_path / "run.json", tmp_path / rows
        words = ["run", str(model), "--board", board, "--input", str(image)]
        words += ["--rows", rows, "--out", str(out), "--json", str(to)]
        assert cli.main(words) == 0
        outputs.append(json.loads(to.read_text())["outputs"])
        bytes_planned.append(planned({}, out.parent, rows))
    assert outputs[0] == outputs[1]
    assert len(set(outputs[0][0]["data"])) > 10
    assert 3 * bytes_planned[1] < bytes_planned[0]


@pytest.mark.parametrize("board", [WITHOUT_DSP, "mps2-an386", "mps3-an547"])
def test_layers_of_float32(board: str) -> None:
    """With each set of kernels: portable ones, those of the scalar unit, and Helium."""
    words = [
        str(path_of("model_resnet8_small")),
        "--board",
        board,
        "--rows",
        "smallest",
    ]
    assert cli.main(["test", *words, "--poison", "0xA5"]) == 0


def test_one_execution_is_refused_for_an_image_of_rows(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["run", str(CASE), "--board", "mps2-an386", "--rows", "fed"]
    assert cli.main(words) != 0
    assert "one execution has one row of the input" in capsys.readouterr().err


def test_a_model_fits_a_small_board_by_rows_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    board = ("--board", "microbit")
    assert cli.main(["run", str(CASE), *board, "--rows", "off"]) == 1
    assert "does not fit microbit" in capsys.readouterr().err
    facts = run(tmp_path, *board)
    assert facts["status"] == "ok"
    assert all(used["used"] <= used["capacity"] for used in facts["memory"])
    (output,) = facts["outputs"]
    case = cases.read(cases.Found(CASE.stem, CASE))
    (expected,) = case.runs[0].outputs
    assert isinstance(expected, cases.CaseTensor)
    np.testing.assert_array_equal(np.float32(output["data"]), expected.array.ravel())
