# SPDX-License-Identifier: Apache-2.0
"""Networks that ExecuTorch's Cortex-M flow quantises and lowers, for three targets.

The expected outputs are those of the dialect's reference operators in Python, so they
are exact. A model's weights and inputs are the same for every target.
"""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import nn
from torch.export import export

from corpus import networks
from corpus.case import Case, Exported, Run
from corpus.exporting import program_files
from corpus.inputs import Recipe, channels_last, f32, made
from ember.export.cortex_m import lowered, quantised

TARGETS = ("m55", "m4", "m0")
COMMITTED = ("m55", "m4")  # of the small networks


class LstmCell(nn.Module):
    """An LSTM written out over a few steps: linears, sums and activations."""

    def __init__(self, inputs: int, hidden: int) -> None:
        super().__init__()
        self.new = nn.ModuleList(nn.Linear(inputs, hidden) for _ in range(4))
        self.old = nn.ModuleList(nn.Linear(hidden, hidden) for _ in range(4))
        self.head = nn.Linear(hidden, 4)

    def forward(
        self, x: torch.Tensor, h: torch.Tensor, c: torch.Tensor
    ) -> torch.Tensor:
        for step in range(x.shape[1]):
            gates = [
                n(x[:, step]) + o(h) for n, o in zip(self.new, self.old, strict=True)
            ]
            taken, kept, given = (torch.sigmoid(gate) for gate in gates[:3])
            c = kept * c + taken * torch.tanh(gates[3])
            h = given * torch.tanh(c)
        return self.head(h)


class GruCell(nn.Module):
    """A GRU written out over a few steps."""

    def __init__(self, inputs: int, hidden: int) -> None:
        super().__init__()
        self.new = nn.ModuleList(nn.Linear(inputs, hidden) for _ in range(3))
        self.old = nn.ModuleList(nn.Linear(hidden, hidden) for _ in range(3))
        self.head = nn.Linear(hidden, 4)

    def forward(self, x: torch.Tensor, h: torch.Tensor) -> torch.Tensor:
        for step in range(x.shape[1]):
            now = [layer(x[:, step]) for layer in self.new]
            past = [layer(h) for layer in self.old]
            kept = torch.sigmoid(now[0] + past[0])
            fresh = torch.tanh(now[1] + torch.sigmoid(now[2] + past[2]) * past[1])
            h = fresh + kept * (h - fresh)
        return self.head(h)


def transposed(inputs: int, outputs: int) -> nn.Module:
    return nn.ConvTranspose2d(inputs, outputs, 2, 2)


def smoothed(inputs: int, outputs: int) -> nn.Module:
    larger = nn.Upsample(scale_factor=2, mode="bilinear")
    return nn.Sequential(larger, nn.Conv2d(inputs, outputs, 1))


