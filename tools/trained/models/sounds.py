# SPDX-License-Identifier: Apache-2.0
"""Numbers -> sounds: tones, and a voice of pulses and formants, without recordings."""

from __future__ import annotations

import numpy as np
import torch

_VOWELS = (  # formants in Hz: a, i, u, e, o
    (730, 1090, 2440),
    (270, 2290, 3010),
    (300, 870, 2240),
    (530, 1840, 2480),
    (570, 840, 2410),
)
_SYLLABLE = 0.22  # seconds
_BREATH = 0.06  # seconds of silence between syllables


def tone(hertz: float, samples: int, rate: int) -> np.ndarray:
    """A tone with three overtones that fade."""
    time = np.arange(samples) / rate
    parts = [np.sin(2 * np.pi * hertz * (i + 1) * time) / (i + 1) for i in range(4)]
    return (0.3 * np.sum(parts, axis=0)).astype(np.float32)


def voice(
    seconds: float, rate: int, seed: int = 0, pitch: float = 120, throat: float = 1
) -> np.ndarray:
    """Vowels in syllables, as a throat's pulses through three resonances each; they are
    `throat` times as high as those of a man."""
    random = np.random.default_rng(seed)
    count = round(seconds * rate)
    time = np.arange(count) / rate
    melody = pitch * (1 + 0.15 * np.sin(2 * np.pi * 0.7 * time))
    phase = np.cumsum(melody / rate)
    pulses = np.diff(np.floor(phase), prepend=0) + 0.01 * random.standard_normal(count)
    sound = np.zeros(count)
    length = round(_SYLLABLE * rate)
    for number, start in enumerate(range(0, count, length)):
        piece = pulses[start : start + length] * _envelope(count, start, length, rate)
        for formant in _VOWELS[(number + seed) % len(_VOWELS)]:
            piece = _resonance(piece, throat * formant, 90, rate)
        sound[start : start + length] = piece / (np.abs(piece).max() + 1e-9)
    return (0.3 * sound + 0.001 * random.standard_normal(count)).astype(np.float32)


def _envelope(count: int, start: int, length: int, rate: int) -> np.ndarray:
    size = min(length, count - start)
    spoken = length - round(_BREATH * rate)
    shape = np.zeros(length)
    shape[:spoken] = np.hanning(spoken) ** 0.3
    return shape[:size]


def _resonance(signal: np.ndarray, hertz: float, width: float, rate: int) -> np.ndarray:
    """Two poles: a formant with its bandwidth in Hz."""
    radius = np.exp(-np.pi * width / rate)
    first = 2 * radius * np.cos(2 * np.pi * hertz / rate)
    second = -radius * radius
    out = np.zeros(len(signal))
    before, earlier = 0.0, 0.0
    for at, value in enumerate(signal):
        before, earlier = value + first * before + second * earlier, before
        out[at] = before
    return out


def frames(signal: np.ndarray, size: int, hop: int) -> np.ndarray:
    """(count, size): windows of a signal, one every `hop` samples."""
    starts = range(0, len(signal) - size + 1, hop)
    return np.stack([signal[at : at + size] for at in starts])


def spectra(signal: np.ndarray, size: int, hop: int) -> np.ndarray:
    """(count, size // 2 + 1): powers of windowed frames."""
    windowed = frames(signal, size, hop) * np.hanning(size)
    return np.abs(np.fft.rfft(windowed, axis=1)) ** 2


def mel(powers: np.ndarray, bands: int, rate: int, low: float = 0) -> np.ndarray:
    """(count, bands): powers in triangles of equal width on the mel scale."""
    edges = np.linspace(_to_mel(low), _to_mel(rate / 2), bands + 2)
    hertz = 700 * (10 ** (edges / 2595) - 1)
    return powers @ _triangles(hertz, powers.shape[1], rate).T


def slaney(powers: np.ndarray, bands: int, rate: int) -> np.ndarray:
    """(count, bands): as librosa has it, by the scale of Slaney's Auditory Toolbox, and
    triangles that all have an area of 1 Hz."""
    straight, knee, factor = 200 / 3, 1000.0, np.log(6.4) / 27
    last = knee / straight + np.log(rate / 2 / knee) / factor
    mels = np.linspace(0, last, bands + 2)
    curved = knee * np.exp(factor * (mels - knee / straight))
    hertz = np.where(mels * straight < knee, mels * straight, curved)
    areas = (hertz[2:] - hertz[:-2]) / 2
    return powers @ (_triangles(hertz, powers.shape[1], rate) / areas[:, None]).T


def logarithmic(powers: np.ndarray, bands: int, rate: int, low: float) -> np.ndarray:
    """(count, bands): powers in triangles of equal width on a logarithmic scale."""
    hertz = np.geomspace(low, rate / 2, bands + 2)
    return powers @ _triangles(hertz, powers.shape[1], rate).T


def _to_mel(hertz: float) -> float:
    return float(2595 * np.log10(1 + hertz / 700))


def _triangles(hertz: np.ndarray, bins: int, rate: int) -> np.ndarray:
    grid = np.linspace(0, rate / 2, bins)
    rising = (grid - hertz[:-2, None]) / np.diff(hertz)[:-1, None]
    falling = (hertz[2:, None] - grid) / np.diff(hertz)[1:, None]
    return np.clip(np.minimum(rising, falling), 0, None)


def tensor(values: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(np.ascontiguousarray(values, dtype=np.float32))
