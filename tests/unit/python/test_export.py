"""`ember export`: sources, flows for boards, calibration, and what goes wrong."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ember import cli, program
from ember.files.tensors import Array
from ember.program import bundle

NETWORK = """
import torch
from torch import nn


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.filters = nn.Conv2d(3, 8, 3, padding=1)
        self.head = nn.Linear(8 * 16, 32)

    def forward(self, x):
        y = torch.relu(self.filters(x))
        return self.head(nn.functional.max_pool2d(y, 2).flatten(1))


torch.manual_seed(0)
model = Network
example_inputs = (torch.randn(1, 3, 8, 8),)
"""


@pytest.fixture(autouse=True)
def _in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def written(text: str, name: str = "network.py") -> str:
    Path(name).write_text(text, encoding="utf-8")
    return name


def refused(capsys: pytest.CaptureFixture[str], *words: str, code: int = 1) -> str:
    before = sorted(Path().iterdir())
    assert cli.main(["export", *words]) == code
    assert sorted(Path().iterdir()) == before  # nothing is left half-written
    return capsys.readouterr().err


# ---- what needs no PyTorch -----------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["gone.py"], 1, "gone.py does not exist"),
        (["net.onnx"], 1, "net.onnx is neither a .py nor a .pt2 file"),
        (["net.py", "-o", "a.onnx"], 2, "write a .bpte or a .pte file"),
        (["net.py", "--calibrate", "x.npy"], 2, "--calibrate needs --quantize"),
        (["net.py", "--calibration", "mse"], 2, "needs --quantize int8 or int4w8a"),
        (["net.py", "--quantize", "int3"], 2, "'int3' is not one of"),
        (["net.py", "--quantize", "int8"], 2, "add --board NAME"),
        (["net.py", "--board", "mps2-an38"], 1, "did you mean mps2-an386?"),
    ],
)
def test_wrong_words_are_refused(
    capsys: pytest.CaptureFixture[str], words: list[str], code: int, said: str
) -> None:
    written("")
    Path("net.py").touch()
    Path("net.onnx").touch()
    assert said in refused(capsys, *words, code=code)


def test_without_pytorch_the_sentence_says_what_to_install(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    said = refused(capsys, written(NETWORK))
    assert "`ember export` needs torch" in said
    assert "pip install torch==2.13.0" in said


# ---- what does -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def torch() -> Any:
    return pytest.importorskip("torch")


def exported(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert cli.main(["export", *words, "--json", "facts.json"]) == 0
    facts: dict[str, Any] = json.loads(Path("facts.json").read_text())
    capsys.readouterr()
    return facts


@pytest.mark.export
@pytest.mark.usefixtures("torch")
@pytest.mark.parametrize(
    ("words", "backend", "close", "operator"),
    [
        ([], "portable", 1e-6, "aten::convolution.out"),
        (["--board", "mps2-an386"], "portable", 1e-6, "aten::convolution.out"),
        (
            ["--board", "mps2-an386", "--quantize", "int8"],
            "cortex_m",
            0.05,
            "cortex_m::quantized_conv2d.out",
        ),
        (["--board", "qemu-a64-sme"], "xnnpack", 1e-5, None),
        (["--board", "qemu-a64-sme", "--quantize", "int8"], "xnnpack", 0.05, None),
        (
            ["--board", "qemu-a64-sme", "--quantize", "int8-dynamic"],
            "xnnpack",
            0.05,
            None,
        ),
        (["--backend", "xnnpack", "--quantize", "int4"], "xnnpack", 0.5, None),
        (
            ["--backend", "cadence", "--quantize", "int8"],
            "cadence",
            0.05,
            "cadence::quantized_conv2d_n",  # chw to executorch 1.4, hwc since
        ),
        (["--backend", "cadence"], "cadence", 1e-5, "cadence::conv2d.out"),
    ],
)
def test_a_program_for_a_board_passes_its_own_tests(
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    backend: str,
    close: float,
    operator: str | None,
) -> None:
    facts = exported(capsys, written(NETWORK), *words)
    assert (facts["file"], facts["backend"]) == ("network.bpte", backend)
    assert facts["distance"] <= close
    names = program.parse(bundle.read(Path("network.bpte")).program).methods[0]
    called = [name for name in names.operator_names if name.startswith(operator or "")]
    assert operator is None or called
    assert bool(names.delegates) == (backend == "xnnpack")
    assert cli.main(["test", "network.bpte", "--board", "host"]) == 0


@pytest.mark.export
@pytest.mark.usefixtures("torch")
@pytest.mark.parametrize(
    ("choice", "order"),
    [
        (["--board", "mps2-an386"], [0, 2, 3, 1]),
        (["--board", "qemu-a64-sme"], [0, 1, 2, 3]),
        (["--backend", "cadence"], [0, 1, 2, 3]),
    ],
)
def test_inputs_and_outputs_that_stay_int8(
    capsys: pytest.CaptureFixture[str], choice: list[str], order: list[int]
) -> None:
    words = [*choice, "--quantize", "int8"]
    before = exported(capsys, written(NETWORK), *words)
    facts = exported(capsys, "network.py", *words, "--io", "int8")
    first, last = facts["interface"]
    assert (first["dtype"], first["shape"]) == ("int8", [1, 3, 8, 8])
    assert first["dim_order"] == order
    assert (last["dtype"], last["shape"]) == ("int8", [1, 32])
    # The same steps as inside, so the same numbers: none is lost at the edges.
    assert facts["distance"] == pytest.approx(before["distance"], rel=1e-6)
    assert 0 < facts["distance"] <= 3 * last["scale"]
    suite = bundle.read(Path("network.bpte")).suites[0]
    (value,) = suite.cases[0].outputs
    assert isinstance(value, bundle.BundledTensor)
    assert len(set(value.array.ravel().tolist())) > 5
    assert cli.main(["test", "network.bpte", "--board", "host"]) == 0


@pytest.mark.export
@pytest.mark.usefixtures("torch")
def test_the_cadence_flow_refuses_dynamic_shapes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = NETWORK + "\ndynamic_shapes = ({0: torch.export.Dim('n', max=4)},)\n"
    said = refused(capsys, written(text), "--backend", "cadence")
    assert "the Cadence flow does not support dynamic shapes" in said
    assert "hint: leave out dynamic_shapes" in said


CELL = """
import torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.front, self.cell = nn.Conv1d(8, 64, 3), nn.LSTMCell(64, 64)
        self.head = nn.Linear(64, 4)
    def forward(self, x, h, c):
        h, c = self.cell(self.front(x).mean(-1), (h, c))
        return self.head(h)
