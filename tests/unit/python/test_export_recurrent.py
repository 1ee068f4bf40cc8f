# SPDX-License-Identifier: Apache-2.0
"""`ember export --quantize int8`: LSTM, GRU and SVDF as one operator each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from exporting import written

from ember import cases, cli
from ember.program import KernelCall, Tensor

pytestmark = pytest.mark.export


@pytest.fixture(autouse=True)
def torch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)
    return pytest.importorskip("torch", reason="pip install '.[export]'")


def exported(
    capsys: pytest.CaptureFixture[str], layers: str, forward: str, inputs: str
) -> dict[str, Any]:
    """What the command says, once the program has given PyTorch's bits on the host."""
    words = [written(layers, forward, inputs), "--board", "mps2-an386"]
    code = cli.main(
        ["export", *words, "-o", "net.bpte", "--quantize", "int8", "--json", "-"]
    )
    printed = capsys.readouterr()
    assert code == 0, printed.err
    facts: dict[str, Any] = json.loads(printed.out)
    assert cli.main(["test", "net.bpte", "--board", "host"]) == 0
    return facts


def operators(file: str = "net.bpte") -> list[str]:
    """Of all calls of a program."""
    case = cases.read(cases.Found("net", Path(file)))
    [method] = [method for method in case.program.methods if method.name == "forward"]
    return [
        method.operators[call.op_index].full_name
        for chain in method.chains
        for call in chain.instructions
        if isinstance(call, KernelCall)
    ]


KEPT_LSTM = (
    "self.register_buffer('h', torch.zeros(2, 1, 12))\n"
    "        self.register_buffer('c', torch.zeros(2, 1, 12))\n"
    "        self.rnn = nn.LSTM(8, 12, 2)"
)
GO_ON_LSTM = (
    "y, (h, c) = self.rnn(x, (self.h, self.c))\n"
    "        self.h.copy_(h)\n"
    "        self.c.copy_(c)\n"
    "        return y"
)
KEPT_GRU = (
    "self.register_buffer('h', torch.zeros(1, 1, 12))\n        self.rnn = nn.GRU(8, 12)"
)
GO_ON_GRU = "y, h = self.rnn(x, self.h)\n        self.h.copy_(h)\n        return y"


@pytest.mark.parametrize(
    ("layer", "forward", "inputs", "count"),
    [
        ("self.rnn = nn.LSTM(8, 12)", "return self.rnn(x)[0]", "5, 2, 8", 1),
        (
            "self.rnn = nn.LSTM(8, 12, 2, batch_first=True)",
            "return self.rnn(x)[0][:, -1]",
            "2, 5, 8",
            2,
        ),
        (
            "self.rnn = nn.LSTM(8, 12, bias=False, bidirectional=True)",
            "return self.rnn(x)[0]",
            "5, 2, 8",
            2,
        ),
        ("self.rnn = nn.LSTM(8, 12)", "return self.rnn(x)[1]", "5, 8", 1),
        (KEPT_LSTM, GO_ON_LSTM, "1, 1, 8", 2),
        ("self.rnn = nn.LSTMCell(8, 12)", "return self.rnn(x)", "3, 8", 1),
        (
            "self.rnn = nn.GRU(8, 12, 2, batch_first=True, bidirectional=True)",
            "return self.rnn(x)[0]",
            "2, 5, 8",
            4,
        ),
        (KEPT_GRU, GO_ON_GRU, "1, 1, 8", 1),
        ("self.rnn = nn.GRUCell(8, 12)", "return self.rnn(x)", "3, 8", 1),
    ],
)
def test_a_layer_is_one_operator(
    capsys: Any, layer: str, forward: str, inputs: str, count: int
) -> None:
    facts = exported(capsys, layer, forward, f"torch.randn({inputs})")
    kind = "lstm" if "LSTM" in layer else "gru"
    calls = operators()
    assert calls.count(f"ember::quantized_{kind}.out") == count
    assert not {"aten::sigmoid.out", "aten::tanh.out", "aten::linear.out"} & set(calls)
    assert facts["notes"][-1].endswith("all there are")
    assert facts["distance"] < 0.1


def test_layers_with_projections_stay_and_are_named(capsys: Any) -> None:
    layers = (
        "self.rnn = nn.LSTM(8, 12, proj_size=5)\n        self.head = nn.Linear(5, 3)"
    )
    forward = "return self.head(self.rnn(x)[0])"
    facts = exported(capsys, layers, forward, "torch.randn(3, 1, 8)")
    said = facts["notes"][0]
    assert said.startswith("lstm at network.py:")
    assert said.endswith("stays in float, step by step: it has projections")
    assert "ember::quantized_lstm.out" not in operators()


SVDF = (
    "from ember.frontends import SVDF\n"
    "        self.a = SVDF(8, 6, 5, rank=2)\n"
    "        self.b = SVDF(6, 4, 3, bias=False)"
)


