"""Frames of samples become the logarithms of energies in mel bands, or cepstra."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ember.errors import SdkError
from ember.export.packages import need
from ember.frontends.fixed import LOG_STEP, Affine, LogBands, Spectrum

torch = need("torch")


class LogMel(torch.nn.Module):  # type: ignore[misc, name-defined]
    """log(mel energies + floor), (.., samples) -> (.., frames, mels).

    sample_rate  samples a second
    window       samples of a frame, weighted by a periodic Hann window
    hop          samples from one frame's start to the next one's
    fft          length of the transform, at least `window`; zeros follow a frame
    mels         bands of mel_filters(), from `low` to `high` Hz (default: half of the
                 sample rate)
    floor        added to each energy before the logarithm, > 0
    int16        samples are int16, 32,768 times as large, and results too: of `step`
                 each; `fft` is a power of 2 then, and floor from 1e-9 to 1

    There are 1 + (samples - window) // hop frames: none reaches past the samples. A
    wrong argument is an SdkError.
    """

    step = LOG_STEP

    def __init__(  # noqa: PLR0913 - one front end, and each has a usual value
        self,
        sample_rate: int = 16000,
        *,
        window: int = 400,
        hop: int = 160,
        fft: int = 512,
        mels: int = 40,
        low: float = 20.0,
        high: float | None = None,
        floor: float = 1e-6,
        int16: bool = False,
    ) -> None:
        super().__init__()
        if not hop >= 1 or not 2 <= window <= fft:
            raise SdkError(
                f"a window of {window} samples, a hop of {hop} and a transform of {fft}"
                " do not fit",
                hint="a hop is at least 1, a window at most as long as the transform",
            )
        if not floor > 0:
            raise SdkError(f"the floor is {floor}: its logarithm needs it above 0")
        filters = mel_filters(sample_rate, fft, mels, low, high)
        self.window, self.hop, self.fft, self.floor = window, hop, fft, floor
        self.features, self.int16 = mels, int16  # features of a frame
        self.matrix = np.ones(mels)  # logarithms become features
        if int16:
            self.logs = LogBands(Spectrum(window, hop, fft), filters, floor)
            return
        self.register_buffer("hann", torch.hann_window(window), persistent=False)
        self.register_buffer("filters", torch.from_numpy(filters), persistent=False)

    def forward(self, samples: Any) -> Any:
        return self.of_frames(samples.unfold(-1, self.window, self.hop))

    def of_frames(self, frames: Any) -> Any:
        """(.., window) samples -> (.., mels)."""
        if self.int16:
            return self.logs(frames)
        spectrum = torch.fft.rfft(frames * self.hann, n=self.fft)
        energies = spectrum.abs().square() @ self.filters
        return torch.log(energies + self.floor)


class MFCC(torch.nn.Module):  # type: ignore[misc, name-defined]
    """The first `coefficients` of the orthonormal DCT-II of LogMel's bands,
    (.., samples) -> (.., frames, coefficients). `options` are LogMel's; with int16
    results are int16, of `step` each, and saturate.
    """

    step = 8 * LOG_STEP

    def __init__(
        self, sample_rate: int = 16000, *, coefficients: int = 13, **options: Any
    ) -> None:
        super().__init__()
        self.mel = LogMel(sample_rate, **options)
        mels = self.mel.features
        if not 1 <= coefficients <= mels:
            raise SdkError(f"{mels} mel bands have no {coefficients} coefficients")
        self.window, self.hop = self.mel.window, self.mel.hop
        self.features, self.int16 = coefficients, self.mel.int16  # features of a frame
        self.matrix = _dct(mels)[:, :coefficients]  # logarithms become features
        if self.int16:
            self.logs = self.mel.logs
            self.affine = Affine(self.matrix / 8, np.zeros(coefficients), 16)
            return
        cosines = self.matrix.astype(np.float32)
        self.register_buffer("cosines", torch.from_numpy(cosines), persistent=False)

    def forward(self, samples: Any) -> Any:
        return self.of_frames(samples.unfold(-1, self.window, self.hop))

    def of_frames(self, frames: Any) -> Any:
        """(.., window) samples -> (.., coefficients)."""
        if self.int16:
            return self.affine(self.logs(frames))
        return self.mel.of_frames(frames) @ self.cosines


def mel_filters(
    sample_rate: int, fft: int, mels: int, low: float = 0.0, high: float | None = None
) -> NDArray[np.float32]:
    """Triangles that overlap by half on the mel scale, (fft // 2 + 1, mels).

    mel = 2595 log10(1 + Hz / 700); each triangle's top is 1. SdkError for a band
    without a frequency of the transform, whose feature would never change.
    """
    high = sample_rate / 2 if high is None else high
    if not 0 <= low < high <= sample_rate / 2:
        raise SdkError(
            f"bands from {low:g} to {high:g} Hz do not fit {sample_rate} Hz",
            hint=f"0 <= low < high <= {sample_rate / 2:g}",
        )
    edges = _hertz(np.linspace(_mel(low), _mel(high), mels + 2))
    bins = np.arange(fft // 2 + 1)[:, None] * (sample_rate / fft)
    rising = (bins - edges[:-2]) / np.diff(edges)[:-1]
    falling = (edges[2:] - bins) / np.diff(edges)[1:]
    filters = np.maximum(0.0, np.minimum(rising, falling))
    empty = np.flatnonzero(filters.sum(axis=0) == 0)
    if len(empty):
        raise SdkError(
            f"{len(empty)} of {mels} mel bands have no frequency of a transform of"
            f" {fft}, the first at {edges[empty[0] + 1]:.0f} Hz",
            hint="take fewer bands, a longer transform or a higher `low`",
        )
    bank: NDArray[np.float32] = filters.astype(np.float32)
    return bank


def _mel(hertz: Any) -> Any:
    return 2595 * np.log10(1 + np.asarray(hertz) / 700)


def _hertz(mel: Any) -> Any:
    return 700 * (10 ** (np.asarray(mel) / 2595) - 1)


def _dct(n: int) -> Any:
    """The orthonormal DCT-II as a matrix to multiply by from the right, (n, n)."""
    angles = np.pi / n * np.outer(np.arange(n) + 0.5, np.arange(n))
    return np.cos(angles) * np.where(np.arange(n) == 0, 1 / n, 2 / n) ** 0.5
