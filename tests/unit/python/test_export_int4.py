# SPDX-License-Identifier: Apache-2.0
"""`ember export --quantize int4w8a`: int8 activations with weights of int4."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from exporting import written

from ember import cases, cli
from ember.export.operators import int4


@pytest.fixture
def torch() -> Any:
    return pytest.importorskip("torch", reason="pip install '.[export]'")


def exported(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    code = cli.main(["export", *words, "--json", "-"])
    printed = capsys.readouterr()
    assert code == 0, printed.err
    facts: dict[str, Any] = json.loads(printed.out)
    return facts


def operators_of(file: str) -> set[str]:
    case = cases.read(cases.Found("narrow", Path(file)))
    [method] = [
        candidate for candidate in case.program.methods if candidate.name == "forward"
    ]
    return {operator.full_name for operator in method.operators}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.export
@pytest.mark.parametrize("count", [1, 4, 5, 8, 9, 31, 32, 33, 45, 64, 100])
def test_rows_come_back_as_they_were_rounded(torch: Any, count: int) -> None:
    weights = torch.randint(-128, 128, (7, count), dtype=torch.int8)
    rows = int4.rounded(weights)
    packed = int4.packed(rows)
    assert packed.shape[1] == (count + 7) // 8 * 4
    assert torch.equal(int4.unpacked(packed, count), rows)
    assert int4.are_int4(rows)


@pytest.mark.export
def test_a_weight_is_rounded_by_at_most_half_a_level(torch: Any) -> None:
    weights = torch.randint(-112, 104, (50, 64), dtype=torch.int8)
    moved = int4.rounded(weights).int() - weights.int()
    assert moved.abs().max() == 8
    second = moved[:, 16:32].float()  # levels that the first half moves
    assert abs(second.mean()) < 1


@pytest.mark.export
@pytest.mark.usefixtures("torch")
def test_layers_have_weights_of_int4_and_depthwise_ones_stay(capsys: Any) -> None:
    layers = (
        "self.a = nn.Conv2d(3, 8, 3, stride=2, padding=1)\n"
        "        self.b = nn.Conv2d(8, 8, 3, padding=1, groups=8)\n"
        "        self.c = nn.Conv2d(8, 20, 1)\n"
        "        self.d = nn.Linear(20, 5, bias=False)"
    )
    forward = (
        "x = F.relu6(self.b(self.a(x).relu()))\n"
        "        return self.d(self.c(x).relu().mean((2, 3)))"
    )
    file = written(layers, forward, "torch.randn(1, 3, 8, 8)")
    words = [file, "--board", "mps2-an386", "-o", "narrow.bpte"]
    facts = exported(capsys, *words, "--quantize", "int4w8a")
    assert facts["notes"] == [
        # rows of 27, 8 and 20 weights, half a byte each, and 9 x 8 of a byte
        "weights in int4: 238 bytes; in int8: 72 bytes, all there are"
    ]
    assert facts["distance"] < 0.2
    assert {
        "ember::quantized_conv2d_int4.out",
        "ember::quantized_linear_int4.out",
        "cortex_m::quantized_depthwise_conv2d.out",
    } <= operators_of("narrow.bpte")
    assert cli.main(["test", "narrow.bpte", "--board", "host"]) == 0
