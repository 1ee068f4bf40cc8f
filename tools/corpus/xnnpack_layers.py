# SPDX-License-Identifier: Apache-2.0
"""Programs of one layer each, of random sizes, in each configuration of XNNPACK."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812 - as PyTorch's users call it

from corpus.case import Exported
from corpus.modules import Apply
from corpus.xnnpack import exported

# Sums of products have XNNPACK's bits, but for outer products of float16: those add two
# products in one step, and may differ by a step of the output. Functions (softmax, exp,
# ...) are near; in float16 XNNPACK rounds on the way, where these kernels round once.
NEAR: dict[str, Any] = {"rtol": 1e-5, "atol": 1e-5}
HALF_STEP: dict[str, Any] = {"rtol": 2**-10, "atol": 1e-6}
NEAR_HALF: dict[str, Any] = {"rtol": 4e-3, "atol": 2e-3}


@dataclass
class Layer:
    """A module, its inputs, and how it is quantised and compared."""

    module: nn.Module
    inputs: tuple[torch.Tensor, ...]
    form: str = "float"
    tolerance: dict[str, float] = field(default_factory=dict)
    positive: bool = False  # the inputs, of which there are no others

    def exported(self) -> Exported:
        again = [] if self.positive else [tuple(map(torch.randn_like, self.inputs))]
        options: dict[str, Any] = {"form": self.form, **self.tolerance}
        return exported(self.module, self.inputs, *again, **options)


def pick(*items: Any) -> Any:
    return random.choice(items)


def activation() -> nn.Module:
    return pick(nn.Identity(), nn.Identity(), nn.ReLU(), nn.ReLU6())


def linear(form: str, half: bool = False) -> Layer:
    """Rows of one to three dimensions."""
    group = int(form.partition("_")[2]) if form.startswith("int4_") else 0
    k = group * pick(1, 2, 3) if group else random.randint(1, 140)
    k += k % 2 if form == "int4" else 0  # XNNPACK misreads others: see xnnpack_rare
    n = random.randint(1, 40)
    rows = [random.randint(1, 9) for _ in range(pick(1, 1, 2))]
    module = nn.Sequential(nn.Linear(k, n, bias=pick(True, True, False)), activation())
    return _floats(Layer(module, (torch.randn(*rows, k),), form), half)


def _floats(layer: Layer, half: bool) -> Layer:
    if half:
        layer.module = layer.module.half()
        layer.inputs = tuple(x.half() for x in layer.inputs)
        layer.tolerance = NEAR_HALF if layer.tolerance else HALF_STEP
    return layer


def convolution(form: str, half: bool = False, pointwise: bool = False) -> Layer:
    """Kernels up to 5, strides, dilations, paddings, groups."""
    kernel = [1, 1] if pointwise else [pick(1, 2, 3, 3, 5) for _ in "hw"]
    stride = [pick(1, 1, 2, 3) for _ in "hw"]
    dilation = [1, 1] if pointwise else [pick(1, 1, 2) for _ in "hw"]
    padding = [random.randint(0, (k - 1) * d) for k, d in zip(kernel, dilation)]  # noqa: B905
    groups = 1 if pointwise else pick(1, 1, 1, 2)
    inputs, outputs = groups * random.randint(1, 12), groups * random.randint(2, 20)
    if groups == inputs:
        inputs *= 2
    windows = (kernel, stride, padding, dilation)
    bias = pick(True, True, False)
    module = nn.Conv2d(inputs, outputs, *windows, groups, bias)
    return _floats(Layer(_image(module), (image_of(inputs),), form), half)


def depthwise(form: str, half: bool = False) -> Layer:
    channels, multiplier = random.randint(2, 20), pick(1, 1, 2)
    outputs, windows = channels * multiplier, (pick(3, 3, 5), pick(1, 2), pick(0, 1))
    bias = pick(True, False)
    module = nn.Conv2d(channels, outputs, *windows, groups=channels, bias=bias)
    return _floats(Layer(_image(module), (image_of(channels),), form), half)


def transposed(form: str, half: bool = False) -> Layer:
    stride = pick(1, 2)
    inputs, outputs = random.randint(2, 9), random.randint(2, 9)
    module = nn.ConvTranspose2d(
        inputs, outputs, pick(2, 3), stride, pick(0, 1), pick(0, stride - 1)
    )
    layer = Layer(_image(module), (image_of(inputs),), form, NEAR)
    return _floats(layer, half)


def _image(module: nn.Module) -> nn.Module:
    return nn.Sequential(module, activation()).eval()


def image_of(channels: int) -> torch.Tensor:
    image = torch.randn(
        pick(1, 1, 2), channels, random.randint(9, 12), random.randint(9, 13)
    )
    return image.to(memory_format=pick(torch.channels_last, torch.contiguous_format))


def matmul(half: bool) -> Layer:
    batch = [random.randint(1, 3) for _ in range(pick(1, 1, 2))]
    m, k, n = (random.randint(1, 33) for _ in "mkn")
    inputs = (torch.randn(*batch, m, k), torch.randn(*batch, k, n))
    return _floats(Layer(Apply(torch.matmul), inputs), half)


# ---- nodes without products: name, function, inputs ----------------------------------

_UNARY: dict[str, Callable[..., Any]] = {
    "abs": torch.abs,
    "ceil": torch.ceil,
    "clamp": lambda x: torch.clamp(x, -0.5, 0.75),
    "elu": lambda x: F.elu(x, 0.7),
    "exp": torch.exp,
    "floor": torch.floor,
    "gelu": F.gelu,
    "hardswish": F.hardswish,
    "hardtanh": F.hardtanh,
    "leaky_relu": lambda x: F.leaky_relu(x, 0.1),
    "neg": torch.neg,
    "relu": torch.relu,
    "sigmoid": torch.sigmoid,
    "square": lambda x: x**2,
    "tanh": torch.tanh,
    "sin": torch.sin,
    "cos": torch.cos,
    "softmax": lambda x: torch.softmax(x, -1),
    "permute": lambda x: x.transpose(1, 2) + 1,
    "view": lambda x: x.flatten(1) * 2,
    "slice": lambda x: x[:, 1:, ::1] + 1,
    "pad": lambda x: F.pad(x, (1, 2, 0, 1), value=0.5),
}
_POSITIVE: dict[str, Callable[..., Any]] = {
    "log": torch.log,
    "rsqrt": torch.rsqrt,
    "sqrt": torch.sqrt,
}
_BINARY: dict[str, Callable[..., Any]] = {
    "add": torch.add,
    "div": torch.div,
    "maximum": torch.maximum,
    "minimum": torch.minimum,
    "mul": torch.mul,
    "sub": torch.sub,
    "cat2": lambda x, y: torch.cat([x, y], 1),
    "cat5": lambda x, y: torch.cat([x, y, x, x, y], 2),
}
_IMAGE: dict[str, Callable[..., Any]] = {
    "avg_pool": lambda x: F.avg_pool2d(x, 2),
    "avg_pool_padded": lambda x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=False),
    "max_pool": lambda x: F.max_pool2d(x, 3, 2, 1),
    "mean": lambda x: x.mean((2, 3)),
    "mean_kept": lambda x: x.mean((2, 3), keepdim=True),
    "bilinear": lambda x: F.interpolate(x, scale_factor=2.0, mode="bilinear"),
    "bilinear_corners": lambda x: F.interpolate(
        x, scale_factor=2.0, mode="bilinear", align_corners=True
    ),
}
FUNCTIONS = {**_UNARY, **_POSITIVE, **_BINARY, **_IMAGE}
NODES = [*FUNCTIONS, "prelu"]


def node(name: str, half: bool = False, form: str = "float") -> Layer:
    shape = [random.randint(2, 9) for _ in range(3)]
    if name == "prelu":
        channels = random.randint(2, 9)
        layer = Layer(nn.PReLU(channels), (image_of(channels),), form, NEAR)
        return _floats(layer, half)
    if name in _IMAGE:
        inputs = [image_of(random.randint(2, 9))]
    elif name in _BINARY:
        other = shape if name.startswith("cat") else [pick(1, shape[0]), *shape[1:]]
        inputs = [torch.randn(shape), torch.randn(other)]
    else:
        inputs = [torch.rand(shape) + 0.1 if name in _POSITIVE else torch.randn(shape)]
    module = Apply(FUNCTIONS[name])
    return _floats(Layer(module, tuple(inputs), form, NEAR, name in _POSITIVE), half)


# Names of forms: how weights are made, and whether numbers are float16.
_FORMS: dict[str, tuple[str, bool]] = {
    **{"f32": ("float", False), "f16": ("float", True)},
    **{"qs8": ("static", False), "qs8_tensor": ("static_tensor", False)},
    **{"qd8": ("dynamic", False), "qd8_f16": ("dynamic", True)},
    **{"qc4": ("int4", False), "qb4_128": ("int4_128", False)},
    **{"qb4_32": ("int4_32", False), "qb4_32_f16": ("int4_32", True)},
}
_PRODUCTS: dict[str, tuple[Callable[..., Layer], tuple[str, ...]]] = {
    "linear": (linear, tuple(_FORMS)),
    "pointwise": (partial(convolution, pointwise=True), ("f32", "qs8", "qs8_tensor")),
    "conv": (convolution, ("f32", "f16", "qs8", "qs8_tensor", "qd8")),
    "depthwise": (depthwise, ("f32", "f16", "qs8", "qs8_tensor", "qd8")),
    "transposed": (transposed, ("f32", "f16", "qs8", "qd8")),
}
# The configurations, by name: what makes a random layer of each.
CONFIGURATIONS: dict[str, Callable[[], Layer]] = {
    **{
        f"{name}_{form}": partial(make, *_FORMS[form])
        for name, (make, forms) in _PRODUCTS.items()
        for form in forms
    },
    **{f"matmul_{form}": partial(matmul, _FORMS[form][1]) for form in ("f32", "f16")},
    **{f"{name}_f32": partial(node, name) for name in NODES},
    **{f"{name}_f16": partial(node, name, half=True) for name in NODES},
}
