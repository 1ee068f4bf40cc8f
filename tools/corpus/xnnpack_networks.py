# SPDX-License-Identifier: Apache-2.0
"""Networks lowered to XNNPACK, and a layer of each configuration of its products."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import nn
from torch.export import Dim

from corpus.case import Case, Exported
from corpus.inputs import f32, made, real
from corpus.modules import Net, NetOfOne
from corpus.more_networks import mobilenet_v2
from corpus.networks import (
    Encoder,
    mlp,
    mobilenet_v1,
    recurrent,
    resnet8,
    settled,
    torch_encoder,
)
from corpus.quantized_networks import small_cnn
from corpus.xnnpack import exported
from corpus.xnnpack_layers import CONFIGURATIONS, HALF_STEP, NEAR, NEAR_HALF, NODES

# A sum that ends in another last bit can round to the next integer of a layer behind.
STEP: dict[str, Any] = {"rtol": 1e-3, "atol": 2e-2}
NODES_F16 = {f"{name}_f16" for name in NODES}


def network(
    name: str,
    factory: Callable[[], nn.Module],
    *recipes: Any,
    committed: bool = True,
    **options: Any,
) -> Case:
    """A network, named xnnpack_<name>; each recipe is a run of one input."""

    def build() -> Exported:
        samples = [made([recipe]) for recipe in recipes]
        return exported(named(settled(factory())), *samples, **options)

    return Case(f"xnnpack_{name}", build, committed)


def layer(name: str) -> Case:
    """A random layer of a configuration, always the same one."""

    def build() -> Exported:
        random.seed(name)
        return CONFIGURATIONS[name]().exported()

    return Case(f"xnnpack_layer_{name}", build, name not in NODES_F16)


def named(body: nn.Module) -> nn.Module:
    """Gives parts of an nn.Sequential names that do not begin with a digit: folding
    batch norms fails on those."""
    return NetOfOne(lambda m, x: m.body(x), body=body)


def two_delegates() -> nn.Module:
    """Layers that XNNPACK runs around one that it does not."""
    return Net(
        lambda m, x: m.last(torch.cumsum(torch.relu(m.first(x)), 1)),
        first=nn.Linear(12, 16),
        last=nn.Linear(16, 5),
    )


def small_mlp() -> nn.Module:
    return mlp(64, 32, 10)


def separable() -> nn.Module:
    """A depthwise convolution as in MobileNet, of as many channels as kernels take."""
    return nn.Sequential(
        nn.Conv2d(3, 12, 3, padding=1),
        nn.ReLU6(),
        nn.Conv2d(12, 12, 3, stride=2, padding=1, groups=12),
        nn.ReLU6(),
        nn.Conv2d(12, 16, 1),
    )


def pixels() -> nn.Module:
    """Convolutions of single pixels, and one of every other pixel. When images are
    quantised at run time, the former do so pixel by pixel, the latter together."""

    def forward(m: Any, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        y = m.first(x)
        return y, m.second(x), m.third(y)

    return Net(
        forward,
        first=nn.Conv2d(6, 5, 1),
        second=nn.Conv2d(6, 2, 1, bias=False),
        third=nn.Conv2d(5, 3, 1, stride=2),
    )


def row(inputs: int) -> nn.Module:
    """Layers of one row, with columns in blocks of which the last are not full."""
    return Net(
        lambda m, x: tuple(layer(x) for layer in m.layers),
        layers=nn.ModuleList(nn.Linear(inputs, n) for n in (31, 33, 57)),
    )


def gates() -> nn.Module:
    """Layers in bfloat16, and what the partitioner lowers around them."""

    def forward(m: Any, x: torch.Tensor) -> torch.Tensor:
        y = torch.sigmoid(m.gate(x)) * x - x.abs()
        return m.down(torch.cat([y, torch.tanh(x).clamp(-0.5, 0.75)], 1))[:, 1:]

    return Net(forward, gate=nn.Linear(23, 23), down=nn.Linear(46, 9, bias=False))


_BF16: dict[str, Any] = {"partition": {"enable_bf16": True}}
_BATCH = Dim("batch", min=1, max=8)
_ROWS = f32(4, 64)
_STEPS = [_ROWS, f32(8, 64), f32(1, 64)]
_IMAGE, _PHOTO = f32(1, 3, 32, 32), f32(1, 3, 96, 96)
f16, bf16 = partial(real, torch.float16), partial(real, torch.bfloat16)
on_demand = partial(network, committed=False)

CASES = [
    network("mlp", small_mlp, _ROWS, _ROWS, **NEAR),
    network("mlp_dynamic", small_mlp, *_STEPS, dynamic=({0: _BATCH},), **NEAR),
    network("mlp_inline", small_mlp, _ROWS, extract_delegate_segments=False, **NEAR),
    network("mlp_f16", lambda: small_mlp().half(), f16(4, 64)),
    network("mlp_bf16", lambda: small_mlp().bfloat16(), *[bf16(4, 64)] * 2, **_BF16),
    on_demand("row_bf16", lambda: row(37).bfloat16(), bf16(1, 37), **_BF16),
    # The wheel does not round what is between element-wise nodes.
    network("gates_bf16", lambda: gates().bfloat16(), bf16(5, 23), eager=True, **_BF16),
    network("mlp_static", small_mlp, _ROWS, form="static"),
    network("mlp_qd8", small_mlp, _ROWS, form="dynamic"),
    network("mlp_int4", small_mlp, _ROWS, form="int4_32"),
    network("row", lambda: row(37), f32(1, 37), **NEAR),
    network("row_f16", lambda: row(37).half(), f16(1, 37)),
    network("row_qd8", lambda: row(37), f32(1, 37), form="dynamic"),
    network("row_int4", lambda: row(64), f32(1, 64), form="int4"),
    network("row_int4_32", lambda: row(64), f32(1, 64), form="int4_32"),
    network("two_delegates", two_delegates, f32(3, 12), **NEAR),
    network("resnet8", lambda: resnet8(4), _IMAGE, **NEAR),
    network("resnet8_static", lambda: resnet8(4), _IMAGE, form="static", **STEP),
    network("cnn_static", small_cnn, f32(2, 2, 8, 8), form="static", **STEP),
    network(
        "mobilenet_v2_small_static",
        lambda: mobilenet_v2(16),
        _IMAGE,
        form="static",
        **STEP,
    ),
    network("separable_static", separable, f32(1, 3, 9, 9), form="static", **STEP),
    network("pixels_qd8", pixels, f32(2, 6, 3, 5), form="dynamic"),
    network(
        "pixels_qd8_f16",
        lambda: pixels().half(),
        f16(2, 6, 3, 5),
        form="dynamic",
        **HALF_STEP,
    ),
    network("encoder", lambda: Encoder(16, 2), f32(1, 6, 16), **NEAR),
    network(
        "encoder_qd8", lambda: Encoder(16, 2), f32(1, 6, 16), form="dynamic", **STEP
    ),
    network("encoder_f16", lambda: Encoder(16, 2).half(), f16(1, 6, 16), **NEAR_HALF),
    network("lstm", lambda: recurrent(nn.LSTM, 6, 8), f32(1, 5, 6), **NEAR),
    on_demand("mobilenet_v1", mobilenet_v1, _PHOTO, **NEAR),
    on_demand("mobilenet_v1_static", mobilenet_v1, _PHOTO, form="static", **STEP),
    on_demand("torch_encoder", lambda: torch_encoder(16, 2), f32(1, 6, 16), **NEAR),
    *map(layer, CONFIGURATIONS),
]
