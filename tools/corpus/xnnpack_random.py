# SPDX-License-Identifier: Apache-2.0
"""Random small networks in each form of XNNPACK: images, then rows, with branches."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.export import Dim
from torch.nn import functional as F  # noqa: N812 - as PyTorch's users call it

from corpus.case import Exported
from corpus.modules import Apply, NetOfOne
from corpus.xnnpack import FORMS, exported
from corpus.xnnpack_layers import NEAR, NEAR_HALF, pick

# A last bit that differs before a quantisation is one step after it.
STEPS: dict[str, Any] = {"rtol": 1e-2, "atol": 8e-2}
EXACT: dict[str, float] = {"rtol": 0.0, "atol": 0.0}


@dataclass
class Step:
    """A layer, and which results before it it takes, counted from the end."""

    module: nn.Module
    takes: tuple[int, ...] = (-1,)
    exact: bool = True


def network_of(steps: list[Step], also: int | None) -> nn.Module:
    """Steps in order; the last result, and sometimes one before it."""

    def forward(m: Any, x: torch.Tensor) -> Any:
        values = [x]
        for step, layer in zip(steps, m.steps, strict=True):
            values.append(layer(*[values[i] for i in step.takes]))
        return values[-1] if also is None else (values[-1], values[also])

    return NetOfOne(forward, steps=nn.ModuleList(step.module for step in steps))


# ---- steps of images -----------------------------------------------------------------


def convolution(x: torch.Tensor) -> Step:
    channels, outputs = x.shape[1], random.randint(1, 9)
    kernel = pick(1, 1, 2, 3)
    options = {"stride": pick(1, 1, 2), "padding": random.randint(0, kernel // 2)}
    layer = nn.Conv2d(channels, outputs, kernel, bias=pick(True, False), **options)
    return Step(pick(layer, nn.Sequential(layer, nn.BatchNorm2d(outputs)), layer))


def depthwise(x: torch.Tensor) -> Step:
    channels = x.shape[1]
    return Step(nn.Conv2d(channels, channels, 3, pick(1, 2), 1, groups=channels), (-1,))


def pad(x: torch.Tensor) -> Step:
    sizes = [random.randint(0, 2) for _ in range(4)]
    return Step(Apply(lambda y: F.pad(y, sizes)))


def part(x: torch.Tensor) -> Step:
    dim = random.randrange(1, x.dim())
    first = random.randint(0, x.shape[dim] - 1)
    end = random.randint(first + 1, x.shape[dim])
    return Step(Apply(lambda y: y.narrow(dim, first, end - first)))


def pool(layer: Callable[..., nn.Module], exact: bool) -> Callable[..., Step]:
    return lambda x: Step(layer(2, pick(1, 2)), exact=exact)


def larger(x: torch.Tensor) -> Step:
    corners = pick(True, False)
    layer = nn.Upsample(scale_factor=2.0, mode="bilinear", align_corners=corners)
    return Step(layer, exact=False)


def turned(x: torch.Tensor) -> Step:
    order = [0, *random.sample(range(1, x.dim()), x.dim() - 1)]
    return Step(Apply(lambda y: y.permute(order)))


def highest(x: torch.Tensor) -> Step:
    dim = pick(2, 3)
    return Step(Apply(lambda y: y.max(dim, keepdim=True)[0]))


# ---- steps of both -------------------------------------------------------------------

BOUNDS: list[Callable[[], nn.Module]] = [
    nn.ReLU,
    nn.ReLU6,
    nn.Hardtanh,
    lambda: Apply(lambda y: y.clamp(-0.4, 0.6)),
]
NEARLY: list[Callable[[], nn.Module]] = [
    nn.Sigmoid,
    nn.Tanh,
    nn.GELU,
    nn.Hardswish,
    nn.SiLU,
    lambda: nn.LeakyReLU(0.2),
    lambda: Apply(lambda y: torch.exp(-torch.abs(y))),
    lambda: Apply(lambda y: torch.rsqrt(y * y + 1.0)),
    lambda: Apply(lambda y: torch.floor(2.0 * y) + torch.ceil(y)),
    lambda: Apply(lambda y: torch.sin(y) - torch.cos(y)),
    lambda: Apply(lambda y: torch.log(y * y + 0.5)),
    lambda: Apply(lambda y: torch.softmax(y, -1)),
    lambda: Apply(lambda y: torch.sqrt(y**2 + 0.1) / 1.7),
]


def bound(x: torch.Tensor) -> Step:
    return Step(pick(*BOUNDS)())


def function(x: torch.Tensor) -> Step:
    return Step(pick(*NEARLY)(), exact=False)


def prelu(x: torch.Tensor) -> Step:
    return Step(nn.PReLU(x.shape[1] if x.dim() > 1 else 1), exact=False)


def pair(x: torch.Tensor) -> Step:
    """With an earlier result, or with itself through a function."""
    combine = pick(torch.add, torch.mul, torch.sub, torch.maximum, torch.minimum)
    exact = combine in (torch.add, torch.mul, torch.sub)
    return Step(Apply(combine), (-1, pick(-1, -2, -3)), exact)


def joined(x: torch.Tensor) -> Step:
    count, dim = pick(2, 2, 3, 4, 5), random.randrange(1, x.dim())
    takes = tuple(pick(-1, -2, -3) for _ in range(count))
    return Step(Apply(lambda *parts: torch.cat(parts, dim)), takes)


IMAGES = [convolution] * 4 + [depthwise, pad, part]
IMAGES += [pool(nn.MaxPool2d, exact=True), pool(nn.AvgPool2d, exact=False)]
IMAGES += [larger, turned, highest, prelu, bound, bound, function, pair, pair, joined]


# ---- steps of rows -------------------------------------------------------------------


def linear(x: torch.Tensor) -> Step:
    return Step(nn.Linear(x.shape[-1], pick(8, 16, 32, 5), bias=pick(True, False)))


def mixed(x: torch.Tensor) -> Step:
    return Step(Apply(lambda y: y @ y.transpose(-2, -1)), exact=False)


def normal(x: torch.Tensor) -> Step:
    return Step(nn.LayerNorm(x.shape[-1]), exact=False)


ROWS = [linear] * 5 + [mixed, normal, part, bound, function, pair, pair, joined, turned]

# ---- networks ------------------------------------------------------------------------

MOST_ELEMENTS = 6000


def network(
    sample: torch.Tensor, kinds: list[Any], count: int
) -> tuple[nn.Module, bool]:
    """Steps that fit each other, found by running them."""
    values, tries = [sample], 0
    steps: list[Any] = []
    while len(steps) < count and tries < 200:
        tries += 1
        step = pick(*kinds)(values[-1])
        try:
            output = step.module.eval()(*[values[i] for i in step.takes])
        except (RuntimeError, IndexError, ValueError):
            continue
        if not 0 < output.numel() <= MOST_ELEMENTS or not output.isfinite().all():
            continue
        values.append(output)
        steps.append(step)
        if values[-1].dim() == 4 and random.random() < 0.15:
            end = pick(lambda y: y.mean((2, 3)), lambda y: y.mean((2, 3), keepdim=True))
            steps.append(Step(Apply(end), exact=False))
            values.append(end(values[-1]))
            if values[-1].dim() == 2:
                kinds = ROWS
    also = random.randint(1, len(values) - 1) if random.random() < 0.2 else None
    return network_of(steps, also).eval(), all(step.exact for step in steps)


SETTINGS: list[dict[str, Any]] = [
    *[{}] * 6,
    {"per_op_mode": True},
    {"precisions": ["FP32"]},
    {"precisions": ["STATIC_QUANT", "FP32"]},
]


def random_program(form: str) -> Exported:
    """A random network in a form of xnnpack.FORMS, or "half"."""
    half, form = form == "half", "float" if form == "half" else form
    group = int(form.partition("_")[2]) if form.startswith("int4_") else 8
    images = not form.startswith("int4") and random.random() < 0.7
    if images:
        shape = [pick(1, 1, 2), random.randint(1, 6), *random.sample(range(5, 12), 2)]
        kinds = IMAGES
    else:
        shape = [*pick((3,), (1,), (2, 4)), pick(1, 2) * group]
        whole = form.startswith("int4_")  # rows that keep their groups
        kinds = [kind for kind in ROWS if not (whole and kind is part)]
    sample = torch.randn(shape)
    if images and random.random() < 0.4:
        sample = sample.to(memory_format=torch.channels_last)
    module, exact = network(sample, kinds, random.randint(1, 7))
    samples, dynamic = [sample, torch.randn_like(sample)], None
    if random.random() < 0.25 and shape[0] > 1:
        dynamic = ({0: Dim("n", min=1, max=shape[0])},)
        samples.append(torch.randn_like(sample)[:1])
    near = NEAR if form == "float" else EXACT if exact else STEPS
    if half:
        module, samples = module.half(), [kind.half() for kind in samples]
        near = NEAR_HALF
    return exported(
        module,
        *[(kind,) for kind in samples],
        form=form,
        dynamic=dynamic,
        partition=pick(*SETTINGS),
        **near,
    )


RANDOM = {f"random_{form}": form for form in (*FORMS, "half")}
