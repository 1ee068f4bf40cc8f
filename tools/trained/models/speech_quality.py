# SPDX-License-Identifier: Apache-2.0
"""DNSMOS: a logarithmic mel spectrogram of speech -> how listeners would rate it."""

import numpy as np
import sounds
import torch
import weights
from torch import nn

PACKAGES = ("speechmos==0.0.1.1", "onnx==1.23.2")
RATE, BANDS, FRAMES = 16000, 120, 100  # a second; nine in the package


class Quality(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            *(nn.Conv2d(1, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)),
            *(nn.Conv2d(32, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)),
            *(nn.Conv2d(32, 32, 3, padding=1), nn.ReLU()),
            *(nn.Conv2d(32, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)),
            *(nn.Conv2d(32, 64, 3, padding=1), nn.ReLU()),
        )
        self.rating = nn.Sequential(
            *(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU()),
            nn.Linear(64, 1),
        )
        self._load(
            weights.of_onnx("speechmos", "speechmos/dnsmos_models/model_v8.onnx")
        )

    def _load(self, stored: dict[str, torch.Tensor]) -> None:
        named = {}
        for layer, number in ((0, 5), (3, 6), (6, 7), (8, 8), (11, 9)):
            named[f"features.{layer}.weight"] = stored[f"conv2d_{number}/kernel:0"]
            named[f"features.{layer}.bias"] = stored[f"conv2d_{number}/bias:0"]
        for layer, number in ((0, 3), (2, 4), (4, 5)):
            dense = f"mos_estimator_small_1/dense_{number}"
            read = "ReadVariableOp/resource:0"
            named[f"rating.{layer}.weight"] = stored[f"{dense}/MatMul/{read}"].T
            named[f"rating.{layer}.bias"] = stored[f"{dense}/BiasAdd/{read}"]
        self.load_state_dict(named)

    def forward(self, spectrogram: torch.Tensor) -> torch.Tensor:
        x = self.features(spectrogram.unsqueeze(1))
        return self.rating(torch.amax(x, dim=(2, 3)))


def _spectrogram(seed: int, noise: float) -> torch.Tensor:
    """(1, 100, 120): mel bands in dB below the loudest, scaled to about 0 to 1."""
    sound = sounds.voice(1.02, RATE, seed)
    sound += noise * np.random.default_rng(seed).standard_normal(len(sound)).astype("f")
    bands = sounds.mel(sounds.spectra(sound, 321, 160), BANDS, RATE)[:FRAMES]
    decibels = 10 * np.log10(np.maximum(bands / bands.max(), 1e-8))
    return sounds.tensor((decibels + 40) / 40)[None]


model = Quality
example_inputs = (_spectrogram(0, 0.001),)
calibration_inputs = [(_spectrogram(i, 0.02 * i),) for i in range(1, 6)]

MEASURE = "order of ratings by noise, Spearman"
_NOISES = [0.002 * 1.6**i for i in range(12)]


def samples() -> list[tuple[torch.Tensor, ...]]:
    return [(_spectrogram(7, noise),) for noise in _NOISES]


def measure(outputs: list[tuple[np.ndarray, ...]]) -> float:
    """1 when each sound with more noise than another is rated lower."""
    ratings = np.array([rating.item() for (rating,) in outputs])
    ranks = (-ratings).argsort(kind="stable").argsort()
    return float(np.corrcoef(ranks, np.arange(len(_NOISES)))[0, 1])
