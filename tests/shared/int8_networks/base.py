# SPDX-License-Identifier: Apache-2.0
"""Small networks of the kinds that people deploy, with samples that calibrate them.

Weights are random with fixed seeds, batch norms measured. NETWORKS: by name a function
that returns the model and its samples, each the inputs of one call.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

Made = tuple[nn.Module, list[tuple[Any, ...]]]
NETWORKS: dict[str, Callable[[], Made]] = {}
KINDS: dict[str, str] = {}  # by name
SAMPLES = 16


def network(
    kind: str, *sizes: tuple[int, ...], tokens: int = 0
) -> Callable[[Any], Any]:
    """Lists a function that builds a model.

    sizes -- of each input; those behind the first are states, between -1 and 1
    tokens -- how many kinds of tokens the input has; 0: it has numbers
    """

    def sample() -> tuple[Any, ...]:
        if tokens:
            return (torch.randint(tokens, sizes[0]),)
        return _signal(sizes[0]), *(2 * torch.rand(size) - 1 for size in sizes[1:])

    def listed(build: Callable[[], nn.Module]) -> Callable[[], nn.Module]:
        def make() -> Made:
            torch.manual_seed(sum(map(ord, build.__name__)))
            with torch.no_grad():  # else a pruned model cannot be copied
                model = build()
                _widen(model)
            samples = [sample() for _ in range(SAMPLES)]
            _measure(model, samples)
            return model.eval(), samples

        NETWORKS[build.__name__] = make
        KINDS[build.__name__] = kind
        return build

    return listed


def _signal(sizes: tuple[int, ...]) -> Any:
    """Noise, half of it along the last dimension in slow waves, as signals have."""
    length = sizes[-1]
    steps = torch.arange(length) * torch.rand(*sizes[:-1], 1) * 6 / length
    waves = torch.sin(steps + 6 * torch.rand(*sizes[:-1], 1))
    return (waves + torch.randn(sizes) / 2) * (0.5 + torch.rand(1))


def _widen(model: nn.Module) -> None:
    """Weights that keep the size of signals from layer to layer, as trained ones do."""
    for part in model.modules():
        if isinstance(part, nn.Conv1d | nn.Conv2d | nn.Linear):
            nn.init.kaiming_normal_(part.weight, nonlinearity="linear")
        if isinstance(part, nn.RNNBase):
            for weight in part.parameters():
                nn.init.normal_(
                    weight, std=weight.shape[-1] ** -0.5 if weight.dim() > 1 else 0.1
                )
        if isinstance(part, nn.ConvTranspose1d | nn.ConvTranspose2d):
            step = math.prod(part.stride) * part.groups
            fan = part.weight.shape[0] * part.weight[0, 0].numel() / step
            nn.init.normal_(part.weight, std=fan**-0.5)


def _measure(model: nn.Module, samples: list[tuple[Any, ...]]) -> None:
    """Means and variances of batch norms, of the samples; factors differ."""
    norms = [
        m for m in model.modules() if isinstance(m, nn.modules.batchnorm._NormBase)
    ]
    for norm in norms:
        if norm.running_mean is None:
            continue
        norm.momentum = None  # the mean of all
        nn.init.uniform_(norm.weight, 0.6, 1.4)
        nn.init.normal_(norm.bias, std=0.3)
        norm.train()
    with torch.no_grad():
        if norms:
            model(*map(torch.cat, zip(*samples, strict=True)))


class Lambda(nn.Module):  # type: ignore[misc]
    """A function as a layer, with layers of its own by name."""

    def __init__(self, function: Callable[..., Any], **layers: Any) -> None:
        super().__init__()
        self.function = function
        for name, layer in layers.items():
            if isinstance(layer, nn.Module | nn.Parameter):
                setattr(self, name, layer)
            else:
                self.register_buffer(name, layer)

    def forward(self, *x: Any) -> Any:
        return self.function(self, *x)


def plus(*layers: nn.Module) -> nn.Module:
    return Lambda(lambda m, x: x + m.body(x), body=nn.Sequential(*layers))


def conv(
    i: int, o: int, k: Any = 3, s: Any = 1, g: int = 1, act: Any = nn.ReLU
) -> nn.Sequential:
    """Convolution, batch norm, activation."""
    pad = k // 2 if isinstance(k, int) else tuple(n // 2 for n in k)
    layers = [nn.Conv2d(i, o, k, s, pad, groups=g, bias=False), nn.BatchNorm2d(o)]
    return nn.Sequential(*layers, *([act()] if act else []))


def conv1(
    i: int, o: int, k: int = 3, s: int = 1, g: int = 1, d: int = 1, act: Any = nn.ReLU
) -> nn.Sequential:
    pad = k // 2 * d
    layers = [nn.Conv1d(i, o, k, s, pad, d, g, bias=False), nn.BatchNorm1d(o)]
    return nn.Sequential(*layers, *([act()] if act else []))


def pooled(outputs: int, channels: int) -> list[nn.Module]:
    return [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, outputs)]
