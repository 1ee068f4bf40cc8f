"""`ember export` of models with complex numbers inside; the modules of frontends."""

# Modules of PyTorch are Any for mypy.
# mypy: allow-subclassing-any

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ember import cli, program
from ember.cases import one_call
from ember.export.graph import pairs
from ember.export.operators import roots

OUT = "*, Tensor(a!) out) -> Tensor(a!)"


def run(capsys: pytest.CaptureFixture[str], folder: Path) -> tuple[int, str]:
    code = cli.main(["test", str(folder), "--board", "host"])
    printed = capsys.readouterr()
    return code, printed.out + printed.err


# ---- what needs no PyTorch -----------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 3, 4, 6, 8, 9, 30, 49, 64, 97, 240])
def test_radices_are_the_factors_of_a_length(n: int) -> None:
    assert np.prod([1, *roots.radices(n)]) == n
    assert list(roots.radices(n)).count(2) <= 1


@pytest.mark.parametrize("n", [2, 5, 12, 32, 45])
def test_passes_with_these_roots_are_the_transform(n: int) -> None:
    """The formula of kernels/signal/fft.h, word for word."""
    x = np.random.default_rng(0).standard_normal(n) + 0j
    table = roots.of_complex(n) @ [1, 1j]
    y, left, s = x, n, 1
    for r in roots.radices(n):
        m = left // r
        table = table[r:] if r % 2 else table
        twist = np.vstack(
            [np.ones(r - 1), table[: (m - 1) * (r - 1)].reshape(-1, r - 1)]
        )
        table = table[(m - 1) * (r - 1) :]
        whole = np.exp(-2j * np.pi * np.outer(np.arange(r), np.arange(r)) / r)
        sums = np.einsum("uv,vpq->puq", whole, y.reshape(r, m, s))
        sums[:, 1:] *= twist[:, :, None]
        y, left, s = sums.reshape(-1), m, s * r
    assert not len(table)
    np.testing.assert_allclose(y, np.fft.fft(x), atol=1e-5)


def test_a_bank_is_the_ranges_of_its_columns() -> None:
    matrix = np.zeros((9, 3), np.float32)
    matrix[2:4, 0], matrix[8, 2] = (1, 2), 3
    ranges = pairs.ranges_of(matrix)
    assert ranges is not None
    bands, weights = ranges
    assert bands.tolist() == [[2, 2], [0, 0], [8, 1]]
    assert weights.tolist() == [1, 2, 3]
    assert pairs.ranges_of(np.ones((4, 4), np.float32)) is None


def test_roots_of_another_length_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    x = np.ones((2, 8), np.float32)
    y = np.zeros((2, 5, 2), np.float32)
    schema = f"(Tensor x, Tensor roots, {OUT}"
    one_call.write(
        tmp_path / "a", "ember::rfft.out", schema, [x, roots.of_real(6)], [y]
    )
    code, said = run(capsys, tmp_path)
    assert code == 1
    assert "fft: wrong number of roots" in said


@pytest.mark.parametrize(
    ("bands", "count"),
    [
        ([(9, 0), (12, 1)], 4),
        ([(11, 1)], 4),
        ([(-1, 2)], 4),
        ([(0, 3)], 2),
        ([(0, -1)], 4),
    ],
)
def test_bands_outside_of_the_row_stop_the_run(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    bands: list[tuple[int, int]],
    count: int,
) -> None:
    arguments = [np.ones((2, 11), np.float32), np.array(bands, np.int32)]
    arguments.append(np.ones(count, np.float32))
    y = np.zeros((2, len(bands)), np.float32)
    schema = f"(Tensor x, Tensor bands, Tensor weights, {OUT}"
    one_call.write(tmp_path / "a", "ember::band_mm.out", schema, arguments, [y])
    code, said = run(capsys, tmp_path)
    assert code == 1
    assert "out of range" in said


@pytest.fixture(scope="module", name="torch")
def _torch() -> Any:
    pytest.importorskip("executorch", reason="pip install '.[export]'")
    return pytest.importorskip("torch", reason="pip install '.[export]'")


# ---- in pairs ------------------------------------------------------------------------

MODELS = {
    "abs": "rfft(x).abs()",
    "power": "rfft(x).abs().square() + rfft(x).abs() ** 2",
    "parts": "rfft(x, norm='ortho').real + rfft(x, norm='forward').imag",
    "angle": "rfft(x + 9).angle()",
    "dim": "view_as_real(rfft(x, dim=0))",
    "two_dims": "view_as_real(rfft2(x))",
    "complex_dims": "view_as_real(fft2(x, norm='forward'))",
    "whole": "view_as_real(fft(x))",
    "filter": "irfft(rfft(x) * torch.linspace(1, 0, 31))",
    "convolution": "irfft(rfft(x, n=128) * rfft(x.flip(0), n=128), n=128)",
    "phase": "irfft(rfft(x) * rfft(x.flip(0)).conj() / (rfft(x).abs() + 1), n=60)",
    "quotient": "view_as_real(rfft(x) / (rfft(x.flip(0)) + 50))",
    "numbers": "view_as_real(rfft(x) * 1j - 2)",
    "back": "irfft2(rfft2(x))",
    "analytic": "ifft(fft(x) * torch.linspace(0, 1, 60)).abs()",
    "shifted": "fftshift(fft(x)).abs()",
    "cut": "torch.cat([rfft(x)[..., :5], rfft(x)[..., 5:].flip(-1)], -1).abs()",
    "stacked": "torch.stack([rfft(x), rfft(x).conj()]).reshape(-1).abs()",
    "made": "view_as_real(torch.complex(x, x).sum(-1) + torch.polar(x, x).mean(-1))",
    "stft": "torch.stft(x, 16, 4, window=window, return_complex=True).abs()",
    "istft": "torch.istft(torch.stft(x, 16, 4, window=window, return_complex=True)"
    " * 0.5, 16, 4, window=window)",
}


