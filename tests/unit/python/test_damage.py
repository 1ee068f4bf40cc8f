"""`ember export --report`: what quantising does to each layer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ember import cli

# The second convolution's weights for its first input are far larger than the others:
# they take the range of all.
MODEL = """\
import torch

torch.manual_seed(0)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Conv2d(1, 8, 3, padding=1)
        self.norm = torch.nn.BatchNorm2d(8)
        self.second = torch.nn.Conv2d(8, 16, 3, padding=1)
        self.last = torch.nn.Linear(16 * 64, 4)

    def forward(self, x):
        x = torch.relu(self.norm(self.first(x)))
        x = torch.relu(self.second(x))
        return self.last(x.flatten(1))


model = Net().eval()
with torch.no_grad():
    model.first.weight[0] /= 300
    model.first.bias[0] /= 300
    model.second.weight[:, 0] *= 300
example_inputs = (torch.randn(1, 1, 8, 8),)
"""


def report(folder: Path, *words: object) -> Any:
    (folder / "net.py").write_text(MODEL)
    numbers = np.random.default_rng(0)
    np.save(folder / "samples.npy", numbers.standard_normal((6, 1, 8, 8), "float32"))
    np.save(folder / "labels.npy", np.array([0, 1, 2, 3, 0, 1]))
    given = ("--calibrate", folder / "samples.npy", "-o", folder / "net.bpte")
    asked = ("export", folder / "net.py", "--quantize", "int8", *given, *words)
    assert cli.main([str(word) for word in asked]) == 0


@pytest.mark.export
@pytest.mark.slow
@pytest.mark.parametrize("board", ["mps2-an386", "qemu-a64"])
def test_the_layer_that_hurts_most_is_first(tmp_path: Path, board: str) -> None:
    place = tmp_path / "report.json"
    labels = ("--labels", tmp_path / "labels.npy")
    report(tmp_path, "--board", board, "--report", place, *labels)
    facts = json.loads(place.read_text())
    assert facts["samples"] == 6
    assert set(facts["accuracy"]) == {"float", "quantised"}
    worst, *others = facts["layers"]
    assert worst["module"] == "second"
    assert worst["operators"] == "conv2d + relu"
    ratios = [layer["own_snr_db"] for layer in others if layer["own_snr_db"]]
    assert ratios == sorted(ratios)
    assert worst["own_snr_db"] < 20 < ratios[0]
    assert "keep it in float" in worst["advice"]
    assert all(0 <= layer["saturated"] <= 1 for layer in facts["layers"])


@pytest.mark.export
@pytest.mark.slow
def test_the_page_has_a_row_for_each_layer(tmp_path: Path) -> None:
    place = tmp_path / "report.html"
    report(tmp_path, "--board", "mps2-an386", "--report", place)
    page = place.read_text()
    assert "http:" not in page and "https:" not in page
    assert page.index("<td>second</td>") < page.index("<td>first</td>")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--report", "r.txt", "--quantize", "int8"), "write a .html or a .json file"),
        (("--report", "r.json"), "--report needs --quantize int8"),
        (("--labels", "l.npy"), "--labels needs --report"),
    ],
)
def test_what_cannot_be_reported(
    words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["export", "net.py", *words]) != 0
    assert said in capsys.readouterr().err
