# SPDX-License-Identifier: Apache-2.0
"""Keyword spotting in PyTorch: a front end of a hop of samples, networks of a second.

They are separate programs, because they run at different times: the front end for every
hop, a network for every eighth. PROGRAM in the environment says which of them `ember
export model.py` finds: front, network or small (train.py exports all).
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import torch
from torch import nn

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "sdk"))

from recording import CLASSES, FEATURES, FRAMES, HOP, RATE, WINDOW

from ember.frontends import MFCC, Streaming

FOLDER = Path(__file__).parent
# Of each network: hops from one run to the next, channels, frames that become one.
# `small` is for cores without an FPU and without instructions for vectors.
NETWORKS = {"network": (8, 64, 2), "small": (12, 16, 4)}


class Features(nn.Module):
    """Cepstra, each with mean 0 and deviation 1 over the data: (.., FEATURES)."""

    def __init__(self) -> None:
        super().__init__()
        self.cepstra = MFCC(
            RATE, coefficients=FEATURES, window=WINDOW, hop=HOP, fft=256, mels=24
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

    def __init__(self, channels: int, stride: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(
                *(1, channels, (8, 4)),
                stride=(stride, 2),
                padding=((8 - stride) // 2, 1),
                bias=False,
            ),
            nn.BatchNorm2d(channels),
            nn.ReLU(),
            *(Separable(channels) for _ in range(4)),
            nn.AvgPool2d((FRAMES // stride, FEATURES // 2)),
            nn.Flatten(),
            nn.Linear(channels, len(CLASSES)),
        )

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        return self.layers(features)


class Spotter(nn.Module):
    """What weights.npz has: features and networks."""

    def __init__(self) -> None:
        super().__init__()
        self.features = Features()
        for name, (_, channels, stride) in NETWORKS.items():
            self.add_module(name, Network(channels, stride))


def save(spotter: Spotter) -> None:
    state = {name: value.numpy() for name, value in spotter.state_dict().items()}
    np.savez_compressed(FOLDER / "weights.npz", **state)


def trained() -> Spotter:
    spotter = Spotter()
    with np.load(FOLDER / "weights.npz") as state:
        spotter.load_state_dict({name: torch.from_numpy(state[name]) for name in state})
    return spotter.eval()


# ---- what `ember export` reads -------------------------------------------------------


PROGRAM = os.environ.get("PROGRAM", "network")


def model() -> nn.Module:
    spotter = trained()
    if PROGRAM == "front":
        return Streaming(spotter.features)
    return nn.Sequential(getattr(spotter, PROGRAM).layers, nn.Softmax(dim=-1))


if PROGRAM == "front":
    example_inputs = (torch.zeros(HOP),)
else:
    example_inputs = (torch.zeros(1, 1, FRAMES, FEATURES),)
