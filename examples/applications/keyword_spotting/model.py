# SPDX-License-Identifier: Apache-2.0
"""Keyword spotting in PyTorch: a front end of a hop of samples, networks of a second.

They are separate programs, because they run at different times: the front end for every
hop, a network for every sixth. PROGRAM in the environment says which of them `ember
export model.py` finds: network, small, or a folder of a network, whose front end it is
then (train.py exports all).

Training has the front end in floating point, boards have it in fixed point.
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

from ember import program
from ember.frontends import MFCC, Int8, Streaming
from ember.model import describe

FOLDER = Path(__file__).parent
# Of each network: hops from one run to the next, channels, frames that become one.
# `small` is for cores without an FPU and without instructions for vectors.
NETWORKS = {"network": (6, 64, 2), "small": (12, 32, 4)}
_CEPSTRA = {"coefficients": FEATURES, "window": WINDOW, "hop": HOP, "fft": 256}


class Features(nn.Module):
    """Cepstra, each with mean 0 and deviation 1 over the data: (.., FEATURES)."""

    def __init__(self) -> None:
        super().__init__()
        self.cepstra = MFCC(RATE, mels=24, **_CEPSTRA)
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


def front(spotter: Spotter, network: Path) -> Streaming:
    """A hop of int16 samples -> a frame as the int8 input of a network has it."""
    read = program.read(network)
    forward = next(method for method in read.methods if method.name == "forward")
    edges = describe.of(read, forward)
    takes = next(edge for edge in edges if edge.kind == "input")
    factors = spotter.features.scale.double().numpy() / takes.scale
    offsets = takes.zero_point - spotter.features.mean.double().numpy() * factors
    cepstra = MFCC(RATE, mels=24, int16=True, **_CEPSTRA)
    return Streaming(Int8(cepstra, factors, offsets))


# ---- what `ember export` reads -------------------------------------------------------


PROGRAM = os.environ.get("PROGRAM", "network")


def model() -> nn.Module:
    spotter = trained()
    if PROGRAM not in NETWORKS:
        return front(spotter, FOLDER / PROGRAM / "network.pte")
    return nn.Sequential(getattr(spotter, PROGRAM).layers, nn.Softmax(dim=-1))


if PROGRAM in NETWORKS:
    example_inputs = (torch.zeros(1, 1, FRAMES, FEATURES),)
else:
    example_inputs = (torch.zeros(HOP, dtype=torch.int16),)