model = Net()
example_inputs = (torch.randn(1, 8, 9), torch.zeros(1, 64), torch.zeros(1, 64))
"""
CELLS = 2 * 256 * 64
FRONT = 64 * 8 * 3


@pytest.mark.export
@pytest.mark.usefixtures("torch")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["int8"], f"int8: {CELLS + FRONT + 256:,} bytes, all there are"),
        (
            ["int8-dynamic"],
            f"int8: {CELLS + 256:,} bytes; in float: {4 * FRONT:,} bytes, front.weight",
        ),
        (
            ["int4"],
            f"int4: 128 bytes; in float: {4 * (CELLS + FRONT):,} bytes,"
            " cell.weight_ih, cell.weight_hh, front.weight",
        ),
        (
            ["int8", "--board", "mps3-an547"],
            f"int8: {CELLS + FRONT + 256:,} bytes, all there are",
        ),
    ],
)
def test_weights_that_stay_float_are_told(
    capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    facts = exported(capsys, written(CELL), "--board", "qemu-a64", "--quantize", *words)
    assert facts["notes"] == [f"weights in {said}"]


SUMS = NETWORK.replace(
    "return self.head(nn.functional.max_pool2d(y, 2).flatten(1))",
    "return self.head(nn.functional.max_pool2d(y, 2).flatten(1)).cumsum(1)",
)


@pytest.mark.export
@pytest.mark.usefixtures("torch")
def test_an_edge_that_stays_float_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--board", "qemu-a64-sme", "--quantize", "int8", "--io", "int8"]
    said = refused(capsys, written(SUMS), *words)
    assert "--io: output 0 stays float: it comes from aten.cumsum" in said
    assert "network.py:" in said
    said = refused(capsys, "network.py", "--io", "int8", code=2)
    assert "--io int8 needs --quantize int8" in said


@pytest.mark.export
def test_a_saved_export_with_samples_of_a_file(
    capsys: pytest.CaptureFixture[str], torch: Any
) -> None:
    scope: dict[str, Any] = {}
    exec(NETWORK, scope)
    graph = torch.export.export(scope["model"]().eval(), scope["example_inputs"])
    torch.export.save(graph, "saved.pt2")
    random = np.random.default_rng(0)
    np.save("samples.npy", random.standard_normal((12, 3, 8, 8), np.float32))
    words = ["--board", "mps2-an386", "--quantize", "int8", "--calibrate"]
    facts = exported(capsys, "saved.pt2", *words, "samples.npy")
    assert (facts["calibration"], facts["tests"]) == (12, 5)
    assert cli.main(["test", "saved.bpte", "--board", "host"]) == 0


@pytest.mark.export
@pytest.mark.usefixtures("torch")
def test_a_program_alone_and_several_inputs_of_a_folder(
    capsys: pytest.CaptureFixture[str],
) -> None:
    module = """
import torch

