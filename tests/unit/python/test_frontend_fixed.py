"""Front ends of `ember.frontends` in fixed point: their error, what they refuse."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import committed_cases
import numpy as np
import numpy.typing as npt
import pytest

from ember import cli
from ember.cases import one_call
from ember.errors import SdkError
from ember.export.operators import roots

ONE = "*, Tensor(a!) out) -> Tensor(a!)"
TWO = "*, Tensor(a!) out0, Tensor(b!) out1) -> (Tensor(a!), Tensor(b!))"
RFFT = f"(Tensor x, Tensor window, Tensor roots, int n, {TWO}"
LOGS = "(Tensor z, Tensor exponents, Tensor bands, Tensor weights, int floor, " + ONE
AFFINE = f"(Tensor x, Tensor weights, Tensor bias, int shift, int bits, {ONE}"
RATE = 16000
Shape = tuple[int, ...]


@pytest.fixture(name="torch")
def _torch() -> Any:
    return pytest.importorskip("torch")


def zeros(*shape: int, dtype: npt.DTypeLike = np.int16) -> npt.NDArray[Any]:
    return np.zeros(shape, dtype)


def said_of(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    op: str,
    schema: str,
    arguments: Sequence[object],
    results: Sequence[npt.NDArray[Any]],
) -> str:
    one_call.write(folder / "a", f"ember::{op}.out", schema, arguments, results)
    assert cli.main(["test", str(folder / "a"), "--board", "host"]) == 1
    return "".join(capsys.readouterr())


# ---- what needs no PyTorch -----------------------------------------------------------


@pytest.mark.parametrize(
    ("x", "window", "n", "of_roots", "z"),
    [
        ((2, 16), (16,), 12, 16, (2, 9, 2)),
        ((2, 16), (16,), 2, 16, (2, 9, 2)),
        ((2, 17), (17,), 16, 16, (2, 9, 2)),
        ((2, 16), (15,), 16, 16, (2, 9, 2)),
        ((2, 0), (0,), 16, 16, (2, 9, 2)),
        ((2, 16), (16,), 16, 32, (2, 9, 2)),
        ((), (1,), 16, 16, (9, 2)),
    ],
)
def test_transforms_that_do_not_fit_are_refused(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    x: Shape,
    window: Shape,
    n: int,
    of_roots: int,
    z: Shape,
) -> None:
    arguments = [zeros(*x), zeros(*window), roots.of_real_s16(of_roots), n]
    results = [zeros(*z), zeros(*z[:-2], dtype=np.int32)]
    said = said_of(tmp_path, capsys, "rfft_s16", RFFT, arguments, results)
    assert "rfft_s16: n must be a power of 2" in said


@pytest.mark.parametrize(
    ("exponents", "bands", "floor", "why"),
    [
        ((3,), [(0, 2)], 1, "log_bands_s16: shapes"),
        ((2,), [(0, 2)], 0, "a floor out of range"),
        ((2,), [(0, 2)], 2**45 + 1, "a floor out of range"),
        ((2,), [(4, 2)], 1, "out of range"),
        ((2,), [(-1, 1)], 1, "out of range"),
        ((2,), [(0, 4)], 1, "out of range"),
    ],
)
def test_bands_that_do_not_fit_are_refused(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    exponents: Shape,
    bands: list[tuple[int, int]],
    floor: int,
    why: str,
) -> None:
    arguments: list[object] = [zeros(2, 5, 2), zeros(*exponents, dtype=np.int32)]
    arguments += [np.array(bands, np.int32), zeros(3), floor]
    said = said_of(tmp_path, capsys, "log_bands_s16", LOGS, arguments, [zeros(2, 1)])
    assert why in said


@pytest.mark.parametrize(
    ("weights", "bias", "bits", "y", "why"),
    [
        ((3, 4), (3,), 16, (2, 3), "affine_s16: shapes"),
        ((3, 5), (2,), 16, (2, 3), "affine_s16: shapes"),
        ((3, 5), (3,), 9, (2, 3), "neither 8 nor 16 bits"),
        ((4,), (4,), 16, (2, 4), "affine_s16: shapes"),
        ((3, 5), (3,), 16, (2, 4), "shape"),
    ],
)
def test_matrices_that_do_not_fit_are_refused(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    weights: Shape,
    bias: Shape,
    bits: int,
    y: Shape,
    why: str,
) -> None:
    arguments = [zeros(2, 5), zeros(*weights), zeros(*bias, dtype=np.int32), 3, bits]
    said = said_of(tmp_path, capsys, "affine_s16", AFFINE, arguments, [zeros(*y)])
    assert why in said


# ---- operators -----------------------------------------------------------------------


@pytest.mark.export
def test_pytorch_computes_what_the_headers_state(torch: Any) -> None:
    """The cases are computed number by number."""
    numpy_folder = committed_cases.script(committed_cases.NUMPY / "features_s16.py")
    folders = [path.parent for path in sorted(numpy_folder.glob("*/case.json"))]
    assert len(folders) >= 19
    for folder in folders:
        check(torch, folder)


def check(torch: Any, folder: Path) -> None:
    from ember import program
    from ember.export.operators import library

    method = program.read(folder / "model.pte").methods[0]
    operator = (
        method.operators[0].full_name.removeprefix("ember::").removesuffix(".out")
    )
    call = json.loads((folder / "case.json").read_text())["runs"][0]
    inputs = [torch.from_numpy(np.load(folder / file)) for file in call["inputs"]]
    numbers = [int(x.value) for x in method.values if isinstance(x, program.Int)]
    given = getattr(library.defined(), operator)(*inputs, *numbers)
    given = given if isinstance(given, tuple) else (given,)
    for tensor, file in zip(given, call["outputs"], strict=True):
        want = np.load(folder / file)
        assert tensor.numpy().dtype == want.dtype
        np.testing.assert_array_equal(tensor.numpy(), want)


# ---- error ---------------------------------------------------------------------------


def speech(samples: int) -> np.ndarray:
    """Pulses through three resonances, louder and softer by 60 dB, and the noise of a
    microphone 50 dB below the loudest, (samples,), full scale."""
    random = np.random.default_rng(0)
    time = np.arange(samples) / RATE
    pitch = np.cumsum(110 + 40 * np.sin(2 * np.pi * time)) / RATE
    breath = 0.003 * random.standard_normal(samples)
    source = np.diff(np.floor(pitch), prepend=0) + breath
    for hertz, width in ((600, 90), (1400, 120), (2600, 200)):
        pole = np.exp((-width + 2j * hertz) * np.pi / RATE)
        a1, a2, y = 2 * pole.real, abs(pole) ** 2, np.zeros(samples + 2)
        for i, x in enumerate(source):
            y[i + 2] = x + a1 * y[i + 1] - a2 * y[i]
        source = y[2:]
    loudness = 10 ** (1.5 * np.sin(2 * np.pi * time / 0.7) - 1.5)
    noise = 10**-2.5 * random.standard_normal(samples)
    return full_scale(source / np.abs(source).max() * loudness + noise)


def full_scale(samples: np.ndarray) -> np.ndarray:
    scaled: npt.NDArray[np.float64] = np.round(samples / np.abs(samples).max() * 32767)
    return scaled.astype(np.int16)


def sounds(samples: int) -> dict[str, np.ndarray]:
    random = np.random.default_rng(1)
    at = np.arange(samples)
    chirp = np.sin(np.cumsum(np.linspace(0.01, 3.1, samples)))
    noise = random.integers(-32768, 32768, samples).astype(np.int16)
    return {
        "speech": speech(samples),
        "chirp": full_scale(chirp),
        "square": np.where(at // 37 % 2, 32767, -32768).astype(np.int16),
        "noise": noise,
        "quiet": (noise // 2048).astype(np.int16),
        "click": np.where(at % 900 == 0, -32768, 0).astype(np.int16),
        "silence": np.zeros(samples, np.int16),
    }


MOST = {128: 12, 256: 12, 512: 24, 1024: 24, 2048: 48}  # steps, but of number 0


@pytest.mark.export
@pytest.mark.parametrize("fft", MOST)
def test_a_spectrum_is_a_few_steps_off(torch: Any, fft: int) -> None:
    """docs/front-ends.md has these bounds."""
    from ember.frontends import Spectrum

    spectrum = Spectrum(fft, fft // 2, fft)
    hann = spectrum.hann.double() / 2**15
    for name, samples in sounds(16 * fft).items():
        frames = torch.from_numpy(samples).unfold(0, fft, fft // 2)
        parts, exponents = spectrum.of_frames(frames)
        assert parts.abs().max() < 23200, name
        given = torch.view_as_complex(parts.double())
        want = torch.fft.rfft(frames.double() * hann) / 2.0 ** exponents[:, None]
        error = (given - want).abs()
        assert error[:, 0].max() < 60, name
        assert error[:, 1:].max() < MOST[fft], name
        squares = error[:, 1:].square()
        assert squares.mean(-1).sqrt().max() < 4, name
        energies = want[:, 1:].abs().square().sum(-1).clamp(min=1)
        assert (squares.sum(-1) / energies).max() < 10**-5 or name == "silence", name


@pytest.mark.export
def test_bands_differ_by_what_they_are_below_the_strongest(torch: Any) -> None:
    """docs/front-ends.md has these bounds."""
    from ember.frontends import LogMel

    whole, real = LogMel(RATE, int16=True), LogMel(RATE)
    for name, samples in sounds(3 * RATE).items():
        numbers = torch.from_numpy(samples)
        given, want = whole(numbers) * whole.step, real(numbers / 32768)
        below = (want.amax(-1, keepdim=True) - want) * 10 / np.log(10)
        error = (given - want).abs()
        for decibels, most in ((20, 0.01), (40, 0.05), (50, 0.2)):
            assert error[below <= decibels].max() < most, (name, decibels)


@pytest.mark.export
def test_cepstra_and_int8_are_close(torch: Any) -> None:
    from ember.frontends import MFCC, Int8, LogMel

    samples = torch.from_numpy(speech(RATE))
    want = MFCC(RATE)(samples / 32768)
    whole = MFCC(RATE, int16=True)
    given = whole(samples)
    assert given.dtype == torch.int16
    assert (given * whole.step - want).abs().max() < 0.15
    factors, offsets = np.linspace(1, 8, 13), np.linspace(-20, 20, 13)
    integers = Int8(whole, factors, offsets)(samples)
    exact = want * torch.from_numpy(factors) + torch.from_numpy(offsets)
    assert integers.dtype == torch.int8
    assert (integers - exact.round().clamp(-128, 127)).abs().max() <= 1
    bands = Int8(LogMel(RATE, int16=True), 4, 10)(samples)
    exact = LogMel(RATE)(samples / 32768) * 4 + 10
    assert (bands - exact.clamp(-128, 127)).abs().max() < 1.2


@pytest.mark.export
def test_a_stream_of_int16_gives_the_frames_of_the_whole(torch: Any) -> None:
    from ember.frontends import MFCC, Int8, LogMel, Spectrum, Streaming

    samples = torch.from_numpy(speech(1600))
    whole = torch.cat([torch.zeros(240, dtype=torch.int16), samples])
    mfcc = MFCC(int16=True)
    for front in (LogMel(int16=True), mfcc, Int8(mfcc, 2.0)):
        stream = Streaming(front)
        frames = [stream(hop) for hop in samples.split(160)]
        assert torch.equal(torch.stack(frames), front(whole))
    stream = Streaming(Spectrum(400, 160, 512))
    frames = [stream(hop) for hop in samples.split(160)]
    for index, part in enumerate(stream.front(whole)):
        assert torch.equal(torch.stack([frame[index] for frame in frames]), part)


@pytest.mark.export
def test_what_is_no_front_end_in_whole_numbers_is_refused(torch: Any) -> None:
    from ember.frontends import MFCC, Int8, LogMel, Spectrum

    mfcc = MFCC(int16=True)
    refused: list[tuple[Callable[[], object], str]] = [
        (lambda: LogMel(window=480, fft=480, int16=True), "a transform of 480"),
        (lambda: Spectrum(2, 1, 65536), "a transform of 65536"),
        (lambda: Spectrum(400, 160, 256), "a window of 400 samples"),
        (lambda: LogMel(floor=1e-12, int16=True), "the floor is 1e-12"),
        (lambda: LogMel(floor=2.0, int16=True), "the floor is 2"),
        (lambda: Int8(MFCC(), 1.0), "MFCC has no features in integers"),
        (lambda: Int8(Spectrum(4, 4, 4), 1.0), "Spectrum has no features"),
        (lambda: Int8(mfcc, [1.0, 2.0]), "are not those of 13 features"),
        (lambda: Int8(mfcc, float("inf")), "not a finite number"),
        (lambda: Int8(mfcc, 1e9), "factors of features are too large"),
    ]
    for make, why in refused:
        with pytest.raises(SdkError, match=why):
            make()


FRONT = """
import torch
from ember.frontends import {names}

