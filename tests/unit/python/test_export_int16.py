# SPDX-License-Identifier: Apache-2.0
"""`ember export --quantize int16x8`: int16 activations with int8 weights."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from exporting import written

from ember import cases, cli
from ember.export.cortex_m import int16

LAYER = "self.a = nn.Linear(12, 9)"


@pytest.fixture
def torch() -> Any:
    return pytest.importorskip("torch", reason="pip install '.[export]'")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def exported(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    code = cli.main(["export", *words, "--quantize", "int16x8", "--json", "-"])
    printed = capsys.readouterr()
    assert code == 0, printed.err
    facts: dict[str, Any] = json.loads(printed.out)
    return facts


def operators_of(file: str) -> list[str]:
    case = cases.read(cases.Found("wide", Path(file)))
    [method] = [
        candidate for candidate in case.program.methods if candidate.name == "forward"
    ]
    return [operator.full_name for operator in method.operators]


def passes_on_the_host(file: str) -> bool:
    return cli.main(["test", file, "--board", "host"]) == 0


@pytest.mark.export
@pytest.mark.usefixtures("torch")
def test_layers_and_what_is_between_them_are_int16(capsys: Any) -> None:
    layers = (
        "self.a = nn.Conv2d(3, 8, 3, stride=2, padding=1)\n"
        "        self.b = nn.Conv2d(8, 8, 3, padding=1, groups=8)\n"
        "        self.c = nn.Conv2d(8, 20, 1)\n"
        "        self.e = nn.Conv2d(20, 20, 3, padding=1, groups=4, bias=False)\n"
        "        self.d = nn.Linear(40, 5, bias=False)"
    )
    forward = (
        "x = F.relu6(self.b(self.a(x).relu()))\n"
        "        x = self.c(x).relu()\n"
        "        x = (x + self.e(x)) * torch.sigmoid(x)\n"
        "        x = F.avg_pool2d(F.max_pool2d(F.pad(x, (1, 1)), 2), 2)\n"
        "        x = torch.cat([x, x.clamp(-0.5, 0.5)], 1)\n"
        "        return self.d(x.flatten(1))"
    )
    file = written(layers, forward, "torch.randn(1, 3, 8, 8)")
    facts = exported(capsys, file, "--board", "mps2-an386", "-o", "wide.bpte")
    weights = 8 * 27 + 8 * 9 + 20 * 8 + 20 * 45 + 40 * 5
    assert facts["notes"] == [f"weights in int8: {weights:,} bytes, all there are"]
    assert (
        facts["distance"] < 0.02
    )  # only weights in int8; int8 activations are at 0.05
    assert set(operators_of("wide.bpte")) == {
        "aten::cat.out",
        "aten::clamp.out",
        "aten::constant_pad_nd.out",
        "aten::max_pool2d_with_indices.out",
        "cortex_m::dequantize_per_tensor.out",
        "cortex_m::quantize_per_tensor.out",
        "ember::quantized_add_int16.out",
        "ember::quantized_avg_pool2d_int16.out",
        "ember::quantized_conv2d_int16.out",
        "ember::quantized_depthwise_conv2d_int16.out",
        "ember::quantized_linear_int16.out",
        "ember::quantized_mul_int16.out",
        "ember::quantized_table_int16.out",
    }
    assert passes_on_the_host("wide.bpte")


@pytest.mark.export
@pytest.mark.usefixtures("torch")
@pytest.mark.parametrize(
    "function",
    [
        *("torch.sigmoid", "torch.tanh", "F.silu", "F.hardsigmoid", "F.hardswish"),
        *("F.gelu", "F.elu", "F.leaky_relu"),
    ],
)
def test_functions_of_one_number_are_tables(capsys: Any, function: str) -> None:
    file = written("pass", f"return {function}(x)", "torch.linspace(-6, 6, 200)")
    facts = exported(capsys, file, "--board", "mps2-an386", "-o", "wide.bpte")
    assert facts["distance"] < 0.005
    assert "ember::quantized_table_int16.out" in operators_of("wide.bpte")
    assert passes_on_the_host("wide.bpte")


@pytest.mark.export
@pytest.mark.usefixtures("torch")
def test_what_has_no_kernel_stays_float_in_between(capsys: Any) -> None:
    layers = "self.a = nn.Linear(12, 9)\n        self.b = nn.Linear(9, 4)"
    forward = "return torch.softmax(self.b(F.layer_norm(self.a(x), (9,))), 1)"
    file = written(layers, forward, "torch.randn(3, 12)")
    facts = exported(capsys, file, "--board", "mps2-an386", "-o", "wide.bpte")
    assert facts["distance"] < 0.02
    operators = operators_of("wide.bpte")
    assert operators.count("ember::quantized_linear_int16.out") == 1
    assert "aten::native_layer_norm.out" in operators
    assert passes_on_the_host("wide.bpte")


@pytest.mark.export
@pytest.mark.usefixtures("torch")
def test_edges_may_stay_int16(capsys: Any) -> None:
    file = written(LAYER, "return self.a(x)", "torch.randn(3, 12)")
    words = [file, "--board", "mps2-an386", "-o", "wide.bpte", "--io", "int16"]
    facts = exported(capsys, *words)
    assert facts["interface"][0]["dtype"] == "int16"
    assert facts["interface"][0]["zero_point"] == 0
    assert operators_of("wide.bpte") == ["ember::quantized_linear_int16.out"]
    assert passes_on_the_host("wide.bpte")


@pytest.mark.export
@pytest.mark.usefixtures("torch")
def test_a_model_of_other_operators_is_refused(capsys: Any) -> None:
    file = written("pass", "return torch.cumsum(x, 1)", "torch.randn(3, 12)")
    words = ["export", file, "--board", "mps2-an386", "-o", "wide.bpte"]
    assert cli.main([*words, "--quantize", "int16x8"]) == 1
    assert "nothing can be quantised" in capsys.readouterr().err
    assert not Path("wide.bpte").exists()


@pytest.mark.export
@pytest.mark.usefixtures("torch")
def test_a_sum_that_cancels_is_refused(capsys: Any) -> None:
    forward = "return x * 1.0 + x * -0.99999"
    file = written("pass", forward, "torch.linspace(-1, 1, 12)")
    words = ["export", file, "--board", "mps2-an386", "-o", "wide.bpte"]
    assert cli.main([*words, "--quantize", "int16x8"]) == 1
    assert "too small beside what it adds for int16" in capsys.readouterr().err
    assert not Path("wide.bpte").exists()


@pytest.mark.export
def test_the_edges_are_named_as_the_activations_are(torch: Any, capsys: Any) -> None:
    file = written(LAYER, "return self.a(x)", "torch.randn(3, 12)")
    words = ["export", file, "--board", "mps2-an386", "--quantize", "int16x8"]
    assert cli.main([*words, "--io", "int8"]) == 2
    assert "--io int8 needs --quantize int8 or int4w8a" in capsys.readouterr().err


@pytest.mark.export
@pytest.mark.parametrize("bias", [0.0, 1.0, 1e6])
def test_sums_fit_int32_for_any_input(torch: Any, bias: float) -> None:
    weights = torch.randint(-127, 128, (5, 3000), dtype=torch.int8)
    weights[1] //= 16
    weights[2] = 0
    scales, step = torch.full((5,), 1e-4), 1e-4
    given = torch.full((5,), bias)
    whole, fitted, biases = int16.fitted(weights, scales, given, step)
    reach = whole.double().abs().sum(1) * 32768 + biases.double().abs()
    assert (reach < 1 << 31).all()
    # what does not reach further keeps its scale
    if bias <= 1:
        assert torch.equal(whole[1], weights[1])
        assert fitted[1] == scales[1].double()
    real = whole.double() * fitted[:, None]
    exact = weights.double() * scales.double()[:, None]
    assert ((real - exact).abs() <= fitted[:, None] / 2 * (1 + 1e-9)).all()
    assert torch.allclose(biases * fitted * step, given.double(), rtol=1e-6)
