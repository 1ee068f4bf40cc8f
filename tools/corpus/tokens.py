# SPDX-License-Identifier: Apache-2.0
"""Language models that take a token at a time and keep keys and values in buffers.

`layout` says how a cache lies: by heads (1, heads, steps, width of a head), or by steps
(1, steps, heads, width), which attention turns in each run.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from corpus import exporting, xnnpack
from corpus.case import Case, Exported
from corpus.networks import settled

NEAR: dict[str, Any] = {"rtol": 1e-4, "atol": 1e-4}
NEAR_INT4 = {"rtol": 5e-2, "atol": 8e-2}


@dataclass(frozen=True)
class Sizes:
    """What a model measures."""

    words: int
    width: int
    layers: int
    heads: int
    groups: int  # heads of keys and values
    steps: int  # positions of a cache
    hidden: int
    layout: str = "heads"


STORIES = Sizes(4096, 288, 6, 6, 6, 256, 768)
TINY = Sizes(words=8, width=8, layers=1, heads=2, groups=1, steps=8, hidden=8)
TINY_STEPS = replace(TINY, groups=2, layout="steps")


class Root(nn.Module):
    """Divides by the root of the mean square."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * self.weight


def turned(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotates pairs of halves by the angles of a position."""
    low, high = x.chunk(2, dim=-1)
    return torch.cat([low * cos - high * sin, low * sin + high * cos], dim=-1)


class Attention(nn.Module):
    """Heads that attend to the positions seen so far."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.sizes = sizes
        self.each = each = sizes.width // sizes.heads
        narrow = sizes.groups * each
        self.q = nn.Linear(sizes.width, sizes.width, bias=False)
        self.k = nn.Linear(sizes.width, narrow, bias=False)
        self.v = nn.Linear(sizes.width, narrow, bias=False)
        self.out = nn.Linear(sizes.width, sizes.width, bias=False)
        across = (sizes.groups, sizes.steps)
        shape = across if sizes.layout == "heads" else across[::-1]
        self.register_buffer("keys", torch.zeros(1, *shape, each))
        self.register_buffer("values", torch.zeros(1, *shape, each))

    def forward(
        self, x: Tensor, position: Tensor, cos: Tensor, sin: Tensor, mask: Tensor
    ) -> Tensor:
        tokens = x.shape[1]
        q = self.q(x).view(1, tokens, self.sizes.heads, self.each)
        k = self.k(x).view(1, tokens, self.sizes.groups, self.each)
        v = self.v(x).view(1, tokens, self.sizes.groups, self.each)
        q = turned(q, cos, sin).transpose(1, 2)
        keys, values = self.kept(turned(k, cos, sin), v, position)
        repeats = self.sizes.heads // self.sizes.groups
        if repeats > 1:
            keys = keys.repeat_interleave(repeats, dim=1)
            values = values.repeat_interleave(repeats, dim=1)
        scores = q @ keys.transpose(2, 3) / self.each**0.5
        weights = torch.softmax(scores + mask, dim=-1)
        mixed = (weights @ values).transpose(1, 2).reshape(1, tokens, -1)
        return self.out(mixed)

    def kept(self, k: Tensor, v: Tensor, position: Tensor) -> tuple[Tensor, Tensor]:
        """Both caches by heads, with the new rows in them."""
        if self.sizes.layout == "heads":
            self.keys[:, :, position] = k.transpose(1, 2)
            self.values[:, :, position] = v.transpose(1, 2)
            return self.keys, self.values
        self.keys[:, position] = k
        self.values[:, position] = v
        return self.keys.transpose(1, 2), self.values.transpose(1, 2)


class Layer(nn.Module):
    """Attention and gated layers around what passes through."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.attention = Attention(sizes)
        self.first, self.second = Root(sizes.width), Root(sizes.width)
        self.gate = nn.Linear(sizes.width, sizes.hidden, bias=False)
        self.up = nn.Linear(sizes.width, sizes.hidden, bias=False)
        self.down = nn.Linear(sizes.hidden, sizes.width, bias=False)

    def forward(self, x: Tensor, *place: Tensor) -> Tensor:
        x = x + self.attention(self.first(x), *place)
        h = self.second(x)
        return x + self.down(functional.silu(self.gate(h)) * self.up(h))


class Story(nn.Module):
    """The next token's scores after the tokens at `position`."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.words = nn.Embedding(sizes.words, sizes.width)
        self.layers = nn.ModuleList(Layer(sizes) for _ in range(sizes.layers))
        self.last = Root(sizes.width)
        self.scores = nn.Linear(sizes.width, sizes.words, bias=False)
        half = sizes.width // sizes.heads // 2
        angles = torch.outer(
            torch.arange(sizes.steps), 1e4 ** (-torch.arange(half) / half)
        )
        self.register_buffer("cos", angles.cos()[:, None], persistent=False)
        self.register_buffer("sin", angles.sin()[:, None], persistent=False)
        hidden = torch.full((sizes.steps, sizes.steps), float("-inf")).triu(1)
        self.register_buffer("mask", hidden, persistent=False)

    def forward(self, tokens: Tensor, position: Tensor) -> Tensor:
        x = self.words(tokens)
        place = self.cos[position], self.sin[position], self.mask[position]
        for layer in self.layers:
            x = layer(x, position, *place)
        return self.scores(self.last(x))


def samples(sizes: Sizes, count: int) -> list[tuple[Tensor, Tensor]]:
    """A token at each of the first positions."""
    return [
        (torch.randint(0, sizes.words, (1, 1)), torch.tensor([at]))
        for at in range(count)
    ]


def portable(sizes: Sizes, count: int) -> Exported:
    """The whole model by operators of the portable library."""
    module = settled(Story(sizes))
    return exporting.exported_module(module, *samples(sizes, count), **NEAR)


def delegated(sizes: Sizes, count: int, form: str) -> Exported:
    """Products and what XNNPACK knows as delegates."""
    module = settled(Story(sizes))
    near = NEAR if form == "float" else NEAR_INT4
    given = samples(sizes, count)
    return xnnpack.exported(module, *given, form=form, eager=True, **near)


def cases(name: str, sizes: Sizes) -> list[Case]:
    """A model in each form, too large to be committed."""
    makers = {
        f"model_{name}": lambda: portable(sizes, 3),
        f"xnnpack_{name}": lambda: delegated(sizes, 3, "float"),
        f"xnnpack_{name}_8da4w": lambda: delegated(sizes, 3, "int4_32"),
    }
    return [Case(form, make, committed=False) for form, make in makers.items()]


CASES = [
    *cases("story", STORIES),
    *cases("story_steps", replace(STORIES, layout="steps")),
    Case("model_tokens_small", lambda: portable(TINY, 4)),
    Case("model_tokens_steps_small", lambda: portable(TINY_STEPS, 4)),
]