def model_of(torch: Any, expression: str) -> Any:
    names = {**vars(torch.fft), "torch": torch, "view_as_real": torch.view_as_real}
    names["window"] = torch.hann_window(16)

    class Model(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return eval(expression, names, {"x": x})

    return Model()


@pytest.mark.export
@pytest.mark.parametrize("name", MODELS)
def test_a_model_in_pairs_computes_the_same_and_has_no_complex_tensor(
    torch: Any, name: str
) -> None:

    torch.manual_seed(0)
    model, x = model_of(torch, MODELS[name]), torch.randn(2, 60)
    assert pairs.has_complex(model, (x,))
    real = pairs.in_pairs(model, (x,), None)
    torch.testing.assert_close(real(x), model(x), rtol=1e-5, atol=1e-5)
    for node in torch.export.export(real, (x,)).graph.nodes:
        value = node.meta.get("val")
        assert not (isinstance(value, torch.Tensor) and value.is_complex())


@pytest.mark.export
@pytest.mark.parametrize(
    ("branch", "complex_inside"),
    [("x * 2", False), ("torch.fft.rfft(x).abs().sum() * x", True)],
)
def test_a_model_with_a_condition_is_looked_at_as_it_is_exported(
    torch: Any, branch: str, complex_inside: bool
) -> None:

    line = f"torch.cond(x.sum() > 0, lambda x: {branch}, lambda x: x - 1, (x,))"
    model = model_of(torch, line)
    assert pairs.has_complex(model, (torch.randn(2, 60),)) is complex_inside


NETWORK = """
import torch

class Network(torch.nn.Module):
    def forward(self, x):
        {line}

model, example_inputs = Network(), ({input},)
"""
REFUSED = {
    "return torch.fft.rfft(x)": "return torch.view_as_real(x)",
    "return torch.fft.rfft(x).cumsum(-1).abs()": "network.py:6: `return torch.fft",
    "return torch.fft.rfft(x.double()).abs()": "x.float() makes it so",
}


@pytest.mark.export
@pytest.mark.usefixtures("torch")
@pytest.mark.parametrize("line", REFUSED)
def test_what_has_no_form_in_pairs_is_named(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    line: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    text = NETWORK.format(line=line, input="torch.randn(2, 16)")
    Path("network.py").write_text(text)
    assert cli.main(["export", "network.py"]) == 1
    said = " ".join(capsys.readouterr().err.split())
    assert REFUSED[line] in said
    assert "Traceback" not in said
    assert not Path("network.bpte").exists()


@pytest.mark.export
@pytest.mark.usefixtures("torch")
def test_a_complex_input_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    line, given = "return x.abs()", "torch.randn(2, 4, dtype=torch.complex64)"
    Path("network.py").write_text(NETWORK.format(line=line, input=given))
    assert cli.main(["export", "network.py"]) == 1
    assert "input x is complex" in " ".join(capsys.readouterr().err.split())


# ---- front ends ----------------------------------------------------------------------


@pytest.mark.export
def test_a_stream_gives_the_frames_of_the_whole(torch: Any) -> None:
    from ember import frontends

    samples = torch.randn(1600)
    for front in (frontends.LogMel(), frontends.MFCC()):
        stream = frontends.Streaming(front)
        frames = [stream(hop) for hop in samples.split(160)]
        whole = front(torch.cat([torch.zeros(240), samples]))
        torch.testing.assert_close(torch.stack(frames), whole)
        stream.reset()
        torch.testing.assert_close(stream(samples[:160]), frames[0])


@pytest.mark.export
@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"window": 600}, "a window of 600 samples"),
        ({"hop": 0}, "a hop of 0"),
        ({"floor": 0.0}, "the floor is 0.0"),
        ({"high": 9000.0}, "do not fit 16000 Hz"),
        ({"mels": 128}, "of 128 mel bands have no frequency"),
    ],
)
def test_a_front_end_refuses_what_does_not_fit(
    torch: Any, options: dict[str, Any], said: str
) -> None:
    from ember import errors, frontends

    with pytest.raises(errors.SdkError, match=said):
        frontends.LogMel(**options)


FRONT = """
import torch
from ember.frontends import LogMel, Streaming

torch.manual_seed(0)
model, example_inputs = Streaming(LogMel()), (torch.randn(160),)
calibration_inputs = [(torch.randn(160),) for _ in range(3)]
"""


@pytest.mark.export
@pytest.mark.usefixtures("torch")
@pytest.mark.parametrize("backend", ["portable", "xnnpack", "cadence"])
def test_a_stream_runs_as_a_program(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    backend: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("front.py").write_text(FRONT)
    words = ["export", "front.py", "--backend", backend, "-o", "front.bpte"]
    assert cli.main(words) == 0, capsys.readouterr().err
    code, said = run(capsys, tmp_path / "front.bpte")
    assert code == 0, said


@pytest.mark.export
@pytest.mark.usefixtures("torch")
def test_the_filters_are_stored_as_bands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("front.py").write_text(FRONT)
    assert cli.main(["export", "front.py", "-o", "front.pte"]) == 0
    content = Path("front.pte").read_bytes()
    assert len(content) < 12_000  # the matrix by itself has 41,120
    names = [x.full_name for x in program.parse(content).methods[0].operators]
    assert {"ember::rfft.out", "ember::band_mm.out"} <= set(names)


def test_front_ends_need_pytorch(monkeypatch: pytest.MonkeyPatch) -> None:
    from ember import errors

    for name in [name for name in sys.modules if name.startswith("ember.frontends")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(errors.SdkError, match="needs torch"):
        import ember.frontends  # noqa: F401
