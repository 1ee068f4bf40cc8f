"""Filters of `ember.frontends`: what they compute and refuse, as programs, too."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from ember import cli
from ember.cases import one_call
from ember.errors import SdkError

OUT = "*, Tensor(a!) out) -> Tensor(a!)"
RESAMPLE = f"(Tensor window, Tensor taps, int up, int down, {OUT}"
BIQUADS = (
    "(Tensor x, Tensor held, Tensor sections, *, Tensor(a!) out0, Tensor(b!) out1) ->"
    " (Tensor(a!), Tensor(b!))"
)
BAYER = f"(Tensor pixels, int red, {OUT}"
Shape = tuple[int, ...]


@pytest.fixture(name="torch")
def _torch() -> Any:
    return pytest.importorskip("torch")


def zeros(*shape: int, dtype: npt.DTypeLike = np.float32) -> npt.NDArray[Any]:
    return np.zeros(shape, dtype)


# ---- what needs no PyTorch -----------------------------------------------------------


@pytest.mark.parametrize(
    ("window", "taps", "up", "down", "out", "why"),
    [
        ((2,), (1, 3), 1, 1, (1,), "fewer samples than taps"),
        ((2,), (1, 0), 1, 1, (1,), "fewer samples than taps"),
        ((5,), (1, 3), 1, 2, (1,), "not a whole number of results"),
        ((5,), (1, 3), 2, 1, (6,), "bad shapes"),
        ((), (1, 3), 1, 1, (), "bad shapes"),
        ((5,), (1, 3), 0, 1, (3,), "out of range"),
        ((5,), (1, 3), 1, 4097, (3,), "out of range"),
        ((5,), (1, 3), 1, 1, (4,), "shape"),
    ],
)
def test_bad_resampling_is_refused(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    window: Shape,
    taps: Shape,
    up: int,
    down: int,
    out: Shape,
    why: str,
) -> None:
    arguments = [zeros(*window), zeros(*taps), up, down]
    one_call.write(
        tmp_path / "a", "ember::resample.out", RESAMPLE, arguments, [zeros(*out)]
    )
    assert cli.main(["test", str(tmp_path / "a"), "--board", "host"]) == 1
    assert why in "".join(capsys.readouterr())


@pytest.mark.parametrize(
    ("x", "held", "sections"),
    [
        ((2, 4), (2, 1, 2), (2, 5)),
        ((2, 4), (3, 1, 2), (1, 5)),
        ((2, 4), (2, 1, 3), (1, 5)),
        ((2, 4), (2, 2), (1, 5)),
        ((2, 4), (2, 1, 2), (1, 6)),
        ((2, 4), (2, 0, 2), (0, 5)),
        ((), (2,), (1, 5)),
    ],
)
def test_bad_biquads_are_refused(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    x: Shape,
    held: Shape,
    sections: Shape,
) -> None:
    arguments = [zeros(*x), zeros(*held), zeros(*sections)]
    results = [zeros(*x), zeros(*held)]
    one_call.write(tmp_path / "a", "ember::biquads.out", BIQUADS, arguments, results)
    assert cli.main(["test", str(tmp_path / "a"), "--board", "host"]) == 1
    assert "biquads: bad shapes" in "".join(capsys.readouterr())


@pytest.mark.parametrize(
    ("shape", "red", "why"),
    [
        ((3, 4), 0, "not cells of 2 x 2"),
        ((4, 3), 0, "not cells of 2 x 2"),
        ((4,), 0, "not rows of pixels"),
        ((4, 4), 4, "out of range"),
    ],
)
def test_bad_bayer_images_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], shape: Shape, red: int, why: str
) -> None:
    pixels = zeros(*shape, dtype=np.uint8)
    out = zeros(*(size // 2 for size in shape), dtype=np.uint8)
    one_call.write(tmp_path / "a", "ember::gray_bayer.out", BAYER, [pixels, red], [out])
    assert cli.main(["test", str(tmp_path / "a"), "--board", "host"]) == 1
    assert why in "".join(capsys.readouterr())


# ---- modules -------------------------------------------------------------------------


@pytest.mark.export
def test_fir_is_a_convolution(torch: Any) -> None:
    from ember.frontends import FIR

    taps = np.random.default_rng(0).standard_normal(7) / 8
    samples = np.random.default_rng(1).standard_normal((2, 40))
    want = np.stack([np.convolve(row, taps)[:40] for row in samples])
    given = FIR(taps.tolist())(torch.from_numpy(samples.astype(np.float32)))
    np.testing.assert_allclose(given.numpy(), want, atol=1e-6)
    integers = np.round(samples * 4000).astype(np.int16)
    given = FIR(taps.tolist(), int16=True)(torch.from_numpy(integers)).numpy()
    assert given.dtype == np.int16
    assert np.abs(given - want * 4000).max() < 1.5


@pytest.mark.export
@pytest.mark.parametrize(
    ("up", "down", "n"), [(1, 3, 96), (3, 1, 96), (4, 6, 96), (160, 147, 294)]
)
def test_a_tone_is_the_same_at_another_rate(
    torch: Any, up: int, down: int, n: int
) -> None:
    from ember.frontends import Resample

    angle = 2 * np.pi * 3 / n
    given = Resample(up, down)(torch.sin(torch.arange(n) * angle))
    assert len(given) == n * up // down
    delay = 8 * max(up, down) / np.gcd(up, down)
    up, down = up // np.gcd(up, down), down // np.gcd(up, down)
    times = (torch.arange(len(given)) * down - delay) / up
    settled = slice(len(given) // 2, None)
    want = torch.sin(times * angle)
    torch.testing.assert_close(given[settled], want[settled], rtol=0, atol=1e-4)


@pytest.mark.export
def test_a_lower_rate_leaves_high_tones_out(torch: Any) -> None:
    from ember.frontends import Resample

    tone = torch.sin(torch.arange(600) * np.pi * 0.9)  # would fold to a low one
    assert Resample(1, 4)(tone)[40:].abs().max() < 1e-3


@pytest.mark.export
def test_biquads_are_the_difference_equation(torch: Any) -> None:
    from ember.frontends import Biquads

    rows = [[0.2, 0.4, 0.2, 1, -0.5, 0.3], [2, -4, 2, 2, -3.0, 1.2]]
    x = np.random.default_rng(1).standard_normal((2, 30))
    want = x
    for b0, b1, b2, a0, a1, a2 in rows:
        y = np.zeros((2, 32))
        padded = np.pad(want, ((0, 0), (2, 0)))
        for i in range(2, 32):
            ahead = b0 * padded[:, i] + b1 * padded[:, i - 1] + b2 * padded[:, i - 2]
            y[:, i] = (ahead - a1 * y[:, i - 1] - a2 * y[:, i - 2]) / a0
        want = y[:, 2:]
    given = Biquads(rows)(torch.from_numpy(x.astype(np.float32)))
    np.testing.assert_allclose(given.numpy(), want, atol=1e-5)


@pytest.mark.export
def test_filters_take_hops(torch: Any) -> None:
    from ember.frontends import FIR, Biquads, Resample, reset, streamed

    low = [[0.2, 0.4, 0.2, 1, -0.5, 0.3]]
    model = torch.nn.Sequential(Biquads(low), Resample(2, 3), FIR([1, -1]))
    samples = torch.randn(2, 48)
    stream = streamed(model, samples[:, :12])
    for _ in range(2):
        hops = [stream(hop) for hop in samples.split(12, 1)]
        assert torch.equal(torch.cat(hops, 1), model(samples))
        reset(stream)
    with pytest.raises(SdkError, match="a hop has 10 frames"):
        stream(samples[:, :10])


@pytest.mark.export
def test_windows_are_standardised(torch: Any) -> None:
    from ember.frontends import Standardise, Streaming

    samples = torch.randn(3, 40) * 5 + 2
    frames = Standardise(16, 8)(samples)
    assert frames.shape == (3, 4, 16)
    torch.testing.assert_close(frames.mean(-1), torch.zeros(3, 4), rtol=0, atol=1e-5)
    deviation = frames.std(-1, correction=0)
    torch.testing.assert_close(deviation, torch.ones(3, 4), rtol=0, atol=1e-4)
    stream = Streaming(Standardise(16, 8), (3,))
    given = [stream(hop) for hop in samples.split(8, 1)]
    torch.testing.assert_close(torch.stack(given[1:], 1), frames)
    assert Standardise(8, 8)(torch.full((8,), 3.0)).abs().max() == 0


@pytest.mark.export
@pytest.mark.parametrize("pattern", ["RGGB", "GRBG", "GBRG", "BGGR"])
def test_a_coloured_cell_is_its_colour(torch: Any, pattern: str) -> None:
    from ember.frontends import Bayer

    values = {"R": 200, "G": 100, "B": 50}
    cell = np.array([values[colour] for colour in pattern], np.uint8).reshape(2, 2)
    pixels = torch.from_numpy(np.tile(cell, (3, 4)))
    assert (Bayer(pattern)(pixels) == torch.tensor([200, 100, 50])[:, None, None]).all()
    luma = (77 * 200 + 150 * 100 + 29 * 50 + 128) // 256
    assert (Bayer(pattern, gray=True)(pixels) == luma).all()


@pytest.mark.export
def test_what_is_no_filter_is_refused(torch: Any) -> None:
    from ember.frontends import FIR, Bayer, Biquads, Resample, Standardise

    refused: list[tuple[Callable[[], object], str]] = [
        (lambda: FIR([]), "at least one tap"),
        (lambda: FIR([float("nan")]), "a finite number"),
        (lambda: FIR([1.0], int16=True), "a tap of 1 is not below 1"),
        (lambda: Resample(0, 1), "a rate of 0 / 1 is out of range"),
        (lambda: Biquads([[1, 2, 3]]), "sections are rows of"),
        (lambda: Biquads([[1, 0, 0, 0, 0, 0]]), "an a0 of 0"),
        (lambda: Biquads([[1, 0, 0, 1, -2.1, 1.0]]), "not stable"),
        (lambda: Standardise(1, 1), "a window of 1 and a hop of 1"),
        (lambda: Standardise(4, 1, floor=0), "the floor is 0"),
        (lambda: Bayer("RGB"), "'RGB' is not a Bayer pattern"),
        (lambda: Bayer()(torch.zeros(3, 4)), "3 x 4 pixels are not cells"),
    ]
    for make, why in refused:
        with pytest.raises(SdkError, match=why):
            make()
