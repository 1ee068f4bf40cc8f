# SPDX-License-Identifier: Apache-2.0
"""Networks with attention, and recurrent ones."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from int8_networks.base import Lambda, conv, network, plus


def heads(x: Any, count: int) -> Any:
    """(n, length, width) -> (n, heads, length, width of each)"""
    return x.view(*x.shape[:2], count, -1).transpose(1, 2)


def joined(x: Any) -> Any:
    return x.transpose(1, 2).reshape(x.shape[0], x.shape[2], -1)


def projections(width: int) -> dict[str, nn.Module]:
    return {key: nn.Linear(width, width) for key in "qkvo"}


@network("attention", (1, 16, 32))
def attention_by_hand() -> nn.Module:
    """softmax(q k^T / sqrt(d)) v, one projection for q, k and v."""

    def forward(m: Any, x: Any) -> Any:
        q, k, v = (heads(y, 2) for y in m.qkv(x).chunk(3, -1))
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(16)
        return m.o(joined(torch.matmul(scores.softmax(-1), v)) + x)

    return Lambda(forward, qkv=nn.Linear(32, 96), o=nn.Linear(32, 32))


@network("attention", (1, 16, 32))
def attention_einsum() -> nn.Module:
    """Scaled before the product, heads by einsum."""

    def forward(m: Any, x: Any) -> Any:
        q, k, v = (f(x).unflatten(-1, (2, 16)) for f in (m.q, m.k, m.v))
        scores = torch.einsum("bihd,bjhd->bhij", q * 16**-0.5, k)
        y = torch.einsum("bhij,bjhd->bihd", torch.softmax(scores, -1), v)
        return m.o(y.flatten(2))

    return Lambda(forward, **projections(32))


@network("attention", (1, 16, 32))
def attention_masked() -> nn.Module:
    """Causal three times: masked_fill, a mask that is added, and where."""

    def forward(m: Any, x: Any) -> Any:
        q, k, v = (heads(f(x), 2) for f in (m.q, m.k, m.v))
        s = q @ k.mT * 16**-0.5
        a = s.masked_fill(m.hidden, float("-inf")).softmax(-1) @ v
        b = (s + m.added).softmax(-1) @ v
        c = torch.where(m.hidden, -1e9, s).softmax(-1) @ v
        return m.o(joined(a)), m.o(joined(b)), m.o(joined(c))

    hidden = torch.ones(16, 16).triu(1).bool()
    added = torch.zeros(16, 16).masked_fill(hidden, -1e4)
    return Lambda(forward, hidden=hidden, added=added, **projections(32))


@network("attention", (1, 16, 32))
def multihead() -> nn.Module:
    """nn.MultiheadAttention of the input, then of learned queries."""

    def forward(m: Any, x: Any) -> Any:
        y = m.norm(x + m.own(x, x, x, need_weights=False)[0])
        return m.fc(m.cross(m.queries, y, y, need_weights=False)[0])

    parts = [nn.MultiheadAttention(32, 2, batch_first=True) for _ in range(2)]
    queries = nn.Parameter(torch.randn(1, 4, 32))
    layers = {"own": parts[0], "cross": parts[1], "norm": nn.LayerNorm(32)}
    return Lambda(forward, queries=queries, fc=nn.Linear(32, 6), **layers)


@network("attention", (1, 16, 64))
def encoder() -> nn.Module:
    layer = nn.TransformerEncoderLayer(64, 4, 128, 0.1, batch_first=True)
    body = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
    return Lambda(lambda m, x: m.fc(m.body(x).mean(1)), body=body, fc=nn.Linear(64, 6))


@network("attention", (1, 16, 64))
def encoder_gelu() -> nn.Module:
    """Norms first, GELU, and a mask for the future."""
    more = {"batch_first": True, "norm_first": True, "activation": "gelu"}
    layer = nn.TransformerEncoderLayer(64, 4, 128, **more)
    body = nn.TransformerEncoder(layer, 1, nn.LayerNorm(64), enable_nested_tensor=False)
    mask = nn.Transformer.generate_square_subsequent_mask(16)
    return Lambda(lambda m, x: m.body(x, m.mask, is_causal=True), body=body, mask=mask)


@network("attention", (1, 3, 32, 32))
def tiny_vit() -> nn.Module:
    def attend(m: Any, x: Any) -> Any:
        q, k, v = (heads(y, 3) for y in m.qkv(x).chunk(3, -1))
        return m.o(joined(F.scaled_dot_product_attention(q, k, v)))

    def block() -> nn.Module:
        qkv, o = nn.Linear(48, 144), nn.Linear(48, 48)
        mlp = (nn.LayerNorm(48), nn.Linear(48, 96), nn.GELU(), nn.Linear(96, 48))
        attention = plus(nn.LayerNorm(48), Lambda(attend, qkv=qkv, o=o))
        return nn.Sequential(attention, plus(*mlp))

    def forward(m: Any, x: Any) -> Any:
        x = m.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([m.token.expand(x.shape[0], -1, -1), x], 1) + m.places
        return m.fc(m.norm(m.body(x))[:, 0])

    return Lambda(
        forward,
        patches=nn.Conv2d(3, 48, 8, 8),
        token=nn.Parameter(torch.randn(1, 1, 48)),
        places=nn.Parameter(torch.randn(1, 17, 48) / 2),
        body=nn.Sequential(block(), block()),
        norm=nn.LayerNorm(48),
        fc=nn.Linear(48, 10),
    )


@network("attention", (1, 16), tokens=50)
def decoder() -> nn.Module:
    """A language model: tokens, rotated positions, RMS norms, SwiGLU, tied weights."""
    angles = torch.outer(torch.arange(16.0), 10000 ** (-torch.arange(0, 16, 2) / 16))

    def rotated(m: Any, x: Any) -> Any:
        a, b = x.chunk(2, -1)
        return torch.cat([a * m.cos - b * m.sin, b * m.cos + a * m.sin], -1)

    def forward(m: Any, tokens: Any) -> Any:
        x = m.embedding(tokens)
        y = m.before(x)
        q, k, v = (heads(f(y), 4) for f in (m.q, m.k, m.v))
        q, k = rotated(m, q), rotated(m, k)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + m.o(joined(y))
        y = m.behind(x)
        x = x + m.down(F.silu(m.gate(y)) * m.up(y))
        return F.linear(m.last(x), m.embedding.weight)

    return Lambda(
        forward,
        embedding=nn.Embedding(50, 64),
        before=nn.RMSNorm(64),
        behind=nn.RMSNorm(64),
        last=nn.RMSNorm(64),
        gate=nn.Linear(64, 128, bias=False),
        up=nn.Linear(64, 128, bias=False),
        down=nn.Linear(128, 64, bias=False),
        cos=angles.cos(),
        sin=angles.sin(),
        **projections(64),
    )


@network("attention", (1, 24, 32))
def conformer() -> nn.Module:
    """One block: feed-forward, attention and a gated depthwise convolution."""

    def forward(m: Any, x: Any) -> Any:
        x = x + 0.5 * m.feed(x)
        y = m.norm(x)
        x = x + m.attention(y, y, y, need_weights=False)[0]
        y = F.glu(m.wide(m.middle(x).transpose(1, 2)), 1)
        return m.last(x + m.narrow(F.silu(m.bn(m.along(y)))).transpose(1, 2))

    feed = (nn.LayerNorm(32), nn.Linear(32, 64), nn.SiLU(), nn.Linear(64, 32))
    return Lambda(
        forward,
        feed=nn.Sequential(*feed),
        norm=nn.LayerNorm(32),
        attention=nn.MultiheadAttention(32, 2, batch_first=True),
        middle=nn.LayerNorm(32),
        wide=nn.Conv1d(32, 64, 1),
        along=nn.Conv1d(32, 32, 7, padding=3, groups=32),
        bn=nn.BatchNorm1d(32),
        narrow=nn.Conv1d(32, 32, 1),
        last=nn.LayerNorm(32),
    )


@network("tables", (1, 3, 32, 32))
def mlp_mixer() -> nn.Module:
    def mlp(n: int, hidden: int) -> nn.Module:
        return nn.Sequential(nn.Linear(n, hidden), nn.GELU(), nn.Linear(hidden, n))

    def block() -> nn.Module:
        turn = [Lambda(lambda m, x: x.transpose(1, 2)) for _ in range(2)]
        tokens = plus(nn.LayerNorm(32), turn[0], mlp(16, 32), turn[1])
        return nn.Sequential(tokens, plus(nn.LayerNorm(32), mlp(32, 64)))

    def forward(m: Any, x: Any) -> Any:
        x = m.patches(x).flatten(2).transpose(1, 2)
        return m.fc(m.norm(m.body(x)).mean(1))

    layers = {"patches": nn.Conv2d(3, 32, 8, 8), "norm": nn.LayerNorm(32)}
    body = nn.Sequential(block(), block())
    return Lambda(forward, body=body, fc=nn.Linear(32, 10), **layers)


@network("tables", (1, 16, 24))
def gated_mlp() -> nn.Module:
    """RMS norm spelled out, GLU, a gate along time."""

    def forward(m: Any, x: Any) -> Any:
        y = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * m.scale
        x = x + m.out(F.glu(m.up(y), -1))
        a, b = F.gelu(m.split(m.norm(x))).chunk(2, -1)
        b = m.along(b.transpose(1, 2)).transpose(1, 2)
        return x + m.end(a * (b + 1))

    return Lambda(
        forward,
        scale=nn.Parameter(torch.rand(24) + 0.5),
        up=nn.Linear(24, 96),
        out=nn.Linear(48, 24),
        norm=nn.RMSNorm(24),
        split=nn.Linear(24, 64),
        along=nn.Linear(16, 16),
        end=nn.Linear(32, 24),
    )


# ---- recurrent -----------------------------------------------------------------------


@network("recurrent", (1, 1, 16))
def lstm_stream() -> nn.Module:
    """A frame a call, states kept."""

    def forward(m: Any, x: Any) -> Any:
        y, (h, c) = m.lstm(x, (m.h, m.c))
        m.h.copy_(h)
        m.c.copy_(c)
        return torch.sigmoid(m.fc(y))

    state = {key: torch.zeros(1, 1, 32) for key in "hc"}
    lstm = nn.LSTM(16, 32, batch_first=True)
    return Lambda(forward, lstm=lstm, fc=nn.Linear(32, 2), **state)


@network("recurrent", (1, 4, 16), (1, 1, 32), (1, 1, 32))
def lstm_states() -> nn.Module:
    """States are inputs and outputs."""

    def forward(m: Any, x: Any, h: Any, c: Any) -> Any:
        y, states = m.lstm(x, (h, c))
        return m.fc(y), *states

    lstm = nn.LSTM(16, 32, batch_first=True)
    return Lambda(forward, lstm=lstm, fc=nn.Linear(32, 4))


@network("recurrent", (1, 20, 12))
def lstm_bidirectional() -> nn.Module:
    lstm = nn.LSTM(12, 24, 2, batch_first=True, bidirectional=True)
    return Lambda(lambda m, x: m.fc(m.lstm(x)[0]), lstm=lstm, fc=nn.Linear(48, 6))


@network("recurrent", (1, 20, 12))
def gru() -> nn.Module:
    layers = {"gru": nn.GRU(12, 32, batch_first=True), "fc": nn.Linear(32, 6)}
    return Lambda(lambda m, x: m.fc(m.gru(x)[0][:, -1]), **layers)


@network("recurrent", (1, 1, 16, 40))
def crnn() -> nn.Module:
    """Columns of an image as steps of a GRU."""

    def forward(m: Any, x: Any) -> Any:
        x = m.body(x).permute(0, 3, 1, 2).flatten(2)
        return m.fc(m.gru(x)[0]).log_softmax(-1)

    pools = [nn.MaxPool2d(2), nn.MaxPool2d((2, 1))]
    body = nn.Sequential(conv(1, 8), pools[0], conv(8, 16), pools[1])
    rnn = nn.GRU(64, 24, batch_first=True, bidirectional=True)
    return Lambda(forward, body=body, gru=rnn, fc=nn.Linear(48, 12))
