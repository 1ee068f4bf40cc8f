"""Frames of int16 samples become spectra and features in fixed point, bit for bit the
same on every board."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ember.errors import SdkError
from ember.export.packages import need
from ember.export.signal import banks, operators, roots
from ember.export.signal.fixed import FLOOR_FRACTION, LOG_FRACTION

torch = need("torch")

LOG_STEP = math.log(2) / (1 << LOG_FRACTION)  # of integers, as natural logarithms
LOWEST = 1e-9  # a floor: the energy of a sample of one step is 2^-30
_SHORTEST, _LONGEST = 4, 1 << 15
_MOST_SHIFT = 30


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
        ember = operators.defined()
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
        bands, weights = banks.ranges(filters)
        _keep(self, "bands", bands)
        _keep(self, "weights", roots.fixed(weights))

    def forward(self, frames: Any) -> Any:
        z, exponents = self.spectrum.of_frames(frames)
        ember = operators.defined()
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
        ember = operators.defined()
        return ember.affine_s16(x, self.factors, self.bias, self.shift, self.bits)


class Int8(torch.nn.Module):  # type: ignore[misc, name-defined]
    """The features of a LogMel or an MFCC with int16=True as a network of int8 takes
    them: (.., samples) int16 -> (.., features) int8; `Streaming` takes it, too.

        round(feature * factor + offset), saturated

    `feature` is what the front end gives in floating point. factors and offsets are
    numbers, or one for each feature: 1 / scale and the zero point of the network's
    input, with what standardises the features.
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
