# SPDX-License-Identifier: Apache-2.0
"""PESTO's encoder: the constant-Q spectrum of a moment -> 384 pitches, how likely."""

import itertools

import numpy as np
import sounds
import torch
import weights
from torch import nn
from torch.nn import functional

PACKAGES = ("pesto-pitch==2.0.1",)
BINS, CROP = 251, 16
_CHANNELS = (40, 30, 30, 10, 3)


class Pesto(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        checkpoint = "pesto/weights/mir-1k_g7.ckpt"
        stored = weights.of_torch("pesto-pitch", checkpoint, data=False)
        size = BINS - 2 * CROP
        self.layernorm = nn.LayerNorm([1, size])
        self.conv1 = nn.Sequential(nn.Conv1d(1, 40, 39, padding=19))
        self.prefilt_layers = nn.ModuleList(
            nn.Sequential(nn.Conv1d(40, 40, 39, padding=19)) for _ in range(2)
        )
        layers: list[nn.Module] = []
        for wide, narrow in itertools.pairwise(_CHANNELS):
            layers += [nn.Conv1d(wide, narrow, 1), nn.LeakyReLU(0.3), nn.Identity()]
        self.conv_layers = nn.Sequential(*layers)
        self.fc = nn.Conv1d(1, 1, 3 * size + 383, padding=383, bias=False)
        encoder = {
            name.removeprefix("encoder."): value
            for name, value in stored["state_dict"].items()
            if name.startswith("encoder.")
        }
        self.load_state_dict(encoder)

    def forward(self, spectrum: torch.Tensor) -> torch.Tensor:
        x = self.layernorm(spectrum[..., CROP:-CROP])
        x = functional.leaky_relu(self.conv1(x), 0.3)
        for layer in self.prefilt_layers:
            x = functional.leaky_relu(layer(x), 0.3) + x
        x = self.conv_layers(x).flatten(1)
        return self.fc(x.unsqueeze(1)).squeeze(1).softmax(dim=-1)


def _spectrum(hertz: float) -> torch.Tensor:
    """(1, 1, 251) in dB: three bins a semitone from 27.5 Hz, widths of a constant Q."""
    rate, size = 44100, 32768
    powers = sounds.spectra(sounds.tone(hertz, size, rate), size, size)[0]
    grid = np.linspace(0, rate / 2, len(powers))
    centres = 27.5 * 2 ** (np.arange(BINS) / 36)
    shapes = np.exp(-((36 * np.log2(grid[1:] / centres[:, None])) ** 2))
    bins = shapes @ powers[1:] / shapes.sum(axis=1)
    return sounds.tensor(10 * np.log10(bins / bins.max() + 1e-6))[None, None]


model = Pesto
example_inputs = (_spectrum(440),)
calibration_inputs = [(_spectrum(82 * 2 ** (i / 6)),) for i in range(24)]

MEASURE = "intervals told within half a semitone, %"
_HERTZ = [85 * 2 ** (i / 7.3) for i in range(24)]


def samples() -> list[tuple[torch.Tensor, ...]]:
    return [(_spectrum(hertz),) for hertz in _HERTZ]


def measure(outputs: list[tuple[np.ndarray, ...]]) -> float:
    """Pitches are those of a scale that begins somewhere: three bins a semitone."""
    bins = np.array([pitches[0].argmax() for (pitches,) in outputs])
    semitones = 12 * np.log2(np.array(_HERTZ) / _HERTZ[0])
    offsets = bins / 3 - semitones
    return 100 * float(np.mean(np.abs(offsets - np.median(offsets)) <= 0.5))
