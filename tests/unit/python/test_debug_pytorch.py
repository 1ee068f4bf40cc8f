"""`ember debug --against pytorch`: PyTorch itself judges nodes."""

from __future__ import annotations

import json
import sys
from importlib.metadata import version
from pathlib import Path

import planted
import pytest
from committed_cases import path_of

from ember import cli


@pytest.mark.export
@pytest.mark.parametrize(
    ("case", "least"),
    [
        ("model_lenet_small", 1.0),
        ("int8_resnet8_small_m4", 1.0),
        ("model_lstm_small", 0.9),
        ("bundle_stream_int8", 0.5),
    ],
)
def test_pytorch_judges_most_calls(case: str, least: float, tmp_path: Path) -> None:
    facts = tmp_path / "facts.json"
    words = ["debug", str(path_of(case)), "--board", "host", "--against", "pytorch"]
    assert cli.main([*words, "--json", str(facts)]) == 0
    report = json.loads(facts.read_text())
    assert report["first"] is None
    assert report["against"] == "pytorch"
    known, every = report["judged"]
    # Its average pooling has an argument that the PyTorch of 1.4 does not know.
    older = case == "int8_resnet8_small_m4" and version("executorch") < "1.5"
    assert known >= least * every - older > 0


@pytest.mark.export
@pytest.mark.parametrize(
    ("case", "op", "kernel", "fault", "instruction"),
    [
        ("special_scan_cell", "aten::add.out", "add_f32", "rounding", 8),
        ("model_lenet_small", "aten::_softmax.out", "softmax_f32", "scratch", 11),
        (
            "int8_resnet8_small_m4",
            "cortex_m::quantized_conv2d.out",
            "quantized_conv2d",
            "stride",
            1,
        ),
    ],
)
def test_pytorch_names_a_planted_fault(
    case: str, op: str, kernel: str, fault: str, instruction: int, tmp_path: Path
) -> None:
    folder = planted.write(tmp_path / "kernels", op, kernel, fault)
    facts = tmp_path / "facts.json"
    words = ["debug", str(path_of(case)), "--board", "host", "--against", "pytorch"]
    words += ["--kernels", str(folder), "--json", str(facts)]
    assert cli.main(words) == 1
    first = json.loads(facts.read_text())["first"]
    assert (first["instruction"], first["operator"]) == (instruction, op)


def test_pytorch_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    case = str(path_of("model_lenet_small"))
    assert cli.main(["debug", case, "--board", "host", "--against", "pytorch"]) == 1
    assert "pip install 'ember[export]'" in capsys.readouterr().err
