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
from corpus.modules import Net
from ember.export.calibration import Calibration
from ember.export.cortex_m import lowered, quantised

TARGETS = ("m55", "m4", "m0")
COMMITTED = ("m55", "m4")  # of the small networks


def cell(function: Callable[..., Any], gates: int, inputs: int, hidden: int) -> Net:
    """A recurrent cell written out over a few steps: for each gate a linear layer of
    what is new, and one of what was before."""
    return Net(
        function,
        new=nn.ModuleList(nn.Linear(inputs, hidden) for _ in range(gates)),
        old=nn.ModuleList(nn.Linear(hidden, hidden) for _ in range(gates)),
        head=nn.Linear(hidden, 4),
    )


def lstm(m: Any, x: torch.Tensor, h: torch.Tensor, c: torch.Tensor) -> torch.Tensor:
    for step in range(x.shape[1]):
        gates = [n(x[:, step]) + o(h) for n, o in zip(m.new, m.old, strict=True)]
        taken, kept, given = (torch.sigmoid(gate) for gate in gates[:3])
        c = kept * c + taken * torch.tanh(gates[3])
        h = given * torch.tanh(c)
    return m.head(h)


def gru(m: Any, x: torch.Tensor, h: torch.Tensor) -> torch.Tensor:
    for step in range(x.shape[1]):
        now = [layer(x[:, step]) for layer in m.new]
        past = [layer(h) for layer in m.old]
        kept = torch.sigmoid(now[0] + past[0])
        fresh = torch.tanh(now[1] + torch.sigmoid(now[2] + past[2]) * past[1])
        h = fresh + kept * (h - fresh)
    return m.head(h)


def transposed(inputs: int, outputs: int) -> nn.Module:
    return nn.ConvTranspose2d(inputs, outputs, 2, 2)


def smoothed(inputs: int, outputs: int) -> nn.Module:
    larger = nn.Upsample(scale_factor=2, mode="bilinear")
    return nn.Sequential(larger, nn.Conv2d(inputs, outputs, 1))


def u_net(inputs: int, *widths: int, smooth: bool = False) -> nn.Module:
    """Down and up again, joined with what was on the way: by transposed convolutions,
    or by pixels that are mixed (`smooth`)."""
    pairs = list(itertools.pairwise(widths))
    turned = smoothed if smooth else transposed

    def forward(m: Any, x: torch.Tensor) -> torch.Tensor:
        passed = []
        for number, layer in enumerate(m.down):
            x = layer(nn.functional.max_pool2d(x, 2) if number else x)
            passed.append(x)
        x = passed.pop()
        for turn, layer in zip(m.turn, m.up, strict=True):
            x = layer(torch.cat([turn(x), passed.pop()], 1))
        return torch.sigmoid(m.head(x))

    return Net(
        forward,
        down=nn.ModuleList(map(twice, (inputs, *widths), widths)),
        turn=nn.ModuleList(turned(deep, flat) for flat, deep in reversed(pairs)),
        up=nn.ModuleList(twice(2 * flat, flat) for flat, _ in reversed(pairs)),
        head=nn.Conv2d(widths[0], 1, 1),
    )


