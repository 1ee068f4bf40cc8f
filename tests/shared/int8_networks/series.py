# SPDX-License-Identifier: Apache-2.0
"""Networks of one dimension."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from int8_networks.base import Lambda, conv1, network


@network("series", (1, 10, 49))
def ds_cnn_1d() -> nn.Module:
    """Keywords from 10 coefficients: depthwise and 1x1 convolutions."""
    blocks = [n for _ in range(3) for n in (conv1(48, 48, 9, g=48), conv1(48, 48, 1))]
    tail = (nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(48, 12))
    return nn.Sequential(conv1(10, 48, 5, 2), *blocks, *tail)


@network("series", (1, 1, 1600))
def m5() -> nn.Module:
    """Raw audio, scores as log_softmax."""

    def block(i: int, o: int, k: int, s: int) -> list[nn.Module]:
        return [nn.Conv1d(i, o, k, s), nn.BatchNorm1d(o), nn.ReLU(), nn.MaxPool1d(4)]

    layers = [*block(1, 16, 40, 4), *block(16, 16, 3, 1), *block(16, 32, 3, 1)]
    body, fc = nn.Sequential(*layers), nn.Linear(32, 10)

    def forward(m: Any, x: Any) -> Any:
        x = m.body(x)
        x = F.avg_pool1d(x, x.shape[-1]).permute(0, 2, 1)
        return F.log_softmax(m.fc(x), dim=2)

    return Lambda(forward, body=body, fc=fc)


@network("series", (1, 8, 64))
def tcn() -> nn.Module:
    """Causal, dilated, weight-normalised convolutions with skips."""
    norm = nn.utils.parametrizations.weight_norm

    def block(i: int, o: int, d: int) -> nn.Module:
        a = norm(nn.Conv1d(i, o, 3, 1, 2 * d, d))
        b = norm(nn.Conv1d(o, o, 3, 1, 2 * d, d))
        skip = nn.Conv1d(i, o, 1) if i != o else nn.Identity()

        def forward(m: Any, x: Any) -> Any:
            y = F.relu(m.a(x)[:, :, : -2 * d].contiguous())
            y = F.relu(m.b(y)[:, :, : -2 * d].contiguous())
            return F.relu(y + m.skip(x))

        return Lambda(forward, a=a, b=b, skip=skip)

    body = nn.Sequential(block(8, 24, 1), block(24, 24, 2), block(24, 24, 4))
    return Lambda(
        lambda m, x: m.fc(m.body(x)[:, :, -1]), body=body, fc=nn.Linear(24, 5)
    )


@network("series", (1, 1, 368))
def ecg_resnet() -> nn.Module:
    def block(i: int, o: int) -> nn.Module:
        body = nn.Sequential(
            conv1(i, o, 7, 2), nn.Dropout(0.2), conv1(o, o, 7, act=None)
        )
        skip = nn.Sequential(nn.MaxPool1d(2), nn.Conv1d(i, o, 1))
        return Lambda(lambda m, x: F.relu(m.body(x) + m.skip(x)), body=body, skip=skip)

    layers = [conv1(1, 16, 15, 2), block(16, 16), block(16, 24), block(24, 32)]
    tail = [nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(32, 5)]
    return nn.Sequential(*layers, nn.Dropout(), *tail)


@network("gated", (1, 8, 96))
def wavenet() -> nn.Module:
    """Gated causal convolutions, their skips summed."""

    def block(d: int) -> nn.Module:
        def forward(m: Any, x: Any) -> Any:
            y = F.pad(x, (d, 0))
            y = torch.tanh(m.f(y)) * torch.sigmoid(m.g(y))
            return x + m.r(y), m.s(y)

        f, g = (nn.Conv1d(16, 24, 2, dilation=d) for _ in range(2))
        return Lambda(forward, f=f, g=g, r=nn.Conv1d(24, 16, 1), s=nn.Conv1d(24, 24, 1))

    def forward(m: Any, x: Any) -> Any:
        x, total = m.first(x), 0
        for each in m.blocks:
            x, skip = each(x)
            total = total + skip
        return m.end(total)

    end = nn.Sequential(
        nn.ReLU(), nn.Conv1d(24, 24, 1), nn.ReLU(), nn.Conv1d(24, 16, 1)
    )
    blocks = nn.ModuleList(block(d) for d in (1, 2, 4, 8))
    return Lambda(forward, first=nn.Conv1d(8, 16, 1), blocks=blocks, end=end)


@network("series", (1, 2, 128))
def unet_1d() -> nn.Module:
    def forward(m: Any, x: Any) -> Any:
        a = m.a(x)
        b = m.b(F.max_pool1d(a, 2))
        c = m.c(F.max_pool1d(b, 2))
        b = m.d(torch.cat([m.up(c), b], 1))
        return m.out(m.e(torch.cat([m.upper(b), a], 1)))

    return Lambda(
        forward,
        a=conv1(2, 12, 5),
        b=conv1(12, 24, 5),
        c=conv1(24, 32),
        up=nn.ConvTranspose1d(32, 24, 2, 2),
        d=conv1(48, 24),
        upper=nn.ConvTranspose1d(24, 12, 4, 2, 1),
        e=conv1(24, 12),
        out=nn.Conv1d(12, 2, 1),
    )


@network("series", (1, 20, 50))
def keywords_pooled() -> nn.Module:
    """Pools of series, with padding, of averages and maxima."""
    return nn.Sequential(
        *(conv1(20, 32, 5), nn.MaxPool1d(3, 2, 1), conv1(32, 32), nn.AvgPool1d(2)),
        *(conv1(32, 48), nn.AdaptiveMaxPool1d(1), nn.Flatten(), nn.Linear(48, 8)),
    )


@network("series", (1, 24, 40))
def x_vector() -> nn.Module:
    """An embedding of a speaker: means and deviations over time, normalised."""

    def forward(m: Any, x: Any) -> Any:
        x = m.body(x)
        mean = x.mean(-1)
        std = torch.sqrt(((x - mean[..., None]) ** 2).mean(-1) + 1e-4)
        return F.normalize(m.fc(torch.cat([mean, std], 1)))

    body = nn.Sequential(conv1(24, 32, 5), conv1(32, 32, d=2), conv1(32, 32, d=3))
    return Lambda(forward, body=body, fc=nn.Linear(64, 16))
