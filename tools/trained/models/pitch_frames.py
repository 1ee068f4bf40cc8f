# SPDX-License-Identifier: Apache-2.0
"""SwiftF0: 16 frames of a spectrogram of three resolutions -> 95 pitches for each."""

import numpy as np
import sounds
import torch
import weights
from torch import nn
from torch.nn import functional

PACKAGES = ("swift-f0==0.3.0", "onnx==1.23.2")
RATE, HOP, FRAMES, BANDS = 16000, 256, 16, 128
_SIZES = (1024, 2048, 512)  # of the windows, in samples
_BLOCKS = (  # kernel and dilation along pitches and frames
    *(((7, 3), 1), ((7, 1), 17), ((5, 1), 27)),
    *(((3, 1), 40), ((3, 1), 48), ((7, 3), 2)),
)


def _convolution(
    inputs: int, outputs: int, kernel: tuple[int, int], dilation: int = 1
) -> nn.Conv2d:
    """Along pitches and frames; the result is as large as the input."""
    padding = (kernel[0] // 2 * dilation, kernel[1] // 2)
    dilations = (dilation, 1)
    return nn.Conv2d(inputs, outputs, kernel, padding=padding, dilation=dilations)


class SwiftF0(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = _convolution(3, 12, (3, 3))
        self.blocks = nn.ModuleList(
            nn.ModuleList(_convolution(12, 12, *block) for _ in range(2))
            for block in _BLOCKS
        )
        self.narrow = nn.Conv2d(12, 4, 3)
        self.pitch = nn.Conv2d(4, 1, 1)
        self.voicing = _convolution(4, 4, (5, 1))
        self.confidence = nn.Sequential(
            nn.Conv1d(5, 16, 3, padding=1), nn.ReLU(), nn.Conv1d(16, 1, 1)
        )
        self._load(weights.of_onnx("swift-f0", "swift_f0/model.onnx"))

    def _load(self, stored: dict[str, torch.Tensor]) -> None:
        """The file has weights and biases in the order of the layers, but the pitch."""
        kernels = [name for name, value in stored.items() if value.ndim >= 3][:18]
        layers = [self.first, *(layer for block in self.blocks for layer in block)]
        layers += [self.narrow, self.pitch, self.voicing]
        layers += [self.confidence[0], self.confidence[2]]
        names = list(stored)
        for layer, name in zip(layers, kernels, strict=True):
            bias = names[names.index(name) + 1]
            layer.load_state_dict({"weight": stored[name], "bias": stored[bias]})

    def forward(self, spectra: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        x = functional.relu(self.first(spectra))
        for before, after in self.blocks:
            x = functional.relu(x + after(functional.relu(before(x))))
        x = functional.relu(self.narrow(functional.pad(x[:, :, :96], (1, 1, 1, 0))))
        pitches = self.pitch(x).squeeze(1).transpose(1, 2)
        heard = torch.amax(self.voicing(x), dim=2)
        loudness = spectra.mean(dim=(1, 2), keepdim=True).squeeze(1)
        voiced = self.confidence(torch.cat([heard, loudness], dim=1)).squeeze(1)
        return pitches, voiced.sigmoid()


def _compressed(size: int, stored: dict[str, torch.Tensor]) -> np.ndarray:
    """(size // 2 + 1, 128): which bins of a transform go into which band."""
    bins = size // 2 + 1
    (index,) = (x for x in stored.values() if x.shape == (_ENTRIES[size],) and x[0] > 1)
    matrix = np.zeros(bins * BANDS, dtype=np.float32)
    matrix[index.numpy()] = 1
    return matrix.reshape(bins, BANDS)


_ENTRIES = {1024: 1032, 2048: 2036, 512: 539}  # bins of all bands


def _spectra(sound: np.ndarray) -> torch.Tensor:
    """(1, 3, 128, 16): logarithms of magnitudes, windows of three lengths."""
    stored = weights.of_onnx("swift-f0", "swift_f0/model.onnx")
    channels = []
    for size in _SIZES:
        padded = np.pad(sound, size // 2)
        window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(size) / size)
        frames = sounds.frames(padded, size, HOP)[:FRAMES] * window
        bands = np.abs(np.fft.rfft(frames, axis=1)) @ _compressed(size, stored)
        channels.append(np.log(bands + 1e-8).T)
    return sounds.tensor(np.stack(channels))[None]


def _tone(hertz: float) -> torch.Tensor:
    return _spectra(sounds.tone(hertz, FRAMES * HOP, RATE))


model = SwiftF0
example_inputs = (_tone(220),)
calibration_inputs = [(_tone(55 * 2 ** (i / 4)),) for i in range(20)]

MEASURE = "frames told within half a semitone, %"
_HERTZ = [70 * 2 ** (i / 2.9) for i in range(12)]


def samples() -> list[tuple[torch.Tensor, ...]]:
    return [(_tone(hertz),) for hertz in _HERTZ]


def measure(outputs: list[tuple[np.ndarray, ...]]) -> float:
    """Of frames in the middle, by the three pitches around the likeliest."""
    grid = 46.875 * 2 ** (np.arange(95) * 0.0583102)  # bands in Hz
    right = []
    for hertz, (pitches, _) in zip(_HERTZ, outputs, strict=True):
        for frame in pitches[0, 4:12]:
            near = slice(max(frame.argmax() - 1, 0), frame.argmax() + 2)
            chances = np.exp(frame[near] - frame.max())
            pitch = np.exp(chances @ np.log(grid[near]) / chances.sum())
            right.append(abs(12 * np.log2(pitch / hertz)) <= 0.5)
    return 100 * float(np.mean(right))
