# SPDX-License-Identifier: Apache-2.0
"""More networks of the kinds that run on small devices; exported on demand."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812 - its usual name
from torch import Tensor, nn

from corpus.cortex_m import activated, inverted
from corpus.inputs import f32, whole
from corpus.modules import Net
from corpus.networks import network, pooled


def squeeze(width: int) -> nn.Module:
    """Squeeze and excitation around hard swish, as in MobileNetV3."""

    def forward(m: Any, x: Tensor) -> Tensor:
        gate = m.up(F.relu(m.down(F.adaptive_avg_pool2d(x, 1))))
        return F.hardswish(x * F.hardsigmoid(gate))

    down, up = nn.Conv2d(width, width // 4, 1), nn.Conv2d(width // 4, width, 1)
    return Net(forward, down=down, up=up)


def u_net(width: int = 8) -> nn.Module:
    """Down, up with a transposed convolution, and a skip connection."""

    def forward(m: Any, x: Tensor) -> Tensor:
        skip = F.leaky_relu(m.inner(x))
        y = F.leaky_relu(m.up(F.leaky_relu(m.down(skip))))
        return torch.log_softmax(m.out(torch.cat([skip, y], 1)), 1)

    return Net(
        forward,
        inner=nn.Conv2d(1, width, 3, padding=1),
        down=nn.Conv2d(width, 2 * width, 3, 2, 1),
        up=nn.ConvTranspose2d(2 * width, width, 2, 2),
        out=nn.Conv2d(2 * width, 2, 3, padding=1),
    )


def language(words: int = 40, width: int = 24, steps: int = 12) -> nn.Module:
    """Token and position embeddings, two causal layers and a head."""

    def forward(m: Any, tokens: Tensor) -> Tensor:
        steps = tokens.shape[1]
        mask = nn.Transformer.generate_square_subsequent_mask(steps)
        x = m.words(tokens) + m.places(torch.arange(steps))
        return m.head(m.layers(x, mask=mask, is_causal=True))

    tables = {
        "words": nn.Embedding(words, width),
        "places": nn.Embedding(steps, width),
    }
    layer = nn.TransformerEncoderLayer(width, 3, 48, batch_first=True)
    layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
    return Net(forward, **tables, layers=layers, head=nn.Linear(width, words))


def temporal(width: int = 8) -> nn.Module:
    """Causal dilated 1-d convolutions with residuals."""

    def forward(m: Any, x: Tensor) -> Tensor:
        x = m.first(x)
        for i, (conv, norm) in enumerate(zip(m.convs, m.norms, strict=True)):
            x = x + F.elu(norm(conv(F.pad(x, (2 * 2**i, 0)))))
        return x.mean(-1)

    first = nn.Conv1d(3, width, 1)
    convs = [nn.Conv1d(width, width, 3, dilation=2**i) for i in range(3)]
    norms = [nn.BatchNorm1d(width) for _ in range(3)]
    lists = nn.ModuleList(convs), nn.ModuleList(norms)
    return Net(forward, first=first, convs=lists[0], norms=lists[1])


def mixer(tokens: int = 9, width: int = 12) -> nn.Module:
    """An MLP-mixer block: products along both dimensions."""

    def forward(m: Any, x: Tensor) -> Tensor:
        x = x + m.tokens(m.norm1(x).transpose(1, 2)).transpose(1, 2)
        return x + m.channels(m.norm2(x))

    by_tokens = [nn.Linear(tokens, 16), nn.GELU("tanh"), nn.Linear(16, tokens)]
    by_channels = [nn.Linear(width, 24), nn.SiLU(), nn.Linear(24, width)]
    return Net(
        forward,
        norm1=nn.LayerNorm(width),
        norm2=nn.LayerNorm(width),
        tokens=nn.Sequential(*by_tokens),
        channels=nn.Sequential(*by_channels),
    )


def rotated(x: Tensor) -> Tensor:
    """Pairs of numbers turned by the angles of their positions."""
    steps, size = x.shape[-2:]
    rates = 10000.0 ** (-torch.arange(0, size, 2) / size)
    angles = torch.arange(steps)[:, None] * rates
    even, odd = x[..., 0::2], x[..., 1::2]
    cos, sin = angles.cos(), angles.sin()
    return torch.cat([even * cos - odd * sin, even * sin + odd * cos], -1)


def rotary(width: int = 16, heads: int = 4, groups: int = 2) -> nn.Module:
    """RMS norm, rotary embedding, grouped attention and SwiGLU, as in Llama."""
    narrow = groups * width // heads
    shapes = {
        **{"query": (width, width), "keys": (width, narrow), "values": (width, narrow)},
        **{"gate": (width, 2 * width), "up": (width, 2 * width)},
        "down": (2 * width, width),
    }

    def forward(m: Any, x: Tensor) -> Tensor:
        batch, steps, _ = x.shape
        y = m.norm(x)
        q, k, v = (
            layer(y).view(batch, steps, count, width // heads).transpose(1, 2)
            for layer, count in ((m.query, heads), (m.keys, groups), (m.values, groups))
        )
        k = rotated(k).repeat_interleave(heads // groups, 1)
        v = v.repeat_interleave(heads // groups, 1)
        y = F.scaled_dot_product_attention(rotated(q), k, v, is_causal=True)
        x = x + y.transpose(1, 2).reshape(batch, steps, width)
        return x + m.down(F.silu(m.gate(x)) * m.up(x))

    layers = {name: nn.Linear(*pair, bias=False) for name, pair in shapes.items()}
    return Net(forward, norm=nn.RMSNorm(width), **layers)


def mobilenet_v2(width: int = 8) -> nn.Module:
    return nn.Sequential(
        *activated(nn.Conv2d(3, width, 3, 2, 1, bias=False)),
        inverted(width, width, 1),
        inverted(width, 2 * width, 2),
        inverted(2 * width, 2 * width, 1),
        *pooled(2 * width, 10),
    )


def mobilenet_v3(width: int = 8) -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, width, 3, 2, 1),
        nn.Hardswish(),
        squeeze(width),
        inverted(width, 2 * width, 2, 3),
        squeeze(2 * width),
        *pooled(2 * width, 7),
    )


IMAGE = f32(1, 3, 32, 32)
CASES = [
    network("mobilenet_v2", mobilenet_v2, IMAGE),
    network("mobilenet_v3", mobilenet_v3, IMAGE),
    network("unet", u_net, f32(1, 1, 16, 20)),
    network("temporal", temporal, f32(2, 3, 17)),
    network("mixer", mixer, f32(2, 9, 12)),
    network("language", language, whole(2, 12, low=0, high=40)),
    network("rotary", rotary, f32(1, 7, 16)),
]
