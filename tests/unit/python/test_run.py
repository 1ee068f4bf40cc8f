"""`ember run` on the host board: outputs, report, wrong inputs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ember import cli, kernels, model, program
from ember.cases import inputs
from ember.files.tensors import DType
from ember.plan import traffic


@pytest.fixture(autouse=True)
def _in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def save(name: str, array: np.ndarray) -> str:
    np.save(name, array)
    return name


def ones(shape: tuple[int, ...] = (2, 3), dtype: str = "float32") -> np.ndarray:
    return np.ones(shape, dtype)


def run(capsys: pytest.CaptureFixture[str], *words: str | Path) -> dict[str, Any]:
    status = cli.main(["run", *map(str, words), "--json", "-"])
    said = capsys.readouterr()
    assert status == 0, said.err
    facts: dict[str, Any] = json.loads(said.out)
    return facts


def error_of(
    capsys: pytest.CaptureFixture[str], *words: str | Path, status: int = 1
) -> str:
    assert cli.main(["run", *map(str, words)]) == status
    said = capsys.readouterr().err
    assert "Traceback" not in said
    return said


@pytest.mark.parametrize(
    "board", ["host", pytest.param("host-asan", marks=pytest.mark.slow)]
)
def test_outputs(board: str, data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    words: list[str | Path] = [data / "add.pte", "--board", board]
    words += ["--input", save("x.npy", x), "--input", save("y.npy", x * 10)]
    facts = run(capsys, *words)
    (output,) = facts["outputs"]
    assert output == {
        "dtype": "float32",
        "shape": [2, 3],
        "data": [0.0, 11.0, 22.0, 33.0, 44.0, 55.0],
    }
    assert facts["status"] == "ok"
    assert facts["inputs"] == "given"
    assert facts["instructions"] == {"load": None, "execute": None}
    assert facts["nodes"][0]["op"] == "aten::add.out"
    assert facts["nodes"][0]["instructions"] is None
    assert facts["unit"] is None
    assert set(facts["size"]) >= {"code", "rodata", "data", "bss", "model"}
    assert facts["memory"][0].keys() == {"name", "capacity", "used"}
    assert facts["stack"].keys() == {"bound", "reserved", "used"}
    assert facts["method_arena"] > 0


def test_zeros(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["run", str(data / "add.pte"), "--board", "host"]) == 0
    said = capsys.readouterr().out
    assert "no inputs given: using zeros" in said
    assert "output 0: float32[2,3] 0, 0, 0, 0, 0, 0" in said
    assert "host cannot count instructions" in said


def test_case_folder(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case = tmp_path / "case"
    case.mkdir()
    (case / "model.pte").write_bytes((data / "add.pte").read_bytes())
    np.save(case / "x.npy", ones())
    runs = [{"method": "forward", "inputs": ["x.npy", "x.npy"], "outputs": []}]
    (case / "case.json").write_text(json.dumps({"runs": runs}))
    facts = run(capsys, case, "--board", "host")
    assert facts["model"] == "case"
    assert facts["inputs"] == "case"
    assert facts["outputs"][0]["data"] == [2.0] * 6


# ---- wrong inputs ------------------------------------------------------------------


def test_wrong_count(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--board", "host", "--input", save("x.npy", ones()))
    said = error_of(capsys, data / "add.pte", *words)
    assert said == (
        "ember run: method forward takes 2 inputs, but 1 given\n"
        "  hint: forward(float32[2, 3], float32[2, 3])\n"
    )


def test_wrong_shape(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good, bad = save("x.npy", ones()), save("y.npy", ones((3, 2)))
    words = ("--board", "host", "--input", good, "--input", bad)
    said = error_of(capsys, data / "add.pte", *words)
    assert "input 1 of method forward has shape [2, 3], but the file [3, 2]" in said


def test_wrong_dtype(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good, bad = save("x.npy", ones()), save("y.npy", ones(dtype="float64"))
    words = ("--board", "host", "--input", good, "--input", bad)
    said = error_of(capsys, data / "add.pte", *words)
    assert "input 1 of method forward is float32, but the file has float64" in said
    assert "astype('float32')" in said


def test_dynamic_shape_past_the_bound(data: Path) -> None:
    method = model.read(data / "dynamic.pte").method(None)
    (declared,) = method.input_tensors
    small = np.zeros((1, *declared.sizes[1:]), np.float32)
    (value,) = inputs.lay_out(method, [small])
    assert isinstance(value, inputs.TensorValue)
    assert value.sizes == small.shape
    large = np.zeros((declared.sizes[0] + 1, *declared.sizes[1:]), np.float32)
    with pytest.raises(Exception, match="at most, but the file"):
        inputs.lay_out(method, [large])


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("none.npy", "none.npy does not exist"),
        ("text.npy", "text.npy is not a .npy file"),
        ("word", "the input 'word' is not a .npy file"),
    ],
)
def test_wrong_file(
    word: str, message: str, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("text.npy").write_text("not numbers")
    words = ("--board", "host", "--input", word, "--input", word)
    assert message in error_of(capsys, data / "add.pte", *words)


def test_wrong_usage(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    error_of(capsys, data / "add.pte", "--board", "host", "--nonsense", status=2)


# ---- values ------------------------------------------------------------------------


def test_values_round_trip() -> None:
    given: list[inputs.Value] = [
        inputs.TensorValue(DType.INT8, (3,), b"\1\2\3"),
        inputs.TensorValue(DType.FLOAT32, (), b"\0\0\x80\x3f"),
        -5,
        True,
        0.25,
        None,
    ]
    data = inputs.to_bytes(given)
    values, at = inputs.from_bytes(data)
    assert values == given
    assert at == len(data)
    for size in range(len(data)):
        with pytest.raises(Exception, match="outputs"):
            inputs.from_bytes(data[:size])


# ---- multiply-accumulates ------------------------------------------------------------


def test_macs(data: Path) -> None:
    method = model.read(data / "mlp.pte").method(None)
    macs = {
        index: traffic.macs_of_call(method, kernels.load(), call)
        for index, _, call in method.kernel_calls()
    }
    products = [count for count in macs.values() if count is not None]
    weights = [
        value.numel
        for value in method.values
        if isinstance(value, program.Tensor)
        and value.is_constant
        and len(value.sizes) == 2
    ]
    batch = method.input_tensors[0].sizes[0]
    assert sorted(products) == sorted(batch * size for size in weights)