torch.manual_seed(0)
front = {front}
model = Streaming(front, {channels})

def samples():
    return (torch.randint(-9000, 9000, (*{channels}, front.hop)).to(torch.int16),)

example_inputs = samples()
calibration_inputs = [samples() for _ in range(4)]
"""
FRONTS = {
    "spectrum": "Spectrum(64, 32, 128)",
    "logs": "LogMel(mels=20, window=200, hop=100, fft=256, int16=True)",
    "cepstra": "MFCC(8000, mels=24, window=256, hop=200, fft=256, int16=True)",
    "int8": "Int8(MFCC(int16=True), 3.0, 5.0)",
}


@pytest.mark.export
@pytest.mark.usefixtures("torch")
@pytest.mark.parametrize("name", FRONTS)
@pytest.mark.parametrize("channels", ["()", "(2,)"])
def test_a_front_end_in_whole_numbers_runs_as_a_program(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    name: str,
    channels: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    names = "MFCC, Int8, LogMel, Spectrum, Streaming"
    text = FRONT.format(names=names, front=FRONTS[name], channels=channels)
    Path("front.py").write_text(text)
    assert cli.main(["export", "front.py", "-o", "front.bpte"]) == 0, (
        capsys.readouterr().err
    )
    assert "largest difference from the model in PyTorch: 0" in capsys.readouterr().out
    assert cli.main(["test", "front.bpte", "--board", "host"]) == 0
