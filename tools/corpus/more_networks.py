# SPDX-License-Identifier: Apache-2.0
"""More networks of the kinds that run on small devices; exported on demand."""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812 - its usual name
from torch import Tensor, nn

from corpus.inputs import channels_last, f32, real, whole
from corpus.networks import (
    Encoder,
    Recurrent,
    autoencoder,
    ds_cnn,
    lenet,
    mlp,
    mobilenet_v1,
    network,
    resnet8,
)


class Inverted(nn.Module):
    """The inverted residual block of MobileNetV2."""

    def __init__(self, inputs: int, outputs: int, stride: int, factor: int = 4) -> None:
        super().__init__()
        wide = inputs * factor
        self.body = nn.Sequential(
            nn.Conv2d(inputs, wide, 1, bias=False),
            nn.BatchNorm2d(wide),
            nn.ReLU6(),
            nn.Conv2d(wide, wide, 3, stride, 1, groups=wide, bias=False),
            nn.BatchNorm2d(wide),
            nn.ReLU6(),
            nn.Conv2d(wide, outputs, 1, bias=False),
            nn.BatchNorm2d(outputs),
        )
        self.same = stride == 1 and inputs == outputs

    def forward(self, x: Tensor) -> Tensor:
        return x + self.body(x) if self.same else self.body(x)


class Squeeze(nn.Module):
    """Squeeze and excitation around hard swish, as in MobileNetV3."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.down = nn.Conv2d(width, width // 4, 1)
        self.up = nn.Conv2d(width // 4, width, 1)

    def forward(self, x: Tensor) -> Tensor:
        gate = self.up(F.relu(self.down(F.adaptive_avg_pool2d(x, 1))))
        return F.hardswish(x * F.hardsigmoid(gate))


class UNet(nn.Module):
    """Down, up with a transposed convolution, and a skip connection."""

    def __init__(self, width: int = 8) -> None:
        super().__init__()
        self.inner = nn.Conv2d(1, width, 3, padding=1)
        self.down = nn.Conv2d(width, 2 * width, 3, 2, 1)
        self.up = nn.ConvTranspose2d(2 * width, width, 2, 2)
        self.out = nn.Conv2d(2 * width, 2, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        skip = F.leaky_relu(self.inner(x))
        y = F.leaky_relu(self.up(F.leaky_relu(self.down(skip))))
        return torch.log_softmax(self.out(torch.cat([skip, y], 1)), 1)


class Language(nn.Module):
    """Token and position embeddings, two causal layers and a head."""

    def __init__(self, words: int = 40, width: int = 24, steps: int = 12) -> None:
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.places = nn.Embedding(steps, width)
        layer = nn.TransformerEncoderLayer(width, 3, 48, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(width, words)

    def forward(self, tokens: Tensor) -> Tensor:
        steps = tokens.shape[1]
        mask = nn.Transformer.generate_square_subsequent_mask(steps)
        x = self.words(tokens) + self.places(torch.arange(steps))
        return self.head(self.layers(x, mask=mask, is_causal=True))


class Deep(nn.Module):
    """Two layers of a recurrent cell in both directions, all steps out."""

    def __init__(self, cell: type[nn.RNNBase]) -> None:
        super().__init__()
        self.cell = cell(5, 6, num_layers=2, bidirectional=True)

    def forward(self, x: Tensor) -> Tensor:
        return self.cell(x)[0]


class Gates(nn.Module):
    """An LSTM with its states as inputs and outputs."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.LSTM(5, 6)

    def forward(self, x: Tensor, h: Tensor, c: Tensor) -> tuple[Tensor, ...]:
        y, (h, c) = self.cell(x, (h, c))
        return y, h, c


class Temporal(nn.Module):
    """Causal dilated 1-d convolutions with residuals."""

    def __init__(self, width: int = 8) -> None:
        super().__init__()
        self.first = nn.Conv1d(3, width, 1)
        self.convs = nn.ModuleList(
            nn.Conv1d(width, width, 3, dilation=2**i) for i in range(3)
        )
        self.norms = nn.ModuleList(nn.BatchNorm1d(width) for _ in range(3))

    def forward(self, x: Tensor) -> Tensor:
        x = self.first(x)
        for i, (conv, norm) in enumerate(zip(self.convs, self.norms, strict=True)):
            x = x + F.elu(norm(conv(F.pad(x, (2 * 2**i, 0)))))
        return x.mean(-1)


class Mixer(nn.Module):
    """An MLP-mixer block: products along both dimensions."""

    def __init__(self, tokens: int = 9, width: int = 12) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.tokens = nn.Sequential(
            nn.Linear(tokens, 16), nn.GELU("tanh"), nn.Linear(16, tokens)
        )
        self.channels = nn.Sequential(
            nn.Linear(width, 24), nn.SiLU(), nn.Linear(24, width)
        )

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.tokens(self.norm1(x).transpose(1, 2)).transpose(1, 2)
        return x + self.channels(self.norm2(x))


