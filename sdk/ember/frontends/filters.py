"""Samples become filtered, resampled or standardised samples."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ember.errors import SdkError
from ember.export.operators import library
from ember.export.operators.front_ends import FRACTION
from ember.export.packages import need
from ember.frontends.streaming import Causal, Held

torch = need("torch")


class FIR(Causal):
    """A filter by `taps`, the newest sample's first: (.., n) -> (.., n).

    Samples before the first are zeros. float32; with `int16`, samples and results are
    int16, and taps are rounded to 15 fraction bits, sums are exact, results rounded and
    saturated.
    """

    def __init__(self, taps: Sequence[float], *, int16: bool = False) -> None:
        self._start(np.asarray(taps, np.float64)[None, ::-1], 1, 1, int16)

    def _start(self, phases: NDArray[Any], up: int, down: int, int16: bool) -> None:
        torch.nn.Module.__init__(self)
        if phases.ndim != 2 or phases.size == 0 or not np.isfinite(phases).all():
            raise SdkError("a filter has at least one tap, a finite number")
        self.axis, self.past = -1, phases.shape[1] - 1
        self.stride = down // math.gcd(up, down)
        self.layer = _Taps(phases, up, down, int16)


class Resample(FIR):
    """Changes the sample rate by `up` / `down`: (.., n) -> (.., n * up / down).

    taps  at `up` times the rate, with a sum of about `up`. Default: a windowed sinc
          that passes 90 % of the band of the lower rate and has `crossings` zeros on
          each side, so that it delays by as many samples of the lower rate
    """

    def __init__(
        self,
        up: int,
        down: int,
        taps: Sequence[float] | None = None,
        *,
        crossings: int = 8,
        int16: bool = False,
    ) -> None:
        if min(up, down, crossings) < 1 or max(up, down) > 4096:
            raise SdkError(
                f"a rate of {up} / {down} is out of range",
                hint="both must be from 1 to 4,096, such as 1 and 3 for a third",
            )
        common = math.gcd(up, down)
        up, down = up // common, down // common
        wide = _sinc(up, down, crossings) if taps is None else np.asarray(taps)
        self._start(_phases(wide.astype(np.float64), up), up, down, int16)


class _Taps(torch.nn.Module):  # type: ignore[misc, name-defined]
    """Filters a window of samples that starts with the past that the taps reach."""

    def __init__(self, phases: NDArray[Any], up: int, down: int, int16: bool) -> None:
        super().__init__()
        self.up, self.down = up, down
        taps = phases.astype(np.float32)
        if int16:
            scaled = np.round(phases * (1 << FRACTION))
            if scaled.max() > 32767 or scaled.min() < -32768:
                raise SdkError(
                    f"a tap of {np.abs(phases).max():g} is not below 1",
                    hint="scale the taps, and what follows, or use float32",
                )
            taps = scaled.astype(np.int16)
        self.register_buffer("taps", torch.from_numpy(taps.copy()), persistent=False)

    def forward(self, window: Any) -> Any:
        ember = library.defined()
        return ember.resample(window, self.taps, self.up, self.down)


class Biquads(torch.nn.Module):  # type: ignore[misc, name-defined]
    """A cascade of second-order filters: (.., n) -> (.., n), float32.

    sections  rows of b0, b1, b2, a0, a1, a2, as scipy.signal.butter(output="sos")
              gives them

    The state starts at zero, both for `streamed()` and for a whole recording.
    """

    def __init__(self, sections: Sequence[Sequence[float]] | NDArray[Any]) -> None:
        super().__init__()
        rows = np.asarray(sections, np.float64)
        if rows.ndim != 2 or rows.shape[1:] != (6,) or not len(rows):
            raise SdkError(
                "sections are rows of b0, b1, b2, a0, a1 and a2",
                hint='scipy.signal.butter(.., output="sos") gives them',
            )
        if not (np.isfinite(rows).all() and rows[:, 3].all()):
            raise SdkError("a section has a number that is not finite, or an a0 of 0")
        rows = (rows / rows[:, 3:4])[:, [0, 1, 2, 4, 5]]
        if not _is_stable(rows):
            raise SdkError(
                "a section is not stable: its poles are not inside the circle"
            )
        numbers = torch.from_numpy(np.ascontiguousarray(rows, np.float32))
        self.register_buffer("sections", numbers, persistent=False)

    def zeros(self, x: Any) -> Any:
        """The state before the first of the samples `x`."""
        return x.new_zeros((*x.shape[:-1], len(self.sections), 2))

    def forward(self, x: Any) -> Any:
        return library.defined().biquads(x, self.zeros(x), self.sections)[0]

    def in_hops(self) -> Held:
        return StreamingBiquads(self)


class StreamingBiquads(Held):
    """Biquads that continue where the last call ended."""

    def __init__(self, biquads: Biquads) -> None:
        super().__init__()
        self.biquads = biquads
        self.held: Any
        self.register_buffer("held", None, persistent=False)

    def forward(self, x: Any) -> Any:
        if self.held is None:
            self.held = self.biquads.zeros(x)
        ember = library.defined()
        y, held = ember.biquads(x, self.held, self.biquads.sections)
        self.held.copy_(held)
        return y


class Standardise(torch.nn.Module):  # type: ignore[misc, name-defined]
    """Windows of samples with a mean of 0 and a deviation of 1, (.., samples) ->
    (.., frames, window); `Streaming` takes it, too.

    window, hop  samples of a frame, and from one frame's start to the next one's
    floor        added to the variance, > 0, so that a sensor at rest gives no signal
    """

    def __init__(self, window: int, hop: int, *, floor: float = 1e-5) -> None:
        super().__init__()
        if hop < 1 or window < 2:
            raise SdkError(f"a window of {window} and a hop of {hop} do not fit")
        if not floor > 0:
            raise SdkError(f"the floor is {floor}: a constant window needs it above 0")
        self.window, self.hop, self.floor = window, hop, floor
        self.features = window  # of a frame

    def forward(self, samples: Any) -> Any:
        return self.of_frames(samples.unfold(-1, self.window, self.hop))

    def of_frames(self, frames: Any) -> Any:
        """(.., window) samples -> the same, standardised."""
        normal = torch.nn.functional.layer_norm
        return normal(frames, (self.window,), eps=self.floor)


def _is_stable(rows: NDArray[Any]) -> bool:
    a1, a2 = rows[:, 3], rows[:, 4]
    return bool((np.abs(a2) < 1).all() and (np.abs(a1) < 1 + a2).all())


def _sinc(up: int, down: int, crossings: int) -> NDArray[Any]:
    """A low pass at `up` times the rate, by a Kaiser window of about 80 dB."""
    most = max(up, down)
    half = crossings * most
    times = np.arange(-half, half + 1)
    cut = 0.9 / most
    taps = np.sinc(cut * times) * np.kaiser(len(times), 8.0)
    gained: NDArray[Any] = taps * (up / taps.sum())
    return gained


def _phases(taps: NDArray[Any], up: int) -> NDArray[Any]:
    """The taps of each phase between two samples, the oldest sample's first."""
    reach = -(-len(taps) // up)
    whole = np.concatenate([taps, np.zeros(reach * up - len(taps))])
    rows: NDArray[Any] = whole.reshape(reach, up).T[:, ::-1]
    return rows
