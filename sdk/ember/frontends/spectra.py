"""Frames of samples become spectra and features, in floating and in fixed point.

A frame's features are the logarithms of its energies in mel bands, or cepstra. Those in
fixed point, of int16 samples, are the same on every board, bit for bit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ember.errors import SdkError
from ember.export.graph import pairs
from ember.export.operators import library, roots
from ember.export.operators.front_ends import FLOOR_FRACTION, LOG_FRACTION
from ember.export.packages import need

torch = need("torch")

LOG_STEP = math.log(2) / (1 << LOG_FRACTION)  # of integers, as natural logarithms
LOWEST = 1e-9  # a floor: the energy of a sample of one step is 2^-30
_SHORTEST, _LONGEST = 4, 1 << 15
_MOST_SHIFT = 30


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

    There are 1 + (samples - window) // hop frames: none reaches past the samples.
    Raises SdkError for a wrong argument.
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

    mel = 2595 log10(1 + Hz / 700); each triangle's peak is 1. Raises SdkError for a
    band that contains no frequency of the transform: its feature would never change.
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


# ---- fixed point: samples of int16 ---------------------------------------------------


class Spectrum(torch.nn.Module):  # type: ignore[misc, name-defined]
    """Short-time spectra of int16 samples, (.., samples) -> two tensors.

        (.., frames, fft // 2 + 1, 2)  int16, the parts of complex numbers
        (.., frames)                   int32, e: a number is its parts times 2^e

    window  samples of a frame, weighted by a periodic Hann window
    hop     samples from one frame's start to the next one's
    fft     length of the transform, at least `window`: a power of 2 from 4 to 32,768
    """

    int16 = True

    def __init__(self, window: int, hop: int, fft: int) -> None:
        super().__init__()
        if not _SHORTEST <= fft <= _LONGEST or fft & (fft - 1):
            raise SdkError(
                f"a transform of {fft} is not one for int16",
                hint=f"take a power of 2 from {_SHORTEST} to {_LONGEST:,}",
            )
        if hop < 1 or not 2 <= window <= fft:
            raise SdkError(
                f"a window of {window} samples, a hop of {hop} and a transform of {fft}"
                " do not fit"
            )
        self.window, self.hop, self.fft = window, hop, fft
        hann = torch.hann_window(window, dtype=torch.float64).numpy()
        _keep(self, "hann", roots.fixed(hann))
        _keep(self, "roots", roots.of_real_s16(fft))

    def forward(self, samples: Any) -> Any:
        return self.of_frames(samples.unfold(-1, self.window, self.hop))

    def of_frames(self, frames: Any) -> Any:
        """(.., window) samples -> (.., fft // 2 + 1, 2), (..)."""
        ember = library.defined()
        return ember.rfft_s16(frames.contiguous(), self.hann, self.roots, self.fft)


class LogBands(torch.nn.Module):  # type: ignore[misc, name-defined]
    """log2(energies in bands + floor) of frames, with 10 fraction bits: (.., window)
    int16 -> (.., bands) int16. Samples of 1 and -1 are 32,768 and -32,768.

    filters  (fft // 2 + 1, bands), from 0 to 1
    """

    def __init__(self, spectrum: Spectrum, filters: NDArray[Any], floor: float) -> None:
        super().__init__()
        if not LOWEST <= floor <= 1:
            raise SdkError(
                f"the floor is {floor:g}, which int16 has no room for",
                hint=f"take one from {LOWEST:g} to 1",
            )
        self.spectrum, self.floor = spectrum, round(floor * 2**FLOOR_FRACTION)
        bands, weights = pairs.ranges(filters)
        _keep(self, "bands", bands)
        _keep(self, "weights", roots.fixed(weights))

    def forward(self, frames: Any) -> Any:
        z, exponents = self.spectrum.of_frames(frames)
        ember = library.defined()
        return ember.log_bands_s16(z, exponents, self.bands, self.weights, self.floor)


class Affine(torch.nn.Module):  # type: ignore[misc, name-defined]
    """int16 times a matrix, plus a bias, as int16 or int8, rounded and saturated.

    matrix  (n, m), or (m,) for a factor of each number
    bias    (m,)
    """

    def __init__(self, matrix: NDArray[Any], bias: NDArray[Any], bits: int) -> None:
        super().__init__()
        largest = max(np.abs(matrix).max() / 2**15, np.abs(bias).max() / 2**31)
        shift = math.floor(-math.log2(largest)) if largest > 0 else _MOST_SHIFT
        if shift < 1:
            raise SdkError("factors of features are too large for int16")
        self.shift, self.bits = min(shift, _MOST_SHIFT), bits
        _keep(self, "factors", _scaled(matrix.T, self.shift, np.int16))
        _keep(self, "bias", _scaled(bias, self.shift, np.int32))

    def forward(self, x: Any) -> Any:
        ember = library.defined()
        return ember.affine_s16(x, self.factors, self.bias, self.shift, self.bits)


class Int8(torch.nn.Module):  # type: ignore[misc, name-defined]
    """Turns the features of a LogMel or MFCC with int16=True into the input of an int8
    network: (.., samples) int16 -> (.., features) int8. `Streaming` takes it, too.

        round(feature * factor + offset), saturated

    `feature` is what the front end gives in floating point. factors and offsets are
    numbers, or sequences with one per feature: 1 / scale and the zero point of the
    network's input, combined with the standardisation of the features.
    """

    int16 = True

    def __init__(
        self,
        front: Any,
        factors: float | Sequence[float] | NDArray[Any],
        offsets: float | Sequence[float] | NDArray[Any] = 0.0,
    ) -> None:
        super().__init__()
        if not getattr(front, "int16", False) or not hasattr(front, "logs"):
            raise SdkError(
                f"{type(front).__name__} has no features in integers",
                hint="Int8 takes a LogMel or an MFCC with int16=True",
            )
        self.logs, self.features = front.logs, front.features
        self.window, self.hop = front.window, front.hop
        each = [np.asarray(x, np.float64) for x in (factors, offsets)]
        if any(x.shape not in ((), (self.features,)) for x in each):
            raise SdkError(
                f"factors and offsets are not those of {self.features} features"
            )
        if not all(np.isfinite(x).all() for x in each):
            raise SdkError("a factor or an offset is not a finite number")
        scale, bias = (np.broadcast_to(x, self.features) for x in each)
        self.affine = Affine(front.matrix * LOG_STEP * scale, bias, 8)

    def forward(self, samples: Any) -> Any:
        return self.of_frames(samples.unfold(-1, self.window, self.hop))

    def of_frames(self, frames: Any) -> Any:
        """(.., window) samples -> (.., features)."""
        return self.affine(self.logs(frames))


def _keep(module: Any, name: str, array: NDArray[Any]) -> None:
    value = torch.from_numpy(np.ascontiguousarray(array))
    module.register_buffer(name, value, persistent=False)


def _scaled(numbers: NDArray[Any], shift: int, dtype: Any) -> NDArray[Any]:
    limits = np.iinfo(dtype)
    scaled = np.round(np.asarray(numbers, np.float64) * 2.0**shift)
    return np.clip(scaled, limits.min, limits.max).astype(dtype)
