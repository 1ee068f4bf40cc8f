"""What an export says of integers, `--strict`, and modules in the exported program."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ember import cli, program
from ember.errors import SdkError
from ember.export import shares
from ember.export.shares import Operation, Shares
from ember.program import Method, bundle, names

NETWORK = """
import torch
from torch import nn

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.bn = nn.Conv2d(8, 8, 3, padding=1), nn.BatchNorm2d(8)
    def forward(self, x):
        return torch.relu(self.bn(self.conv(x)))

class Sums(nn.Module):
    def forward(self, x):
        return x.cumsum(1)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        first = nn.Conv2d(3, 8, 3, padding=1)
        self.features = nn.Sequential(first, nn.ReLU(), Block(), nn.GELU())
        self.norm, self.head = Sums(), nn.Linear(512, 10)
        self.register_buffer("calls", torch.zeros(1))
    def forward(self, x):
        x = self.features(x).flatten(1)
        return self.head({norm}(x))

torch.manual_seed(0)
model = Net
example_inputs = (torch.randn(1, 3, 8, 8),)
"""
FLOAT = NETWORK.replace("{norm}", "self.norm")
WHOLE = NETWORK.replace("{norm}", "")
STATEFUL = WHOLE.replace(
    "        return self.head", "        self.calls.add_(1)\n        return self.head"
)


@pytest.fixture(autouse=True)
def _in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "400")


def operation(
    name: str = "aten::gelu.out",
    *,
    module: str = "",
    elements: int = 8,
    macs: int | None = 0,
    kind: str | None = None,
    work: float | None = 1.0,
) -> Operation:
    place = "net.py:3"
    return Operation(name, (0,), module, place, macs, elements, kind, kind, work)


LAYER = operation("x::quantized_linear.out", macs=999, elements=98, work=50)


# ---- sentences -----------------------------------------------------------------------


def test_everything_in_integers_is_told() -> None:
    said = str(Shares("int16", (LAYER,)))
    assert said == "100 % of multiply-accumulates and 100 % of elements in int16"


def test_shares_are_never_rounded_to_all_or_nothing() -> None:
    rest = operation("aten::mm.out", macs=1, elements=1, kind="float32", work=1e-6)
    told = Shares("int8", (LAYER, LAYER, LAYER, rest))
    assert str(told) == (
        "99.9 % of multiply-accumulates and 99.7 % of elements in int8; float32:"
        " aten::mm (net.py:3, 0.1 % of the estimated instructions)"
    )


def test_at_most_three_operators_are_named_the_largest_first() -> None:
    rows = [
        operation(module=f"layers.{n}", kind="float32", work=10.0 * (n + 1))
        for n in range(5)
    ]
    told = str(Shares("int8", (LAYER, *rows, rows[4])))
    assert "float32: aten::gelu (layers.4, 40 % of the estimated" in told
    assert told.endswith("aten::gelu (layers.2, 12 %) and 2 more")


def test_steps_and_copies_are_no_operators_in_float() -> None:
    names_ = ("cortex_m::quantize_per_tensor.out", "aten::view_copy.out")
    rows = [operation(name, kind="float32", elements=1000) for name in names_]
    told = Shares("int8", (LAYER, *rows))
    assert told.floats == ()
    assert told.elements == (98, 98)


def test_what_nobody_counts_has_no_share() -> None:
    unknown = operation("cadence::quantized_conv2d_nhwc.out", macs=None)
    told = Shares("int8", (LAYER, unknown, operation(kind="float32")))
    assert told.macs is None
    assert told.to_json()["macs"] is None
    assert str(told).startswith("93 % of elements in int8; float32: aten::gelu (")
    assert "of the elements)" in str(told)


@pytest.mark.parametrize(
    ("rows", "hint"),
    [
        ((LAYER, 1), "leave it to the application"),
        ((LAYER, 1, LAYER), "replace it by a layer that has int8 (docs/export.md)"),
    ],
)
def test_the_remedy_depends_on_the_place(rows: tuple[Any, ...], hint: str) -> None:
    told = tuple(
        Operation(
            *("aten::erf.out", (at,), "act", "net.py:3", 0, 8, "float32", "float32"),
            1.0,
        )
        if row == 1
        else Operation(row.operator, (at,), "", "", 9, 9, None, None, 1.0)
        for at, row in enumerate(rows)
    )
    with pytest.raises(SdkError) as refused:
        shares.check(Shares("int8", told), Path("net.py"))
    said = "--strict: aten::erf in act stays float32, at net.py:3"
    assert refused.value.what == said
    assert refused.value.hint == f"{hint}, or leave out --strict"


def test_strict_needs_integers(capsys: pytest.CaptureFixture[str]) -> None:
    Path("net.py").write_text("")
    assert cli.main(["export", "net.py", "--strict", "--backend", "portable"]) == 2
    assert "--strict needs --quantize int8" in capsys.readouterr().err


# ---- exports -------------------------------------------------------------------------


def exported(
    capsys: pytest.CaptureFixture[str], text: str, *words: str
) -> tuple[dict[str, Any], str, Method]:
    """The facts, what was said, and the method."""
    pytest.importorskip("torch")
    Path("network.py").write_text(text)
    assert cli.main(["export", "network.py", *words, "--json", "facts.json"]) == 0
    facts: dict[str, Any] = json.loads(Path("facts.json").read_text())
    content = bundle.read(Path("network.bpte")).program
    return facts, capsys.readouterr().out, program.parse(content).methods[0]


def modules(method: Method) -> list[str]:
    every = range(len(method.instructions))
    return list(dict.fromkeys(names.module_of(method, n) for n in every))


M4 = ("--board", "mps2-an386")


@pytest.mark.export
@pytest.mark.parametrize(
    ("choice", "integer"), [("int8", "int8"), ("int16x8", "int16")]
)
def test_layers_keep_their_modules(
    capsys: pytest.CaptureFixture[str], choice: str, integer: str
) -> None:
    facts, said, method = exported(capsys, FLOAT, *M4, "--quantize", choice)
    want = ["features.0", "features.2.conv", "features.3", "norm", "head"]
    assert [name for name in modules(method) if name] == want
    told = facts["integers"]
    assert told["type"] == integer
    assert told["macs"]["integer"] == told["macs"]["all"] > 0
    assert 0.5 < told["elements"]["integer"] / told["elements"]["all"] < 1
    (left,) = told["float"]
    assert (left["operator"], left["module"]) == ("aten::cumsum.out", "norm")
    assert left["source"].startswith("network.py:")
    assert f"in {integer}; float32: aten::cumsum (norm, " in said
    assert "of the estimated instructions)" in said
    assert "weights in int8: " in said


@pytest.mark.export
def test_nodes_of_a_delegate_keep_their_modules(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ("--board", "qemu-a64-sme", "--quantize", "int8")
    facts, _, method = exported(capsys, WHOLE, *words)
    inside = [names.module_of(method, 0, place) for place in range(12)]
    assert {"features.0", "features.2.conv", "features.3"} <= {*inside}
    assert names.module_of(method, 0).startswith("features.0 .. ")
    assert facts["integers"]["share_of"] == "elements"
    assert facts["integers"]["float"][0]["module"] == "features.3"


@pytest.mark.export
def test_the_module_of_a_model_with_state_has_no_prefix(
    capsys: pytest.CaptureFixture[str],
) -> None:
    _, _, method = exported(capsys, STATEFUL, *M4, "--quantize", "int8")
    assert {"features.0", "features.2.conv", "head"} <= {*modules(method)}
    assert not [name for name in modules(method) if name.startswith("model")]


@pytest.mark.export
def test_executorch_loads_a_program_with_names(
    capsys: pytest.CaptureFixture[str],
) -> None:
    _, _, method = exported(capsys, FLOAT)
    assert "features.2.bn" in modules(method)
    runtime = pytest.importorskip("executorch.extension.pybindings.portable_lib")
    torch = pytest.importorskip("torch")
    content = bundle.read(Path("network.bpte")).program
    loaded = runtime._load_for_executorch_from_buffer(content)
    (outputs,) = loaded.forward((torch.zeros(1, 3, 8, 8),))
    assert outputs.shape == (1, 10)
    whole = Path("network.bpte").read_bytes()
    runtime._load_bundled_program_from_buffer(whole)


@pytest.mark.export
def test_strict_refuses_float_and_writes_nothing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = (*M4, "--quantize", "int8", "--strict")
    exported(capsys, WHOLE, *words)
    Path("network.bpte").unlink()
    Path("network.py").write_text(FLOAT)
    assert cli.main(["export", "network.py", *words]) == 1
    assert not Path("network.bpte").exists()
    said = capsys.readouterr().err
    assert "--strict: aten::cumsum in norm stays float32, at network." in said
    assert "`return x.cumsum(1)`" in said
    assert "hint: " in said
