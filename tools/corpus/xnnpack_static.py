# SPDX-License-Identifier: Apache-2.0
"""Nodes without products in static int8: functions between conversions that are written
out, as quantisers of other makers put them around operators."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812 - as PyTorch's users call it

from corpus.xnnpack_layers import FUNCTIONS, Layer, image_of, pick


@dataclass(frozen=True)
class Scale:
    """How a tensor is stored as int8."""

    scale: float
    zero: int

    def on(self, x: torch.Tensor) -> torch.Tensor:
        """x as int8, and float32 again."""
        options = (self.scale, self.zero, -128, 127, torch.int8)
        library = torch.ops.quantized_decomposed
        stored = library.quantize_per_tensor.default(x, *options)
        return library.dequantize_per_tensor.default(stored, *options)


def any_scale() -> Scale:
    return Scale(random.uniform(0.005, 0.04), random.randint(-90, 90))


class Stored(nn.Module):
    """A function whose inputs and output are int8."""

    def __init__(
        self, function: Callable[..., Any], inputs: list[Scale], output: Scale
    ) -> None:
        super().__init__()
        self.function = function
        self.inputs = inputs
        self.output = output

    def forward(self, *x: torch.Tensor) -> torch.Tensor:
        stored = [how.on(tensor) for how, tensor in zip(self.inputs, x, strict=True)]
        return self.output.on(self.function(*stored))


# Those that move elements, or choose among them: in and out have one scale.
_MOVES: dict[str, Callable[..., Any]] = {
    **{name: FUNCTIONS[name] for name in ("clamp", "hardtanh", "relu", "max_pool")},
    **{name: FUNCTIONS[name] for name in ("cat2", "cat5")},
    "permute": lambda x: x.permute(0, 3, 1, 2),
    "view": lambda x: x.reshape(x.shape[0], -1),
    "slice": lambda x: x[:, 1:, :, :-1],
    "unsqueeze": lambda x: x.unsqueeze(-1),
    "max_pool_dilated": lambda x: F.max_pool2d(x, (2, 3), (1, 2), (1, 0), (2, 1)),
    "cat3": lambda x, y: torch.cat([x, y, x], -1),
    "cat4": lambda x, y: torch.cat([y, y, x, x], 2),
}
_NUMBERS: dict[str, Callable[..., Any]] = {
    **{name: FUNCTIONS[name] for name in ("add", "mul", "sub")},
    "add_relu": lambda x, y: torch.relu(x + y),
    "elu": F.elu,
    "clamp_scaled": FUNCTIONS["clamp"],
    "mean": FUNCTIONS["mean_kept"],
    "relu_scaled": torch.relu,
}
STATIC = {**_MOVES, **_NUMBERS}


def static_node(name: str) -> Layer:
    """A node that has the name in STATIC, of random sizes and scales."""
    x = image_of(random.randint(2, 9)).contiguous()
    inputs = [x]
    if name.startswith("cat"):
        inputs.append(torch.randn_like(x))
    elif name in ("add", "add_relu", "mul", "sub"):
        other = [pick(size, size, 1) for size in x.shape]
        inputs.append(pick(torch.randn_like(x), torch.randn(other)))
    scales = [any_scale() for _ in inputs]
    output = any_scale()
    if name in _MOVES:
        scales = [output] * len(inputs)
    return Layer(Stored(STATIC[name], scales, output), tuple(inputs))