def test_an_svdf_is_one_operator_whose_state_is_int16(capsys: Any) -> None:
    facts = exported(
        capsys, SVDF, "return self.b(self.a(x).relu())", "torch.randn(1, 8)"
    )
    assert operators().count("ember::quantized_svdf.out") == 2
    assert facts["notes"][-1].endswith("all there are")
    assert facts["distance"] < 0.1
    case = cases.read(cases.Found("net", Path("net.bpte")))
    [method] = [method for method in case.program.methods if method.name == "forward"]
    states = [
        value
        for value in method.values
        if isinstance(value, Tensor) and value.sizes in ((1, 12, 5), (1, 4, 3))
    ]
    assert states and {state.dtype.name for state in states} == {"INT16"}


def test_an_svdf_in_float_is_of_operators_of_aten(capsys: Any) -> None:
    file = written(SVDF, "return self.b(self.a(x))", "torch.randn(1, 8)")
    assert cli.main(["export", file, "-o", "net.bpte"]) == 0, capsys.readouterr().err
    assert all(name.startswith(("aten::", "dim_order")) for name in operators())
    assert cli.main(["test", "net.bpte", "--board", "host"]) == 0


def test_frames_one_by_one_are_those_in_a_row(torch: Any) -> None:
    from ember.frontends import SVDF, reset

    layer = SVDF(3, 4, 5, rank=2, rows=2).eval()
    frames = torch.randn(2, 7, 3)
    with torch.no_grad():
        whole = layer(frames)
        reset(layer)
        single = torch.stack([layer(frame) for frame in frames.unbind(1)], 1)
    torch.testing.assert_close(single, whole)
    layer.train()
    trained = layer(frames)  # from zeros, and nothing is kept
    torch.testing.assert_close(trained, whole)
    trained.sum().backward()
    assert layer.times.grad is not None


def test_whole_numbers_of_svdf_are_near_to_its_own(torch: Any) -> None:
    from ember.export import cortex_m
    from ember.export.calibration import Calibration
    from ember.export.graph import states
    from ember.frontends import SVDF

    torch.manual_seed(5)
    layer = SVDF(16, 12, 10, rank=2).eval()
    samples = [(torch.randn(1, 100, 16),) for _ in range(4)]
    with torch.no_grad():
        graph, _ = cortex_m.quantised(layer, Calibration(samples))
        want = torch.cat([out[0] for out in states.run_of(layer)(samples)])
        given = torch.cat([out[0] for out in states.run_of(graph)(samples)])
    noise = (given - want).square().sum()
    assert 10 * torch.log10(want.square().sum() / noise) > 35


def test_inputs_that_overflow_are_refused(torch: Any) -> None:
    from ember.errors import SdkError
    from ember.export import cortex_m
    from ember.export.calibration import Calibration

    layer = torch.nn.LSTM(64, 8).eval()
    with pytest.raises(SdkError, match="too large for int8: sums overflow"):
        cortex_m.quantised(layer, Calibration([(1e6 * torch.randn(2, 1, 64),)]))


@pytest.mark.usefixtures("capsys")
def test_the_operators_are_the_layers(torch: Any) -> None:
    """Of 200 steps, with weights that fill the range of int8."""
    from ember.export import cortex_m
    from ember.export.calibration import Calibration
    from ember.export.graph import states

    torch.manual_seed(3)
    for kind, least in (("LSTM", 35), ("GRU", 30)):
        layer = getattr(torch.nn, kind)(16, 24).eval()
        samples = [(torch.randn(200, 1, 16),) for _ in range(4)]
        with torch.no_grad():
            graph, notes = cortex_m.quantised(layer, Calibration(samples))
            want = torch.cat([out[0][0] for out in states.run_of(layer)(samples)])
            given = torch.cat([out[0][0] for out in states.run_of(graph)(samples)])
        assert notes == ()
        noise = (given - want).square().sum()
        assert 10 * torch.log10(want.square().sum() / noise) > least


STREAMED = """
import torch
from torch import nn

from ember.frontends import streamed


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(8, 12)

    def forward(self, x):
        return self.rnn(x)[0]


calibration_inputs = [(torch.randn(1, 1, 8),) for _ in range(10)]
example_inputs = calibration_inputs[0]
model = streamed(Network(), *example_inputs)
"""


def test_states_of_a_streamed_lstm_are_integers(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "step.py").write_text(STREAMED)
    words = ["step.py", "--board", "mps2-an386", "-o", "net.bpte"]
    code = cli.main(["export", *words, "--quantize", "int8"])
    assert code == 0, capsys.readouterr().err
    assert cli.main(["test", "net.bpte", "--board", "host"]) == 0
    calls = operators()
    assert calls.count("cortex_m::quantize_per_tensor.out") == 1  # of the input
    assert calls.count("cortex_m::dequantize_per_tensor.out") == 1  # of the output