class Rotary(nn.Module):
    """RMS norm, rotary embedding, grouped attention and SwiGLU, as in Llama."""

    def __init__(self, width: int = 16, heads: int = 4, groups: int = 2) -> None:
        super().__init__()
        self.shape = (heads, groups, width // heads)
        self.norm = nn.RMSNorm(width)
        self.query = nn.Linear(width, width, bias=False)
        self.keys = nn.Linear(width, groups * width // heads, bias=False)
        self.values = nn.Linear(width, groups * width // heads, bias=False)
        self.gate = nn.Linear(width, 2 * width, bias=False)
        self.up = nn.Linear(width, 2 * width, bias=False)
        self.down = nn.Linear(2 * width, width, bias=False)

    def turned(self, x: Tensor) -> Tensor:
        steps, size = x.shape[-2:]
        rates = 10000.0 ** (-torch.arange(0, size, 2) / size)
        angles = torch.arange(steps)[:, None] * rates
        even, odd = x[..., 0::2], x[..., 1::2]
        cos, sin = angles.cos(), angles.sin()
        return torch.cat([even * cos - odd * sin, even * sin + odd * cos], -1)

    def forward(self, x: Tensor) -> Tensor:
        heads, groups, size = self.shape
        batch, steps, width = x.shape
        y = self.norm(x)
        q = self.query(y).view(batch, steps, heads, size).transpose(1, 2)
        k = self.keys(y).view(batch, steps, groups, size).transpose(1, 2)
        v = self.values(y).view(batch, steps, groups, size).transpose(1, 2)
        k = self.turned(k).repeat_interleave(heads // groups, 1)
        v = v.repeat_interleave(heads // groups, 1)
        y = F.scaled_dot_product_attention(self.turned(q), k, v, is_causal=True)
        x = x + y.transpose(1, 2).reshape(batch, steps, width)
        return x + self.down(F.silu(self.gate(x)) * self.up(x))


def mobilenet_v2(width: int = 8) -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, width, 3, 2, 1, bias=False),
        nn.BatchNorm2d(width),
        nn.ReLU6(),
        Inverted(width, width, 1),
        Inverted(width, 2 * width, 2),
        Inverted(2 * width, 2 * width, 1),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(2 * width, 10),
    )


def mobilenet_v3(width: int = 8) -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, width, 3, 2, 1),
        nn.Hardswish(),
        Squeeze(width),
        Inverted(width, 2 * width, 2, 3),
        Squeeze(2 * width),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(2 * width, 7),
    )


def anomaly_cnn() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, 4, 3, 2, 1),
        nn.GroupNorm(2, 4),
        nn.SiLU(),
        nn.ConvTranspose2d(4, 1, 3, 2, 1, 1),
        nn.Sigmoid(),
    )


def stacked(*activations: nn.Module) -> nn.Module:
    """A linear layer before every activation."""
    parts = [part for a in activations for part in (nn.Linear(9, 9), a)]
    return nn.Sequential(*parts)


def last(module: nn.Module) -> nn.Module:
    return module.to(memory_format=torch.channels_last)


IMAGE = f32(1, 3, 32, 32)
CASES = [
    network("mlp_batch", lambda: mlp(20, 30, 7), f32(5, 20)),
    network(
        "mlp_activations",
        lambda: stacked(nn.Mish(), nn.ELU(), nn.Softplus(), nn.PReLU(), nn.Softsign()),
        f32(3, 9),
    ),
    network("lenet_batch", lenet, f32(3, 1, 28, 28)),
    network(
        "lenet_average",
        lambda: nn.Sequential(
            nn.Conv2d(1, 6, 5),
            nn.Tanh(),
            nn.AvgPool2d(2),
            nn.Conv2d(6, 16, 5),
            nn.Tanh(),
            nn.AvgPool2d(2),
            nn.Flatten(),
            nn.Linear(256, 84),
            nn.Tanh(),
            nn.Linear(84, 10),
        ),
        f32(1, 1, 28, 28),
    ),
    network("resnet8_batch", lambda: resnet8(8), f32(2, 3, 24, 24)),
    network("resnet8_channels_last", lambda: last(resnet8(8)), channels_last(IMAGE)),
    network(
        "mobilenet_v1_channels_last",
        lambda: last(mobilenet_v1(0.25)),
        channels_last(f32(1, 3, 48, 48)),
    ),
    network("mobilenet_v1_wide", lambda: mobilenet_v1(0.5, 5), f32(1, 3, 32, 32)),
    network("mobilenet_v2", mobilenet_v2, IMAGE),
    network("mobilenet_v3", mobilenet_v3, IMAGE),
    network("ds_cnn_narrow", lambda: ds_cnn(24, 3), f32(2, 1, 49, 10)),
    network("autoencoder_batch", lambda: autoencoder(64, 32, 8), f32(4, 64)),
    network("convolutional_autoencoder", anomaly_cnn, f32(2, 1, 12, 16)),
    network("unet", UNet, f32(1, 1, 16, 20)),
    network("temporal", Temporal, f32(2, 3, 17)),
    network("mixer", Mixer, f32(2, 9, 12)),
    network("encoder_batch", lambda: Encoder(24, 3), f32(3, 7, 24)),
    network("language", Language, whole(2, 12, low=0, high=40)),
    network("rotary", Rotary, f32(1, 7, 16)),
    network("lstm_deep", lambda: Deep(nn.LSTM), f32(3, 2, 5)),
    network("gru_deep", lambda: Deep(nn.GRU), f32(3, 2, 5)),
    network("rnn", lambda: Recurrent(nn.RNN, 5, 8), f32(2, 6, 5)),
    network("lstm_states", Gates, f32(3, 1, 5), f32(1, 1, 6), f32(1, 1, 6)),
    network("lstm_cell", lambda: nn.LSTMCell(5, 6), f32(2, 5)),
    network("gru_cell", lambda: nn.GRUCell(5, 6), f32(2, 5)),
    network("mlp_f64", lambda: mlp(9, 8, 4).double(), real(torch.float64, 2, 9)),
]
