# SPDX-License-Identifier: Apache-2.0
"""Keyword spotting in PyTorch: a front end of a hop of samples, a network of a second.

Two programs come of it, because they run at different times: `front` for every hop,
`network` for every eighth. `ember export model.py` takes the network by default, and
the front end with FRONT=1 in the environment (train.py does both).
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import torch
from torch import nn

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "sdk"))

from ember.frontends import MFCC, Streaming

FOLDER = Path(__file__).parent
RATE = 8000
WINDOW, HOP = 256, 200  # samples: 32 ms every 25 ms
FRAMES, FEATURES = 40, 10  # a second
SPAN = WINDOW + (FRAMES - 1) * HOP  # samples that the network hears
STEPS = (8, 16)  # hops from one run of the network to the next: M4 and up, and M0
CLASSES = (
    *("yes", "no", "up", "down", "left", "right", "on", "off", "stop", "go"),
    *("(other)", "(silence)"),
)
CHANNELS = 32


class Features(nn.Module):
    """Ten MFCC, each with mean 0 and deviation 1 over the data: (.., FEATURES)."""

    def __init__(self) -> None:
        super().__init__()
        self.cepstra = MFCC(
            RATE, coefficients=FEATURES, window=WINDOW, hop=HOP, fft=256, mels=20
        )
        self.window, self.hop = WINDOW, HOP
        self.register_buffer("mean", torch.zeros(FEATURES))
        self.register_buffer("scale", torch.ones(FEATURES))

    def forward(self, samples: torch.Tensor) -> torch.Tensor:
        return self.normal(self.cepstra(samples))

    def of_frames(self, frames: torch.Tensor) -> torch.Tensor:
        return self.normal(self.cepstra.of_frames(frames))

    def normal(self, cepstra: torch.Tensor) -> torch.Tensor:
        return (cepstra - self.mean) * self.scale


class Separable(nn.Sequential):
    """A depthwise convolution and a pointwise one."""

    def __init__(self, channels: int) -> None:
        super().__init__(
            nn.Conv2d(channels, channels, 3, padding=1, groups=channels, bias=False),
            nn.BatchNorm2d(channels),
            nn.ReLU(),
            nn.Conv2d(channels, channels, 1, bias=False),
            nn.BatchNorm2d(channels),
            nn.ReLU(),
        )


class Network(nn.Module):
    """A small DS-CNN: (n, 1, FRAMES, FEATURES) -> (n, classes), logits."""

    def __init__(self, channels: int = CHANNELS) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(1, channels, (8, 4), stride=2, padding=(3, 1), bias=False),
            nn.BatchNorm2d(channels),
            nn.ReLU(),
            *(Separable(channels) for _ in range(4)),
            nn.AvgPool2d((FRAMES // 2, FEATURES // 2)),
            nn.Flatten(),
            nn.Dropout(0.1),
            nn.Linear(channels, len(CLASSES)),
        )

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        return self.layers(features)


class Spotter(nn.Module):
    """What weights.npz has: features and network."""

    def __init__(self) -> None:
        super().__init__()
        self.features = Features()
        self.network = Network()

    def forward(self, samples: torch.Tensor) -> torch.Tensor:
        """(n, SPAN) samples -> (n, classes), logits."""
        return self.network(self.features(samples)[:, None])


def save(spotter: Spotter) -> None:
    state = {name: value.numpy() for name, value in spotter.state_dict().items()}
    np.savez_compressed(FOLDER / "weights.npz", **state)


def trained() -> Spotter:
    spotter = Spotter()
    with np.load(FOLDER / "weights.npz") as state:
        spotter.load_state_dict({name: torch.from_numpy(state[name]) for name in state})
    return spotter.eval()


# ---- what `ember export` reads -------------------------------------------------------


def model() -> nn.Module:
    spotter = trained()
    if os.environ.get("FRONT"):
        return Streaming(spotter.features)
    return nn.Sequential(spotter.network.layers, nn.Softmax(dim=-1))


example_inputs = (
    (torch.zeros(HOP),)
    if os.environ.get("FRONT")
    else (torch.zeros(1, 1, FRAMES, FEATURES),)
)
