"""A model that no small memory holds: split over a board's memories, outputs right."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ember import cases
from ember.cases import inputs
from ember.errors import SdkError
from ember.firmware import Built, Options, build
from ember.firmware import project as projects
from ember.run import run
from ember.toolchain import elf, emulator

pytestmark = [pytest.mark.qemu, pytest.mark.export]
ROOT = Path(__file__).resolve().parents[2]
K = 1024


@pytest.fixture(scope="module")
def mobilenet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """MobileNetV1 0.25 in float32, with PyTorch's outputs."""
    pytest.importorskip("executorch.exir", reason="pip install '.[export]'")
    out = tmp_path_factory.mktemp("corpus")
    subprocess.run(
        [
            *(sys.executable, ROOT / "tools" / "export_corpus.py"),
            *("-k", "^model_mobilenet_v1$", "--out", out),
        ],
        check=True,
        capture_output=True,
        env=os.environ,
    )
    return out / "model_mobilenet_v1"


def built_for(case: Path, board: str, out: Path, rules: str = "") -> Built:
    project = out / "ember.yaml"
    project.write_text(rules)
    options = Options(steering=projects.load(project).steering)
    return build(case, board, out=out / "build", options=options)


def check_outputs(built: Built, case: Path) -> run.RunLog:
    stated = cases.read(cases.Found(case.name, case))
    first = inputs.of_case(case)
    assert first is not None
    log = run.run(built, inputs.lay_out(built.methods[0], first.given))
    for output, want in zip(log.arrays(), stated.runs[0].outputs, strict=True):
        assert isinstance(output, np.ndarray)
        assert isinstance(want, cases.CaseTensor)
        np.testing.assert_allclose(output, want.array, stated.rtol, stated.atol)
    return log


def planned(built: Built) -> dict[str, int]:
    """Bytes of activations by memory."""
    regions = [
        region for region in built.plan["regions"] if region["role"] == "planned"
    ]
    assert len({region["memory"] for region in regions}) == len(regions)
    return {region["memory"]: region["bytes"] for region in regions}


def used(built: Built) -> dict[str, Any]:
    return {memory["name"]: memory["used"] for memory in built.plan["memories"]}


def test_an505_splits_activations_over_32_k_and_4_m(
    mobilenet: Path, tmp_path: Path
) -> None:
    built = built_for(mobilenet, "mps2-an505", tmp_path)
    check_outputs(built, mobilenet)
    sizes = planned(built)
    assert set(sizes) == {"sram", "data"}
    assert 28 * K < used(built)["sram"] <= 32 * K
    assert sizes["data"] > 32 * K
    # A small part of the activations, and most of the accesses.
    traffic = built.plan["traffic"]["memories"]
    assert traffic["sram"]["accessed"] > traffic["data"]["accessed"]


def test_an547_uses_tcm_sram_and_ddr(mobilenet: Path, tmp_path: Path) -> None:
    rules = "memory: {reserve: {dtcm: 300K}, place: {constants: ddr}, align: 32}\n"
    built = built_for(mobilenet, "mps3-an547", tmp_path, rules)
    check_outputs(built, mobilenet)
    assert set(planned(built)) == {"dtcm", "sram"}
    assert used(built)["dtcm"] <= 212 * K
    assert used(built)["ddr"] >= built.plan["constants"]["bytes"]
    assert used(built)["bram"] == used(built)["itcm"] == 0


def test_copies_of_constants_are_right(mobilenet: Path, tmp_path: Path) -> None:
    built = built_for(mobilenet, "mps3-an547", tmp_path)
    log = check_outputs(built, mobilenet)
    assert built.plan["constants"]["copied"] > 64 * K
    assert log.arena == built.sizes["method_arena"]


def counted(built: Built, case: Path) -> dict[str, int]:
    """Bytes that a run accesses in the emulator: of activations, constants, .."""
    program = elf.read(built.firmware)
    places: list[tuple[str, range]] = []
    for region in built.plan["regions"]:
        symbol = program.symbol(region["name"])
        assert symbol is not None
        place = range(symbol.address, symbol.address + region["bytes"])
        places.append((region["role"], place))
    for section in program.sections:
        place = range(section.address, section.address + section.size)
        if section.name.startswith(".ember_model") and place:
            places.append(("weights", place))
        elif section.name == ".ember_stack":
            places.append(("stack", place))
    result = emulator.run(
        built.board, built.firmware, ranges=[place for _, place in places]
    )
    traffic: dict[str, int] = {}
    for (role, _), accesses in zip(places, result.accesses, strict=True):
        traffic[role] = (
            traffic.get(role, 0) + accesses.read_bytes + accesses.written_bytes
        )
    return traffic


@pytest.mark.parametrize("board", ["mps2-an505", "mps3-an547"])
def test_traffic_is_what_the_emulator_counts(
    mobilenet: Path, tmp_path: Path, board: str
) -> None:
    built = built_for(mobilenet, board, tmp_path)
    traffic = counted(built, mobilenet)
    said = built.plan["traffic"]["classes"]
    tensors = said["activations"] + said["inputs"] + said["outputs"]
    assert traffic["planned"] == pytest.approx(tensors, rel=0.25)
    assert traffic["weights"] == pytest.approx(said["constants"], rel=0.25)
    # Rough, but small and hot in either case.
    assert said["stack"] / 3 < traffic["stack"] < 3 * said["stack"]
    assert said["arena"] / 3 < traffic["method"] < 3 * said["arena"]


def test_netduinoplus2_is_refused_with_the_bytes(
    mobilenet: Path, tmp_path: Path
) -> None:
    with pytest.raises(SdkError) as error:
        built_for(mobilenet, "netduinoplus2", tmp_path)
    text = error.value.what
    assert "model_mobilenet_v1 does not fit netduinoplus2" in text
    assert "memory ram needs 3" in text
    assert "more than the 131,072 it has" in text
    assert "planned memory 1 of forward 294,912" in text
