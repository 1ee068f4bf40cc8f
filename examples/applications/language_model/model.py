# SPDX-License-Identifier: Apache-2.0
"""A token and its position -> the scores of the token that follows.

A small transformer that keeps keys and values of all positions in buffers, which a call
changes in place. `ember export model.py --board qemu-a64-sme --quantize int4` reads
`model` and `example_inputs`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Sizes:
    """Of a model; widths are multiples of 32, the group of an int4 scale."""

    words: int = 512
    width: int = 128
    layers: int = 4
    heads: int = 4
    hidden: int = 352
    steps: int = 256  # positions that are kept


SMALL = Sizes()  # 0.9 million parameters
LARGE = Sizes(width=320, layers=8, heads=5, hidden=864)  # 10 million


class Norm(nn.Module):
    """Divides by the root of the mean square."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * self.weight


class Layer(nn.Module):
    """Attention to the positions so far, then a gated layer."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.heads, width = sizes.heads, sizes.width
        self.before, self.between = Norm(width), Norm(width)
        self.q, self.k, self.v, self.out = (
            nn.Linear(width, width, bias=False) for _ in range(4)
        )
        self.gate = nn.Linear(width, sizes.hidden, bias=False)
        self.up = nn.Linear(width, sizes.hidden, bias=False)
        self.down = nn.Linear(sizes.hidden, width, bias=False)
        shape = (1, sizes.heads, sizes.steps, width // sizes.heads)
        self.register_buffer("keys", torch.zeros(shape), persistent=False)
        self.register_buffer("values", torch.zeros(shape), persistent=False)

    def forward(
        self, x: Tensor, position: Tensor, turn: Tensor, mask: Tensor
    ) -> Tensor:
        """(1, tokens, width); the tokens' keys and values are kept."""
        q, k, v = self.heads_of(self.before(x), turn)
        self.keys[:, :, position] = k
        self.values[:, :, position] = v
        return self.rest(x, q, self.keys, self.values, mask)

    def heads_of(self, x: Tensor, turn: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Queries, keys and values, (.., heads, tokens, width of a head)."""
        shape = (*x.shape[:2], self.heads, -1)
        q, k, v = (part(x).view(shape) for part in (self.q, self.k, self.v))
        return tuple(
            heads.transpose(1, 2) for heads in (turned(q, turn), turned(k, turn), v)
        )  # type: ignore[return-value]

    def rest(self, x: Tensor, q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Tensor:
        weights = torch.softmax(q @ k.transpose(2, 3) * q.shape[-1] ** -0.5 + mask, -1)
        x = x + self.out((weights @ v).transpose(1, 2).reshape(x.shape))
        y = self.between(x)
        return x + self.down(functional.silu(self.gate(y)) * self.up(y))


def turned(x: Tensor, turn: Tensor) -> Tensor:
    """Rotates pairs of halves by the angles of a position; `turn` is (2, .., half)."""
    low, high = x.chunk(2, dim=-1)
    cos, sin = turn[0], turn[1]
    return torch.cat([low * cos - high * sin, low * sin + high * cos], dim=-1)


class Writer(nn.Module):
    """Tokens (1, n) at positions (n,) -> scores (1, n, words)."""

    def __init__(self, sizes: Sizes = SMALL) -> None:
        super().__init__()
        self.words = nn.Embedding(sizes.words, sizes.width)
        self.layers = nn.ModuleList(Layer(sizes) for _ in range(sizes.layers))
        self.last = Norm(sizes.width)
        self.scores = nn.Linear(sizes.width, sizes.words, bias=False)
        half = sizes.width // sizes.heads // 2
        angles = torch.outer(
            torch.arange(sizes.steps), 1e4 ** (-torch.arange(half) / half)
        )
        turn = torch.stack([angles.cos(), angles.sin()])[:, :, None]
        self.register_buffer("turn", turn, persistent=False)
        self.register_buffer("steps", torch.arange(sizes.steps), persistent=False)

    def forward(self, tokens: Tensor, position: Tensor) -> Tensor:
        x, mask = self.words(tokens), self.mask(position, self.steps)
        for layer in self.layers:
            x = layer(x, position, self.turn[:, position], mask)
        y: Tensor = self.scores(self.last(x))
        return y

    def whole(self, tokens: Tensor) -> Tensor:
        """(batch, n) -> (batch, n, words), all positions at once, for training."""
        x, n = self.words(tokens), tokens.shape[1]
        mask = self.mask(self.steps[:n], self.steps[:n])
        for layer in self.layers:
            q, k, v = layer.heads_of(layer.before(x), self.turn[:, :n])
            x = layer.rest(x, q, k, v, mask)
        y: Tensor = self.scores(self.last(x))
        return y

    def mask(self, position: Tensor, steps: Tensor) -> Tensor:
        """Added to attention, (positions, steps): no position sees a later one."""
        return (steps > position[:, None]).float() * -1e9

    def reset(self) -> None:
        for layer in self.layers:
            layer.keys.zero_()
            layer.values.zero_()


# ---- weights as int8 with a scale for each row -----------------------------------


def stored(model: Writer) -> dict[str, np.ndarray]:
    kept: dict[str, np.ndarray] = {}
    for name, weight in model.state_dict().items():
        if weight.dim() < 2:
            kept[name] = weight.numpy()
            continue
        scale = weight.abs().amax(1, keepdim=True) / 127
        kept[name] = torch.round(weight / scale).to(torch.int8).numpy()
        kept[name + ".scale"] = scale.numpy()
    return kept


def read(path: Path, sizes: Sizes) -> Writer:
    model = Writer(sizes)
    with np.load(path) as file:
        scales = {name: file[name] for name in file.files if name.endswith(".scale")}
        weights = {
            name: torch.from_numpy(file[name] * scales.get(name + ".scale", 1)).float()
            for name in file.files
            if name not in scales
        }
    model.load_state_dict(weights)
    return model.eval()


def model() -> Writer:
    return read(HERE / "weights.npz", SMALL)


example_inputs = (torch.zeros(1, 1, dtype=torch.long), torch.zeros(1, dtype=torch.long))