class UNet(nn.Module):
    """Down and up again, joined with what was on the way: by transposed convolutions,
    or by pixels that are mixed (`smooth`)."""

    def __init__(self, inputs: int, *widths: int, smooth: bool = False) -> None:
        super().__init__()
        pairs = list(itertools.pairwise(widths))
        turned = smoothed if smooth else transposed
        self.down = nn.ModuleList(map(twice, (inputs, *widths), widths))
        self.turn = nn.ModuleList(turned(deep, flat) for flat, deep in reversed(pairs))
        self.up = nn.ModuleList(twice(2 * flat, flat) for flat, _ in reversed(pairs))
        self.head = nn.Conv2d(widths[0], 1, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        passed = []
        for number, layer in enumerate(self.down):
            x = layer(nn.functional.max_pool2d(x, 2) if number else x)
            passed.append(x)
        x = passed.pop()
        for turn, layer in zip(self.turn, self.up, strict=True):
            x = layer(torch.cat([turn(x), passed.pop()], 1))
        return torch.sigmoid(self.head(x))


class Branches(nn.Module):
    """The block of Inception: kernels of several sizes side by side."""

    def __init__(self, inputs: int, narrow: int, outputs: int) -> None:
        super().__init__()
        self.parts = nn.ModuleList(
            [
                nn.Sequential(*activated(nn.Conv2d(inputs, outputs, 1))),
                nn.Sequential(
                    *activated(nn.Conv2d(inputs, narrow, 1)),
                    *activated(nn.Conv2d(narrow, outputs, 3, padding=1)),
                ),
                nn.Sequential(
                    *activated(nn.Conv2d(inputs, narrow, 1)),
                    *activated(nn.Conv2d(narrow, outputs, 5, padding=2)),
                ),
                nn.Sequential(
                    nn.MaxPool2d(3, 1, 1), *activated(nn.Conv2d(inputs, outputs, 1))
                ),
            ]
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cat([part(x) for part in self.parts], 1)


def inception(first: int, *outputs: int) -> nn.Module:
    """Two convolutions, blocks with so many outputs of each branch, and the mean of the
    whole image. PyTorch takes the maxima of int8 images of up to 127 pixels."""
    stem = [
        *activated(nn.Conv2d(3, first, 3, 2, 1)),
        *activated(nn.Conv2d(first, first, 3, padding=1)),
    ]
    channels = [first, *(4 * each for each in outputs)]
    blocks = [
        Branches(inputs, each // 2, each)
        for inputs, each in zip(channels, outputs, strict=False)
    ]
    head = [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels[-1], 10)]
    return nn.Sequential(*stem, *blocks, *head)


def twice(inputs: int, outputs: int) -> nn.Module:
    """Two convolutions, with batch norm and ReLU."""
    pairs = ((inputs, outputs), (outputs, outputs))
    layers = [
        (nn.Conv2d(*pair, 3, padding=1), nn.BatchNorm2d(outputs)) for pair in pairs
    ]
    return nn.Sequential(*(part for pair in layers for part in (*pair, nn.ReLU())))


class Inverted(nn.Module):
    """The block of MobileNetV2: widen, filter each channel, narrow, add."""

    def __init__(self, inputs: int, outputs: int, stride: int, widen: int) -> None:
        super().__init__()
        wide = inputs * widen
        self.body = nn.Sequential(
            *(activated(nn.Conv2d(inputs, wide, 1, bias=False)) if widen > 1 else []),
            *activated(nn.Conv2d(wide, wide, 3, stride, 1, groups=wide, bias=False)),
            nn.Conv2d(wide, outputs, 1, bias=False),
            nn.BatchNorm2d(outputs),
        )
        self.added = stride == 1 and inputs == outputs

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.body(x)
        return x + y if self.added else y


def activated(convolution: nn.Conv2d) -> list[nn.Module]:
    """A convolution with batch norm and ReLU6."""
    return [convolution, nn.BatchNorm2d(convolution.out_channels), nn.ReLU6()]


# Widening, output channels at width 1, repeats and first stride of each stage.
STAGES = (
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
)


def mobilenet_v2(
    width: float = 0.35, classes: int = 10, stages: Sequence[Any] = STAGES
) -> nn.Module:
    """MobileNetV2 with channels rounded to eights."""

    def scaled(channels: int) -> int:
        return max(8, int(channels * width + 4) // 8 * 8)

    channels = scaled(32)
    parts = activated(nn.Conv2d(3, channels, 3, 2, 1, bias=False))
    for widen, outputs, repeats, stride in stages:
        for repeat in range(repeats):
            step = stride if repeat == 0 else 1
            parts.append(Inverted(channels, scaled(outputs), step, widen))
            channels = scaled(outputs)
    parts += activated(nn.Conv2d(channels, 4 * channels, 1, bias=False))
    head = [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4 * channels, classes)]
    return nn.Sequential(*parts, *head)


def exported(
    model: nn.Module,
    calibration: Sequence[tuple[Any, ...]],
    samples: Sequence[tuple[Any, ...]],
    target: str,
) -> Exported:
    """Quantise and lower a model; expect what the dialect's reference computes."""
    graph, _ = quantised(model.eval(), calibration)
    edge = lowered(export(graph, samples[0]), f"cortex-{target}", constants={})
    reference = edge.exported_program().module()
    runs = [Run("forward", sample, [reference(*sample)]) for sample in samples]
    return Exported(program_files(edge.to_executorch()), runs, rtol=0, atol=0)


def network(
    name: str,
    factory: Callable[[], nn.Module],
    *recipes: Recipe,
) -> list[Case]:
    """Cases named int8_<name>_<target>; small ones are committed for some targets."""

    def build(target: str) -> Exported:
        torch.manual_seed(zlib.crc32(name.encode()))
        model = networks.settled(factory())
        samples = [made(recipes) for _ in range(5)]
        if any(x.dim() == 4 for x in samples[0]):
            model = model.to(memory_format=torch.channels_last)
        return exported(model, samples[:4], samples[3:], target)

    targets = COMMITTED if name.endswith("_small") else TARGETS
    return [
        Case(
            f"int8_{name}_{target}",
            partial(build, target),
            committed=targets == COMMITTED,
        )
        for target in targets
    ]


CASES = [
    *network(
        "resnet8_small", lambda: networks.resnet8(4), channels_last(f32(1, 3, 16, 16))
    ),
    *network(
        "ds_cnn_small", lambda: networks.ds_cnn(8, 2), channels_last(f32(1, 1, 49, 10))
    ),
    *network(
        "mobilenet_small",
        lambda: mobilenet_v2(stages=STAGES[:3]),
        channels_last(f32(1, 3, 32, 32)),
    ),
    *network("autoencoder_small", lambda: networks.autoencoder(32, 12, 4), f32(1, 32)),
    *network("lstm_small", lambda: LstmCell(6, 8), f32(1, 3, 6), f32(1, 8), f32(1, 8)),
    *network("gru_small", lambda: GruCell(6, 8), f32(1, 3, 6), f32(1, 8)),
    *network("unet_small", lambda: UNet(1, 4, 6, 8), channels_last(f32(1, 1, 8, 12))),
    *network(
        "unet_smooth_small",
        lambda: UNet(1, 4, 6, smooth=True),
        channels_last(f32(1, 1, 8, 12)),
    ),
    *network(
        "inception_small", lambda: inception(8, 8), channels_last(f32(1, 3, 21, 22))
    ),
    networks.network("unet_64", lambda: UNet(3, 8, 16, 32), f32(1, 3, 64, 64)),
    *network("resnet8", networks.resnet8, channels_last(f32(1, 3, 32, 32))),
    *network("ds_cnn", networks.ds_cnn, channels_last(f32(1, 1, 49, 10))),
    *network("mobilenet_v1", networks.mobilenet_v1, channels_last(f32(1, 3, 96, 96))),
    *network("autoencoder", networks.autoencoder, f32(1, 640)),
    *network("mobilenet_v2", mobilenet_v2, channels_last(f32(1, 3, 64, 64))),
    *network("lstm", lambda: LstmCell(16, 32), f32(1, 8, 16), f32(1, 32), f32(1, 32)),
    *network("lstm_torch", lambda: networks.Recurrent(nn.LSTM, 16, 32), f32(1, 8, 16)),
    *network("gru", lambda: GruCell(16, 32), f32(1, 8, 16), f32(1, 32)),
]
