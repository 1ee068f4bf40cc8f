"""Samples -> ranges of integers, by each method, and the one that is kept."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from ember import cli

pytestmark = [pytest.mark.export, pytest.mark.usefixtures("capsys")]

# One input of 65,536 is far from the others, and what it becomes is cut off again.
TAILS = """
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(16, 32), nn.ReLU6(), nn.Linear(32, 4)).eval()


example_inputs = (torch.randn(256, 16),)
calibration_inputs = [(torch.randn(256, 16),) for _ in range(16)]
calibration_inputs[7][0][3, 5] = 500.0
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)


def exported(*words: str, text: str = TAILS) -> dict[str, Any]:
    Path("net.py").write_text(text)
    asked = ["export", "net.py", "--board", "mps2-an386", "--json", "facts.json"]
    assert cli.main([*asked, *words]) == 0
    facts: dict[str, Any] = json.loads(Path("facts.json").read_text())
    return facts


def observed(numbers: Any) -> Any:
    """A graph with an observer that saw some numbers."""
    import torch
    from torchao.quantization.pt2e import HistogramObserver

    observer = HistogramObserver(dtype=torch.int8, qscheme=torch.per_tensor_affine)
    observer(numbers)
    return torch.nn.Sequential(observer)


def error(numbers: Any, method: Any) -> float:
    """Of the numbers as integers, the mean square."""
    import torch

    from ember.export.calibration import ranged

    scale, zero = ranged(observed(numbers), method)[0].calculate_qparams()
    integers = (numbers / scale + zero).round().clamp(-128, 127)
    return float(torch.mean((numbers - (integers - zero) * scale) ** 2))


@pytest.mark.parametrize("method", ["percentile", "mse", "entropy"])
def test_a_rare_number_does_not_widen_the_range(method: str) -> None:
    import torch

    torch.manual_seed(0)
    numbers = torch.randn(100_000)
    numbers[0] = 60.0
    assert error(numbers[1:], method) * 50 < error(numbers, "minmax")


def test_each_method_is_best_where_nothing_is_rare() -> None:
    import torch

    numbers = torch.linspace(-1, 3, 10_000)
    step = 4 / 255
    for method in ("minmax", "mse"):
        assert math.sqrt(error(numbers, method)) == pytest.approx(
            step / math.sqrt(12), rel=0.05
        )


@pytest.mark.parametrize("numbers", [0.0, -2.5, 7.0])
@pytest.mark.parametrize("method", ["minmax", "percentile", "mse", "entropy"])
def test_a_constant_has_a_range(method: str, numbers: float) -> None:
    import torch

    assert error(torch.full((20,), numbers), method) <= (abs(numbers) / 200) ** 2


def test_the_method_with_the_best_outputs_is_kept() -> None:
    ranges = exported("--quantize", "int8")["ranges"]
    ratios = ranges["snr_db"]
    assert list(ratios) == ["minmax", "percentile", "mse", "entropy"]
    assert ratios[ranges["method"]] > max(ratios.values()) - 1
    assert ranges["method"] != "minmax"
    distances = {
        method: exported("--quantize", "int8", "--calibration", method)["distance"]
        for method in ("minmax", ranges["method"])
    }
    assert distances[ranges["method"]] < distances["minmax"]


def test_a_method_is_used_without_measuring() -> None:
    facts = exported("--quantize", "int8", "--calibration", "percentile")
    assert facts["ranges"] == {
        "method": "percentile",
        "snr_db": {},
        "biases_db": None,
    }


SHIFTED = """
import torch
from torch import nn

torch.manual_seed(1)
model = nn.Sequential(nn.Linear(24, 16), nn.ReLU(), nn.Linear(16, 4)).eval()
example_inputs = (torch.rand(8, 24) + 1,)
calibration_inputs = [(torch.rand(8, 24) + 1,) for _ in range(16)]
"""


def test_biases_take_back_what_rounded_weights_shift() -> None:
    facts = exported("--quantize", "int4w8a", text=SHIFTED)
    assert facts["ranges"]["biases_db"] > 3
    few = SHIFTED.replace("range(16)", "range(7)")
    other = exported("--quantize", "int4w8a", text=few)
    assert other["ranges"]["biases_db"] is None  # too few to learn from and to judge
    assert facts["distance"] < other["distance"]


@pytest.mark.parametrize("quantize", ["int16x8"])
def test_widths_without_histograms_have_no_choice(quantize: str) -> None:
    assert exported("--quantize", quantize)["ranges"] is None
