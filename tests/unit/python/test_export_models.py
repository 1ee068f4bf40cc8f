"""`ember export` of models as people write them: states, strides, and bad surprises.

Each program is run on the host board: its outputs are PyTorch's, call after call.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from exporting import written

from ember import cli, program
from ember.program import bundle

INT8 = ["--board", "mps3-an547", "--quantize", "int8"]
XNNPACK = ["--backend", "xnnpack"]


@pytest.fixture(autouse=True)
def _in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def exported(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert cli.main(["export", *words, "--json", "facts.json"]) == 0
    facts: dict[str, Any] = json.loads(Path("facts.json").read_text())
    assert cli.main(["test", "network.bpte", "--board", "host"]) == 0
    capsys.readouterr()
    return facts


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert cli.main(["export", *words]) == 1
    assert not Path("network.bpte").exists()
    said = capsys.readouterr().err
    assert "Traceback" not in said
    return said


CELL = "self.cell = nn.GRUCell(6, 8); self.head = nn.Linear(8, 3)"
FILTERS = "self.filters = nn.Conv2d(3, 4, 3)"
IMAGE = "torch.randn(1, 3, 7, 7)"
MODELS = {
    # name: layers, forward, inputs, words, largest difference allowed
    "counts_from_three": (
        "self.register_buffer('a', torch.zeros(2));"
        " self.register_buffer('ab', torch.tensor([3.0, 0.0]))",
        "self.a.add_(x); self.ab.mul_(-2); return self.a + self.ab",
        "torch.ones(2)",
        [],
        0,
    ),
    "assigned_and_given_back": (
        f"{CELL}; self.register_buffer('h', torch.full((1, 8), 0.5))",
        "self.h = self.cell(x, self.h); return self.h",
        "torch.randn(1, 6)",
        [],
        1e-6,
    ),
    "recurrent_in_int8": (
        f"{CELL}; self.register_buffer('h', torch.full((1, 8), 0.5))",
        "self.h = self.cell(x, self.h); return self.head(self.h)",
        "torch.randn(1, 6)",
        INT8,
        0.05,
    ),
    "recurrent_in_int8_for_xnnpack": (
        f"{CELL}; self.register_buffer('h', torch.full((1, 8), 0.5))",
        "self.h.copy_(self.cell(x, self.h)); return self.head(self.h)",
        "torch.randn(1, 6)",
        [*XNNPACK, "--quantize", "int8"],
        0.05,
    ),
    "hardswish_of_small_results": (
        "self.body = nn.Sequential(nn.Conv2d(4, 8, 3, groups=2), nn.Hardswish(),"
        " nn.Conv2d(8, 8, 3, padding=1, groups=8), nn.Hardswish())",
        "return self.body(x)",
        "torch.randn(1, 4, 6, 6)",
        INT8,
        0.02,
    ),
    "constants_beside_a_result_in_int8": (
        "self.layer = nn.Linear(4, 4)",
        "return self.layer(x) + torch.ones(1, 4), torch.full((3,), 0.5)",
        "torch.randn(1, 4)",
        INT8,
        0.06,
    ),
    "constants_beside_a_result_in_int8_for_xnnpack": (
        "self.layer = nn.Linear(4, 4)",
        "return self.layer(x) + torch.ones(1, 4), torch.full((3,), 0.5)",
        "torch.randn(1, 4)",
        [*XNNPACK, "--quantize", "int8"],
        0.06,
    ),
    "a_weight_beside_a_result": (
        "self.layer = nn.Linear(4, 4)",
        "return self.layer(x), self.layer.weight, self.layer.bias.clone()",
        "torch.randn(1, 4)",
        XNNPACK,
        1e-6,
    ),
    "relu_behind_a_sigmoid": (
        "self.layer = nn.Linear(4, 4)",
        "return torch.relu(torch.sigmoid(self.layer(x)).unsqueeze(1))",
        "torch.randn(1, 4)",
        INT8,
        0.05,
    ),
    "expanded_output": (
        "self.layer = nn.Linear(4, 4)",
        "return self.layer(x).unsqueeze(1).expand(2, 3, 4)",
        "torch.randn(1, 4).expand(2, 4)",
        [],
        0,
    ),
    "strange_strides": (
        "self.w = nn.Parameter(torch.randn(9).as_strided((1, 4, 2), (5, 2, 1)));"
        " self.register_buffer('b', torch.randn(1).expand(4)); self.filters ="
        " nn.Conv2d(4, 4, 1, bias=False); self.filters.weight = nn.Parameter("
        "torch.randn(16).as_strided((4, 4, 1, 1), (4, 1, 3, 5)))",
        "y = x @ self.w.transpose(1, 2) + self.b\n"
        "        return self.filters(y.permute(0, 2, 1).unsqueeze(-1))",
        "torch.randn(1, 3, 2)",
        [],
        0,
    ),
    "ceil_mode_in_int8": (
        FILTERS,
        "return F.max_pool2d(self.filters(x), 2, ceil_mode=True)",
        IMAGE,
        INT8,
        0.05,
    ),
    "reshaped_and_padded_in_int8": (
        "self.a = nn.Conv2d(1, 8, (16, 1), (2, 1)); self.b = nn.Conv2d(8, 4, (9, 1))",
        "x = F.pad(x[:, None, :, None], (0, 0, 7, 8))\n"
        "        x = F.max_pool2d(F.relu(self.a(x)), (2, 1))\n"
        "        return self.b(F.pad(x, (0, 0, 4, 5)))",
        "torch.randn(1, 64)",
        INT8,
        0.05,
    ),
    "images_of_a_line_in_int8": (
        "self.a = nn.Conv2d(2, 3, (3, 2)); self.b = nn.Conv2d(2, 2, 3, groups=2)",
        "x = F.hardtanh(x).reshape(1, 2, 12, 9)\n"
        "        y = F.avg_pool2d(F.pad(x * 2, (0, 1, 2, 3)), (3, 2), padding=(1, 0))\n"
        "        return F.relu(self.a(x)), F.max_pool2d(x * 2, 2), self.b(y)",
        "torch.randn(1, 216)",
        INT8,
        0.05,
    ),
    "images_of_a_line_for_xnnpack": (
        "self.a = nn.Conv2d(2, 3, (3, 2)); self.b = nn.Conv2d(2, 2, 3, groups=2)",
        "x = F.hardtanh(x).reshape(1, 2, 12, 9)\n"
        "        y = F.avg_pool2d(F.pad(x * 2, (0, 1, 2, 3)), (3, 2), padding=(1, 0))\n"
        "        return F.relu(self.a(x)), F.max_pool2d(x * 2, 2), self.b(y)",
        "torch.randn(1, 216)",
        [*XNNPACK, "--quantize", "int8"],
        0.05,
    ),
    "convolution_over_frames_in_int8": (
        "self.a = nn.Conv2d(2, 4, (3, 3), padding=(0, 1));"
        " self.register_buffer('past', torch.zeros(1, 2, 2, 4))",
        "y = torch.cat([self.past, x], 2); self.past.copy_(y[:, :, 1:])\n"
        "        return F.relu(self.a(y))",
        "torch.randn(1, 2, 1, 4)",
        INT8,
        0.05,
    ),
    "dilated_in_int8": (
        "self.a = nn.Conv2d(2, 4, (3, 2), dilation=(2, 3), padding=(1, 2));"
        " self.b = nn.Conv2d(4, 8, 3, stride=2, dilation=2, groups=4)",
        "return self.b(F.relu(self.a(F.hardtanh(x))))",
        "torch.randn(1, 2, 11, 12)",
        INT8,
        0.15,
    ),
    "large_pooling_in_int8": (
        "self.filters = nn.Conv2d(1, 64, 1)",
        "return F.max_pool2d(self.filters(F.hardtanh(x)), 8)",
        "torch.randn(1, 1, 64, 64)",
        INT8,
        0.05,
    ),
    "one_result_twice_for_xnnpack": (
        "self.layer = nn.Linear(4, 4);"
        " self.register_buffer('count', torch.tensor(3));"
        " self.register_buffer('total', torch.zeros(4))",
        "self.count.add_(1); self.total.copy_(F.hardtanh(x[0]))\n"
        "        return self.layer(x) + self.total, self.count.clone()",
        "torch.randn(1, 4)",
        [*XNNPACK, "--quantize", "int8"],
        0.1,
    ),
    "padding_of_channels_in_int8": (
        "self.filters = nn.Conv2d(4, 4, 3)",
        "return self.filters(F.pad(x, (0, 0, 0, 0, 1, 0)))",
        IMAGE,
        INT8,
        0.05,
    ),
    "input_changed_in_place": (
        "self.layer = nn.Linear(4, 4)",
        "x.add_(1.0); return self.layer(x)",
        "torch.randn(2, 4)",
        [],
        0,
    ),
    "windows": (
        "pass",
        "return x.unfold(1, 3, 2).sum(-1)",
        "torch.randn(2, 9)",
        [],
        0,
    ),
    "int4_of_layers_that_fit": (
        "self.wide = nn.Linear(64, 20); self.narrow = nn.Linear(20, 4)",
        "return self.narrow(F.relu(self.wide(x)))",
        "torch.randn(1, 64)",
        [*XNNPACK, "--quantize", "int4"],
        0.2,
    ),
}


@pytest.mark.export
@pytest.mark.parametrize("name", MODELS)
def test_a_program_gives_what_pytorch_gives(
    capsys: pytest.CaptureFixture[str], name: str
) -> None:
    pytest.importorskip("torch")
    layers, forward, inputs, words, allowed = MODELS[name]
    facts = exported(capsys, written(layers, forward, inputs), *words)
    assert facts["distance"] <= allowed
    suite = bundle.read(Path("network.bpte")).suites[0]
    assert len(suite.cases) == 5  # the example, and four of the samples


@pytest.mark.export
def test_layers_that_read_a_state_compute_in_int8(
    capsys: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("torch")
    layers = "self.mix = nn.Linear(4, 4); self.register_buffer('h', torch.zeros(1, 4))"
    forward = "self.h = torch.tanh(self.mix(x + self.h)); return self.h"
    exported(capsys, written(layers, forward, "torch.randn(1, 4)"), *INT8)
    content = bundle.read(Path("network.bpte")).program
    names = program.parse(content).methods[0].operator_names
    computed = {"quantized_add", "quantized_linear", "quantized_activation"}
    assert {f"cortex_m::{name}.out" for name in computed} <= set(names)


@pytest.mark.export
def test_linear_layers_inside_recurrent_cells_compute_in_int8(
    capsys: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("torch")
    layers, forward, inputs, words, allowed = MODELS["recurrent_in_int8"]
    facts = exported(capsys, written(layers, forward, inputs), *words)
    assert facts["distance"] <= allowed
    assert_layers("linear")


@pytest.mark.export
def test_a_cell_that_starts_at_zero_stays_float(
    capsys: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("torch")
    forward = "return self.head(self.cell(x))"
    exported(capsys, written(CELL, forward, "torch.randn(1, 6)"), *INT8)


def assert_layers(kind: str) -> None:
    """Those of a kind are there, all of them in int8."""
    content = bundle.read(Path("network.bpte")).program
    names = program.parse(content).methods[0].operator_names
    assert [name for name in names if f"::quantized_{kind}" in name]
    assert not [name for name in names if name.startswith(f"aten::{kind}")]


@pytest.mark.export
def test_images_that_a_model_makes_itself_are_convolved_in_int8(
    capsys: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("torch")
    layers, forward, inputs, words, _ = MODELS["reshaped_and_padded_in_int8"]
    exported(capsys, written(layers, forward, inputs), *words)
    assert_layers("conv")


@pytest.mark.export
def test_only_states_that_do_not_start_at_zero_are_stored(
    capsys: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("torch")
    layers, forward, inputs, _, _ = MODELS["counts_from_three"]
    exported(capsys, written(layers, forward, inputs))
    content = bundle.read(Path("network.bpte")).program
    start = np.array([3.0, 0.0], np.float32).tobytes()
    assert content.count(start) == 1
    assert len(program.parse(content).constants) == 2  # the first is always empty


@pytest.mark.export
def test_what_int4_leaves_in_float_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch")
    layers, forward, inputs, words, _ = MODELS["int4_of_layers_that_fit"]
    facts = exported(capsys, written(layers, forward, inputs), *words)
    assert facts["notes"] == [
        "1 linear layers stay float: their input widths are not multiples of 32",
        "weights in int4: 640 bytes; in float: 320 bytes, narrow.weight",
    ]


LAYER = "self.layer = nn.Linear(4, 4)"
REFUSED = {
    "a_number_that_a_call_changes": (
        f"{LAYER}; self.calls = 0",
        "self.calls += 1; return self.layer(x) * self.calls",
        [],
        "a call of the model changes self.calls, which the exporter treats as",
    ),
    "a_tensor_that_is_no_buffer": (
        f"{LAYER}; self.h = torch.zeros(4)",
        "self.h = self.layer(x) + self.h; return self.h",
        [],
        "self.register_buffer()",
    ),
    "random_numbers": (
        LAYER,
        "return F.dropout(self.layer(x), 0.5)",
        [],
        "it uses random numbers",
    ),
    "nothing_for_int8_dynamic": (
        "pass",
        "return torch.sin(x)",
        [*XNNPACK, "--quantize", "int8-dynamic"],
        "nothing can be quantised: the model has no linear layer or convolution",
    ),
    "nothing_for_int8": ("pass", "return x.cumsum(0)", INT8, "can be quantised"),
    "nothing_for_int4": (
        LAYER,
        "return self.layer(x)",
        [*XNNPACK, "--quantize", "int4"],
        "the model has no nn.Linear with an input width that is a multiple of 32",
    ),
    "nothing_as_an_output": (
        LAYER,
        "return self.layer(x), None",
        [],
        "a bundled program cannot hold output 1: it is None",
    ),
    "a_string_as_an_output": (
        LAYER,
        "return self.layer(x), 'done'",
        ["-o", "network.pte"],
        "output 1 of the model is the string 'done', which no ExecuTorch program can"
        " return hint: return tensors and numbers",
    ),
    "a_string_as_an_output_of_int8": (
        LAYER,
        "return self.layer(x), 'done'",
        [*XNNPACK, "--quantize", "int8"],
        "output 1 of the model is the string 'done', which no ExecuTorch program can"
        " return hint: return tensors and numbers",
    ),
    "statistics_of_the_batch": (
        "self.n = nn.BatchNorm1d(4)",
        "m, v = self.n.running_mean, self.n.running_var\n"
        "        return F.batch_norm(x, m, v, training=True)",
        [],
        "network.py:14: `return F.batch_norm(",
    ),
}


@pytest.mark.export
@pytest.mark.parametrize("name", REFUSED)
def test_a_refusal_says_what_and_what_else(
    capsys: pytest.CaptureFixture[str], name: str
) -> None:
    pytest.importorskip("torch")
    layers, forward, words, sentence = REFUSED[name]
    said = refused(capsys, written(layers, forward, "torch.randn(2, 4)"), *words)
    assert sentence in " ".join(said.split())


@pytest.mark.export
def test_a_count_that_changes_nothing_is_no_matter(
    capsys: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("torch")
    layers, forward = (
        f"{LAYER}; self.calls = 0",
        "self.calls += 1; return self.layer(x)",
    )
    exported(capsys, written(layers, forward, "torch.randn(2, 4)"))
