# SPDX-License-Identifier: Apache-2.0
"""Whole networks: small ones to commit, and the sizes of MLPerf Tiny on demand."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from corpus.case import Case, Exported
from corpus.exporting import exported_module
from corpus.inputs import f32, made, positive
from corpus.modules import Net


def settled(module: nn.Module) -> nn.Module:
    """Give batch norms statistics and weights such that folding them matters."""
    for part in module.modules():
        if isinstance(part, nn.BatchNorm1d | nn.BatchNorm2d):
            part.running_mean = torch.randn(part.num_features) * 0.1
            part.running_var = torch.rand(part.num_features) + 0.5
            part.weight.data = torch.rand(part.num_features) + 0.5
            part.bias.data = torch.randn(part.num_features) * 0.1
    return module.eval()


def mlp(inputs: int, hidden: int, classes: int) -> nn.Module:
    """Two linear layers with a ReLU between them."""
    return nn.Sequential(
        nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, classes)
    )


def lenet(channels: int = 6) -> nn.Module:
    """Convolutions, max pools and three linear layers on (1, 28, 28) images."""
    return nn.Sequential(
        nn.Conv2d(1, channels, 5, padding=2),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(channels, 2 * channels, 5),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(2 * channels * 25, 8 * channels),
        nn.ReLU(),
        nn.Linear(8 * channels, 10),
        nn.Softmax(dim=-1),
    )


def normed(layer: nn.Conv2d, activation: type[nn.Module] = nn.ReLU) -> list[nn.Module]:
    """A convolution with batch norm and an activation."""
    return [layer, nn.BatchNorm2d(layer.out_channels), activation()]


def residual_block(inputs: int, outputs: int, stride: int) -> nn.Module:
    """Two 3x3 convolutions and a shortcut, a strided 1x1 one where shapes change."""
    body = [
        *normed(nn.Conv2d(inputs, outputs, 3, stride, 1)),
        nn.Conv2d(outputs, outputs, 3, 1, 1),
        nn.BatchNorm2d(outputs),
    ]
    same = inputs == outputs and stride == 1
    shortcut = nn.Identity() if same else nn.Conv2d(inputs, outputs, 1, stride)
    return Net(
        lambda m, x: torch.relu(m.body(x) + m.shortcut(x)),
        body=nn.Sequential(*body),
        shortcut=shortcut,
    )


def pooled(channels: int, classes: int) -> list[nn.Module]:
    """The mean of an image, and a classifier."""
    return [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, classes)]


def resnet8(width: int = 16) -> nn.Module:
    """The image classifier of MLPerf Tiny on (3, 32, 32) images."""
    return nn.Sequential(
        *normed(nn.Conv2d(3, width, 3, padding=1)),
        residual_block(width, width, 1),
        residual_block(width, 2 * width, 2),
        residual_block(2 * width, 4 * width, 2),
        *pooled(4 * width, 10),
    )


def separable(inputs: int, outputs: int, stride: int = 1) -> list[nn.Module]:
    """A depthwise 3x3 and a pointwise convolution, each with batch norm and ReLU."""
    return [
        *normed(nn.Conv2d(inputs, inputs, 3, stride, 1, groups=inputs, bias=False)),
        *normed(nn.Conv2d(inputs, outputs, 1, bias=False)),
    ]


def ds_cnn(width: int = 64, blocks: int = 4) -> nn.Module:
    """The keyword spotter of MLPerf Tiny on (1, 49, 10) features."""
    body = [part for _ in range(blocks) for part in separable(width, width)]
    return nn.Sequential(
        *normed(nn.Conv2d(1, width, (10, 4), (2, 2), (5, 1), bias=False)),
        nn.Dropout(0.2),
        *body,
        nn.Dropout(0.4),
        nn.AvgPool2d((25, 5)),
        nn.Flatten(),
        nn.Linear(width, 12),
    )


# Output channels at width 1 and stride of every separable block of MobileNetV1.
MOBILENET_BLOCKS = (
    ((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2))
    + ((512, 1),) * 5
    + ((1024, 2), (1024, 1))
)


def mobilenet_v1(width: float = 0.25, classes: int = 2) -> nn.Module:
    """The visual wake words model of MLPerf Tiny on (3, 96, 96) images."""
    channels = int(32 * width)
    parts = normed(nn.Conv2d(3, channels, 3, 2, 1, bias=False))
    for outputs, stride in MOBILENET_BLOCKS:
        parts += separable(channels, int(outputs * width), stride)
        channels = int(outputs * width)
    return nn.Sequential(*parts, *pooled(channels, classes))


def autoencoder(size: int = 640, hidden: int = 128, code: int = 8) -> nn.Module:
    """The anomaly detector of MLPerf Tiny: linear, batch norm, ReLU, ten times."""
    widths = [size, *[hidden] * 4, code, *[hidden] * 4]
    parts: list[nn.Module] = []
    for inputs, outputs in itertools.pairwise(widths):
        parts += [nn.Linear(inputs, outputs), nn.BatchNorm1d(outputs), nn.ReLU()]
    return nn.Sequential(*parts, nn.Linear(hidden, size))


class Encoder(nn.Module):
    """A transformer encoder block written out: attention, layer norm, GELU."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm1 = nn.LayerNorm(width)
        self.mix = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.norm2 = nn.LayerNorm(width)
        self.feed = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def attention(self, x: torch.Tensor) -> torch.Tensor:
        batch, steps, width = x.shape
        shape = (batch, steps, 3, self.heads, width // self.heads)
        q, k, v = self.mix(x).reshape(shape).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-2, -1) / (width // self.heads) ** 0.5
        mixed = torch.softmax(scores, dim=-1) @ v
        return self.out(mixed.transpose(1, 2).reshape(batch, steps, width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(self.norm1(x))
        return x + self.feed(self.norm2(x))


def recurrent(cell: type[nn.RNNBase], inputs: int, hidden: int) -> nn.Module:
    """An LSTM or a GRU over a sequence and a linear head on its last step."""
    return Net(
        lambda m, x: m.head(m.cell(x)[0][:, -1]),
        cell=cell(inputs, hidden, batch_first=True),
        head=nn.Linear(hidden, 4),
    )


def torch_encoder(width: int, heads: int) -> nn.Module:
    """The same kind of block as torch.nn ships it."""
    return nn.TransformerEncoderLayer(
        width, heads, 2 * width, batch_first=True, activation="gelu"
    )


def network(
    name: str,
    factory: Callable[[], nn.Module],
    *recipes: Any,
    committed: bool = False,
    fold: bool = False,
) -> Case:
    """A case named model_<name>."""

    def build() -> Exported:
        return exported_module(settled(factory()), made(recipes), fold=fold)

    return Case(f"model_{name}", build, committed)


def small(name: str, factory: Callable[[], nn.Module], *recipes: Any) -> Case:
    """A network whose case is committed."""
    return network(name, factory, *recipes, committed=True)


CASES = [
    small("mlp_small", lambda: mlp(16, 24, 4), f32(1, 16)),
    small("lenet_small", lambda: lenet(3), positive(1, 1, 28, 28)),
    small("resnet8_small", lambda: resnet8(4), f32(1, 3, 16, 16)),
    small("ds_cnn_small", lambda: ds_cnn(8, 2), f32(1, 1, 49, 10)),
    small("autoencoder_small", lambda: autoencoder(32, 12, 4), f32(1, 32)),
    small("encoder_small", lambda: Encoder(16, 2), f32(1, 6, 16)),
    small("torch_encoder_small", lambda: torch_encoder(16, 2), f32(1, 5, 16)),
    small("lstm_small", lambda: recurrent(nn.LSTM, 6, 8), f32(1, 4, 6)),
    small("gru_small", lambda: recurrent(nn.GRU, 6, 8), f32(1, 4, 6)),
    network("mlp", lambda: mlp(784, 128, 10), positive(1, 784)),
    network("mlp_folded", lambda: mlp(784, 128, 10), positive(1, 784), fold=True),
    network("lenet", lenet, positive(1, 1, 28, 28)),
    network("resnet8", resnet8, f32(1, 3, 32, 32)),
    network("ds_cnn", ds_cnn, f32(1, 1, 49, 10)),
    network("mobilenet_v1", mobilenet_v1, f32(1, 3, 96, 96)),
    network("autoencoder", autoencoder, f32(1, 640)),
    network("encoder", lambda: Encoder(64, 4), f32(1, 32, 64)),
    network("torch_encoder", lambda: torch_encoder(64, 4), f32(2, 16, 64)),
    network("lstm", lambda: recurrent(nn.LSTM, 16, 32), f32(1, 8, 16)),
    network("lstm_100", lambda: recurrent(nn.LSTM, 16, 32), f32(1, 100, 16)),
    network("gru", lambda: recurrent(nn.GRU, 16, 32), f32(1, 8, 16)),
]
