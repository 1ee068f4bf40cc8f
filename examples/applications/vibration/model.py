# SPDX-License-Identifier: Apache-2.0
"""256 samples of an accelerometer -> the energies of 32 bands, and their
reconstruction by an autoencoder that knows only sound machines.

`ember export model.py --quantize int8` reads `model`, `example_inputs` and
`calibration_inputs`: the autoencoder. With the variable FRONT=1 they are the front end,
which stays float32.
"""

from __future__ import annotations

import os
from pathlib import Path

import machines
import numpy as np
import torch
from torch import Tensor, nn

from ember.frontends import LogMel, Streaming

HERE = Path(__file__).parent
WINDOW, HOP, BANDS = 512, 256, 32  # samples, samples, features
USUAL = 80  # frames that make the usual bands, after the first
G = machines.LSB  # samples are counts of the sensor


def bands() -> LogMel:
    return LogMel(
        machines.RATE, window=WINDOW, hop=HOP, fft=WINDOW, mels=BANDS, low=5, floor=1e-3
    )


class Autoencoder(nn.Module):
    """(.., BANDS) deviations -> what four numbers can say of them."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            *(nn.Linear(BANDS, 48), nn.ReLU(), nn.Linear(48, 4)),
            *(nn.Linear(4, 48), nn.ReLU(), nn.Linear(48, BANDS)),
        )

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.layers(x)
        return y


class Front(nn.Module):
    """One hop of counts, (1, HOP), and the usual bands of this machine, (1, BANDS).

    Two outputs, (1, BANDS) each: the bands, and how far they are from the usual ones,
    in deviations.
    """

    def __init__(self) -> None:
        super().__init__()
        self.bands = Streaming(bands(), channels=(1,))
        self.register_buffer("deviation", torch.ones(BANDS))

    def forward(self, counts: Tensor, usual: Tensor) -> tuple[Tensor, Tensor]:
        now = self.bands(counts * G)
        return now, (now - usual) / self.deviation


class Monitor(nn.Module):
    """Both programs: score() of what they return is that of a frame."""

    def __init__(self) -> None:
        super().__init__()
        self.front, self.autoencoder = Front(), Autoencoder()

    def forward(self, counts: Tensor, usual: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        now, x = self.front(counts, usual)
        return now, x, self.autoencoder(x)


def score(x: Tensor, y: Tensor) -> Tensor:
    """Of each frame, as firmware/detector.h computes it."""
    return (x - y).square().mean(-1)


def hops(samples: np.ndarray) -> list[Tensor]:
    """A recording in calls, (1, HOP) each; what does not fill the last is left out."""
    whole = samples[: samples.size // HOP * HOP].astype(np.float32)
    return list(torch.from_numpy(whole).reshape(-1, 1, HOP))


def features(samples: np.ndarray) -> Tensor:
    """(frames, BANDS) of a recording, none of which reaches before its start."""
    return bands()(torch.from_numpy(samples.astype(np.float32)) * G)


def trained() -> Monitor:
    monitor = Monitor()
    with np.load(HERE / "weights.npz") as weights:
        monitor.load_state_dict({k: torch.from_numpy(w) for k, w in weights.items()})
    return monitor.eval()


def sound(random: np.random.Generator, count: int, seconds: float) -> Tensor:
    """(frames, BANDS) of `count` sound machines, less what is usual for each."""
    parts, windows = [machines.Part("sound", seconds)], []
    for _ in range(count):
        now = features(machines.record(machines.machine(random), parts, random))
        windows.append(now - now.mean(0))
    return torch.cat(windows)


def calibration() -> list[tuple[Tensor]]:
    """Sound machines that neither training nor the recorded data have."""
    x = sound(np.random.default_rng(7), 3, 8) / trained().front.deviation
    return [(row[None],) for row in x]


if os.environ.get("FRONT"):
    model: object = lambda: trained().front  # noqa: E731
    example_inputs: tuple[Tensor, ...] = (torch.zeros(1, HOP), torch.zeros(1, BANDS))
else:
    model = lambda: trained().autoencoder  # noqa: E731
    example_inputs = (torch.zeros(1, BANDS),)
    calibration_inputs = calibration