def branches(inputs: int, narrow: int, outputs: int) -> nn.Module:
    """The block of Inception: kernels of several sizes side by side."""
    parts = [
        activated(nn.Conv2d(inputs, outputs, 1)),
        *(
            [
                *activated(nn.Conv2d(inputs, narrow, 1)),
                *activated(nn.Conv2d(narrow, outputs, size, padding=size // 2)),
            ]
            for size in (3, 5)
        ),
        [nn.MaxPool2d(3, 1, 1), *activated(nn.Conv2d(inputs, outputs, 1))],
    ]
    return Net(
        lambda m, x: torch.cat([part(x) for part in m.parts], 1),
        parts=nn.ModuleList(nn.Sequential(*part) for part in parts),
    )


def inception(first: int, *outputs: int) -> nn.Module:
    """Two convolutions, blocks with so many outputs of each branch, and the mean of the
    whole image. PyTorch takes the maxima of int8 images of up to 127 pixels."""
    stem = [
        *activated(nn.Conv2d(3, first, 3, 2, 1)),
        *activated(nn.Conv2d(first, first, 3, padding=1)),
    ]
    channels = [first, *(4 * each for each in outputs)]
    blocks = [
        branches(inputs, each // 2, each)
        for inputs, each in zip(channels, outputs, strict=False)
    ]
    return nn.Sequential(*stem, *blocks, *networks.pooled(channels[-1], 10))


def twice(inputs: int, outputs: int) -> nn.Module:
    """Two convolutions, with batch norm and ReLU."""
    first = networks.normed(nn.Conv2d(inputs, outputs, 3, padding=1))
    second = networks.normed(nn.Conv2d(outputs, outputs, 3, padding=1))
    return nn.Sequential(*first, *second)


def inverted(inputs: int, outputs: int, stride: int, widen: int = 4) -> nn.Module:
    """The block of MobileNetV2: widen, filter each channel, narrow, add."""
    wide = inputs * widen
    body = [
        *(activated(nn.Conv2d(inputs, wide, 1, bias=False)) if widen > 1 else []),
        *activated(nn.Conv2d(wide, wide, 3, stride, 1, groups=wide, bias=False)),
        nn.Conv2d(wide, outputs, 1, bias=False),
        nn.BatchNorm2d(outputs),
    ]
    is_added = stride == 1 and inputs == outputs
    return Net(
        (lambda m, x: x + m.body(x)) if is_added else (lambda m, x: m.body(x)),
        body=nn.Sequential(*body),
    )


activated = partial(networks.normed, activation=nn.ReLU6)

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
            parts.append(inverted(channels, scaled(outputs), step, widen))
            channels = scaled(outputs)
    parts += activated(nn.Conv2d(channels, 4 * channels, 1, bias=False))
    return nn.Sequential(*parts, *networks.pooled(4 * channels, classes))


def exported(
    model: nn.Module,
    calibration: Sequence[tuple[Any, ...]],
    samples: Sequence[tuple[Any, ...]],
    target: str,
) -> Exported:
    """Quantise and lower a model; expect what the dialect's reference computes."""
    graph, _ = quantised(model.eval(), Calibration(calibration))
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
    small = targets == COMMITTED
    return [Case(f"int8_{name}_{t}", partial(build, t), small) for t in targets]


def photo(*shape: int) -> Recipe:
    return channels_last(f32(*shape))


CASES = [
    *network("resnet8_small", lambda: networks.resnet8(4), photo(1, 3, 16, 16)),
    *network("ds_cnn_small", lambda: networks.ds_cnn(8, 2), photo(1, 1, 49, 10)),
    *network(
        "mobilenet_small",
        lambda: mobilenet_v2(stages=STAGES[:3]),
        photo(1, 3, 32, 32),
    ),
    *network("autoencoder_small", lambda: networks.autoencoder(32, 12, 4), f32(1, 32)),
    *network(
        "lstm_small", partial(cell, lstm, 4, 6, 8), f32(1, 3, 6), f32(1, 8), f32(1, 8)
    ),
    *network("gru_small", partial(cell, gru, 3, 6, 8), f32(1, 3, 6), f32(1, 8)),
    *network("unet_small", lambda: u_net(1, 4, 6, 8), photo(1, 1, 8, 12)),
    *network(
        "unet_smooth_small", lambda: u_net(1, 4, 6, smooth=True), photo(1, 1, 8, 12)
    ),
    *network("inception_small", lambda: inception(8, 8), photo(1, 3, 21, 22)),
    networks.network("unet_64", lambda: u_net(3, 8, 16, 32), f32(1, 3, 64, 64)),
    *network("resnet8", networks.resnet8, photo(1, 3, 32, 32)),
    *network("ds_cnn", networks.ds_cnn, photo(1, 1, 49, 10)),
    *network("mobilenet_v1", networks.mobilenet_v1, photo(1, 3, 96, 96)),
    *network("autoencoder", networks.autoencoder, f32(1, 640)),
    *network("mobilenet_v2", mobilenet_v2, photo(1, 3, 64, 64)),
    *network(
        "lstm", partial(cell, lstm, 4, 16, 32), f32(1, 8, 16), f32(1, 32), f32(1, 32)
    ),
    *network("lstm_torch", lambda: networks.recurrent(nn.LSTM, 16, 32), f32(1, 8, 16)),
    *network("gru", partial(cell, gru, 3, 16, 32), f32(1, 8, 16), f32(1, 32)),
]
