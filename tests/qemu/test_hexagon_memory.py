"""A board of Hexagon with a memory beside the vector unit: scratch is in it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import yaml
from committed_cases import path_of

from ember import boards, paths
from ember.cases import inputs
from ember.firmware import Built, build
from ember.run import run
from ember.toolchain import emulator

pytestmark = [pytest.mark.qemu, pytest.mark.slow, pytest.mark.broad]

_CASE = path_of("int8_ds_cnn_small_m4")
_BASE = 0x3000_0000


def board(folder: Path, size: str) -> str:
    """hexagon-v68 whose scratch and tensors may be in a memory called vtcm."""
    facts = yaml.safe_load((paths.boards() / "hexagon-v68.yaml").read_text())
    facts["name"] = "with-vtcm"
    for memory in facts["memories"]:
        memory["read_cycles"] = 8
        if memory["name"] == "ram":
            memory["holds"] = [x for x in memory["holds"] if x != "temp"]
    vtcm = {"name": "vtcm", "base": _BASE, "size": size, "access": "rw", "kind": "tcm"}
    facts["memories"].append(vtcm | {"holds": ["planned", "temp"]})
    path = folder / "with-vtcm.yaml"
    path.write_text(yaml.safe_dump(facts, sort_keys=False))
    return str(path)


def memories(built: Built) -> dict[str, int]:
    """Bytes of planned tensors, scratch among them, by memory."""
    sizes: dict[str, int] = {}
    for region in built.plan["regions"]:
        if region["role"] == "planned":
            memory = region["memory"]
            sizes[memory] = sizes.get(memory, 0) + region["bytes"]
    return sizes


def outputs(built: Built) -> run.RunLog:
    given = inputs.of_case(_CASE, None)
    assert given is not None
    return run.run(built, inputs.lay_out(built.methods[0], given.given))


def test_scratch_lies_in_the_named_memory_and_results_stay(tmp_path: Path) -> None:
    name = board(tmp_path, "256K")
    if not emulator.available(boards.load(name)):
        pytest.skip("qemu-hexagon is not installed")
    built = build(_CASE, name, out=tmp_path / "out")
    assert list(memories(built)) == ["vtcm"]
    plain = build(_CASE, "hexagon-v68", out=tmp_path / "plain")
    assert list(memories(plain)) == ["ram"]
    log, expected = outputs(built), outputs(plain)
    np.testing.assert_array_equal(log.arrays()[0], expected.arrays()[0])
    # Packets do not tell memories apart; addresses decide which copies are aligned.
    assert log.execute == pytest.approx(expected.execute, rel=1e-3)


def test_what_does_not_fit_lies_in_the_other_memory(tmp_path: Path) -> None:
    name = board(tmp_path, "1K")
    if not emulator.available(boards.load(name)):
        pytest.skip("qemu-hexagon is not installed")
    sizes = memories(build(_CASE, name, out=tmp_path / "out"))
    assert sizes["vtcm"] <= 1024 < sizes["ram"]
