"""Networks of kinds that people deploy -> programs in int8 that pass their tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ember import cli

pytestmark = [pytest.mark.export, pytest.mark.long]

pytest.importorskip("torch", reason="pip install '.[export]'")
import int8_simulated  # noqa: E402
from int8_networks import NETWORKS  # noqa: E402

MOST_LOST = 10  # dB below plain quantisation; the aim is 1

FILE = """
from int8_networks import NETWORKS

model, calibration_inputs = NETWORKS[{name!r}]()
example_inputs = calibration_inputs[-1]
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("capsys")
@pytest.mark.parametrize("name", NETWORKS)
def test_products_are_in_int8(name: str) -> None:
    Path("net.py").write_text(FILE.format(name=name))
    words = ["net.py", "--board", "mps2-an386", "--quantize", "int8"]
    assert cli.main(["export", *words, "--json", "facts.json"]) == 0
    facts: dict[str, Any] = json.loads(Path("facts.json").read_text())
    macs = facts["integers"]["macs"]
    assert macs["integer"] >= 0.97 * macs["all"] > 0
    ranges = facts["ranges"]
    assert ranges["snr_db"][ranges["method"]] > plain(name) - MOST_LOST
    assert cli.main(["test", "net.bpte", "--board", "host"]) == 0


def plain(name: str) -> float:
    """The signal-to-noise ratio, in dB, of a network whose layers are quantised by the
    least and the largest number."""
    import torch

    model, samples = NETWORKS[name]()
    with torch.no_grad():
        exact = [torch.utils._pytree.tree_leaves(model(*x)) for x in samples]
    given = int8_simulated.outputs(model, samples, samples)
    return int8_simulated.ratio_db(exact, given)