class Sum(torch.nn.Module):
    def forward(self, a, b):
        return a + 2 * b

class ModelUnderTest(Sum):
    pass

ModelInputs = (torch.ones(2, 3), torch.ones(1, 3))
"""
    folder = Path("samples")
    folder.mkdir()
    for name in ("0.npz", "1.npz"):
        np.savez(folder / name, a=np.ones((4, 2, 3)), b=np.ones((4, 1, 3)))
    words = ["--board", "qemu-a64-sme", "--quantize", "int8", "--calibrate", "samples"]
    facts = exported(capsys, written(module), *words, "-o", "sum.pte")
    assert (facts["calibration"], facts["tests"]) == (8, 0)
    assert len(program.parse(Path("sum.pte").read_bytes()).methods) == 1


BROKEN = {
    "if x.sum() > 0: return x": "network.py:5: `if x.sum() > 0: return x`",
    "return x.shap": "network.py:5: `return x.shap`",
    "return torch.linalg.det(x)": "network.py:5: `return torch.linalg.det(x)`",
    "return torch.fft.rfft(x).cumsum(0).abs()": "network.py:5: `return torch.fft",
    "return torch.ops.mine.once(x)": "Missing out variants: {'mine::once'}",
    "return torch.ops.mine.twice(x)": "mine::twice.out on (float32[2, 2], float32[2,",
}


@pytest.mark.export
@pytest.mark.usefixtures("torch")
@pytest.mark.parametrize("line", BROKEN)
def test_a_failure_names_the_line_of_the_source(
    capsys: pytest.CaptureFixture[str], line: str
) -> None:
    text = f"""import sys, torch

class Network(torch.nn.Module):
    def forward(self, x):
        {line}

if "mine" not in sys.modules:  # stays for every test: it must not be collected
    mine = sys.modules["mine"] = torch.library.Library("mine", "DEF")
    mine.define("once(Tensor x) -> Tensor")
    mine.define("twice(Tensor x) -> Tensor")
    mine.define("twice.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)")
    mine.impl("once", torch.clone, "CompositeExplicitAutograd")
    mine.impl("twice", torch.clone, "CompositeExplicitAutograd")

model = Network()
example_inputs = torch.randn(2, 2)
"""
    said = refused(capsys, written(text))
    assert BROKEN[line] in said
    assert "network.py:5" in said
    assert "Traceback" not in said


@pytest.mark.export
@pytest.mark.usefixtures("torch")
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "network.py defines no `model`"),
        ("model = 3", "`model` is neither a torch.nn.Module nor a function"),
        ("model = (", "network.py:1: `model = (`: SyntaxError"),
        ("import torch\nmodel = torch.nn.ReLU()", "defines no `example_inputs`"),
        ("raise OSError('disk')", "network.py:1: `raise OSError('disk')`: OSError"),
        ("import sys\nsys.exit(3)", "SystemExit: 3"),
    ],
)
def test_a_module_that_defines_no_model(
    capsys: pytest.CaptureFixture[str], text: str, said: str
) -> None:
    assert said in refused(capsys, written(text))


@pytest.mark.export
@pytest.mark.usefixtures("torch")
@pytest.mark.parametrize(
    ("array", "said"),
    [
        (
            np.ones((4, 5), np.float32),
            "has the shape [4, 5], but the model takes [1, 3",
        ),
        (None, "samples.npy is not a .npy file of numbers"),
    ],
)
def test_samples_that_do_not_fit(
    capsys: pytest.CaptureFixture[str], array: Array | None, said: str
) -> None:
    if array is None:
        Path("samples.npy").write_bytes(b"junk")
    else:
        np.save("samples.npy", array)
    words = ["--board", "mps2-an386", "--quantize", "int8", "--calibrate"]
    assert said in refused(capsys, written(NETWORK), *words, "samples.npy")
    Path("empty").mkdir()
    assert "has no .npy or .npz" in refused(capsys, "network.py", *words, "empty")


@pytest.mark.export
def test_a_file_that_is_no_saved_export(
    capsys: pytest.CaptureFixture[str], torch: Any
) -> None:
    Path("bad.pt2").write_bytes(b"PK no zip")
    assert "bad.pt2 is not a file from torch.export.save()" in refused(
        capsys, "bad.pt2"
    )
    saved = torch.export.export(torch.nn.ReLU(), (torch.ones(2),))
    saved.example_inputs = None
    torch.export.save(saved, "plain.pt2")
    assert "without example inputs" in refused(capsys, "plain.pt2")
    torch.export.save(
        torch.export.export(torch.nn.ReLU(), (torch.ones(2),)), "relu.pt2"
    )
    words = ["relu.pt2", "--board", "qemu-a64-sme", "--quantize", "int4"]
    assert "where int4 finds no layers" in refused(capsys, *words, code=2)
