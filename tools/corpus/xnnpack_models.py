# SPDX-License-Identifier: Apache-2.0
"""Six networks in each form of XNNPACK, and the settings of its partitioner.

Each network and form is two cases of one program: `xnnpack_<network>_<form>` with the
outputs of executorch's own runtime, and `.._eager` with those of PyTorch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import nn
from torch.export import Dim

from corpus.case import Case, Exported
from corpus.inputs import channels_last, f32, made, real
from corpus.more_networks import mobilenet_v2
from corpus.networks import Encoder, Recurrent, mlp, mobilenet_v1, resnet8, settled
from corpus.xnnpack import FORMS, exported
from corpus.xnnpack_layers import NEAR, NEAR_HALF
from corpus.xnnpack_networks import STEP, Named

Factory = Callable[[], nn.Module]

# Name: a factory, the shape of the input, and whether int4 fits its linear layers.
NETWORKS: dict[str, tuple[Factory, tuple[int, ...], bool]] = {
    "mobilenet_v1_full": (lambda: mobilenet_v1(0.25), (1, 3, 96, 96), False),
    "mobilenet_v2": (mobilenet_v2, (1, 3, 32, 32), False),
    "resnet8_full": (lambda: resnet8(16), (1, 3, 32, 32), False),
    "mlp_wide": (lambda: mlp(128, 256, 10), (4, 128), True),
    "encoder_wide": (lambda: Encoder(128, 4), (1, 12, 128), True),
    "lstm_wide": (lambda: Recurrent(nn.LSTM, 128, 128), (1, 4, 128), True),
}
# Of PyTorch's outputs: a sum in another order moves a layer of int8 by a step, and the
# layers after it; int8 is quantised by q/dq around float layers there.
EAGER = {
    "float": {"rtol": 1e-4, "atol": 1e-4},
    "half": {"rtol": 2e-2, "atol": 1e-2},
}
EAGER_QUANTISED: dict[str, Any] = {"rtol": 5e-2, "atol": 8e-2}


def variants() -> Iterator[Case]:
    for name, (factory, shape, narrow) in NETWORKS.items():
        for form in (*FORMS, "half"):
            if narrow or not form.startswith("int4"):
                yield from pair(f"{name}_{form}", factory, shape, form)


def pair(name: str, factory: Factory, shape: tuple[int, ...], form: str) -> list[Case]:
    """The case of executorch's outputs, and the one of PyTorch's."""
    near = {"float": NEAR, "half": NEAR_HALF}.get(form, STEP)
    loose = EAGER.get(form, EAGER_QUANTISED)
    return [
        Case(f"xnnpack_{name}", lambda: made_of(factory, shape, form, **near), False),
        Case(
            f"xnnpack_{name}_eager",
            lambda: made_of(factory, shape, form, eager=True, **loose),
            False,
        ),
    ]


def made_of(
    factory: Factory, shape: tuple[int, ...], form: str, **options: Any
) -> Exported:
    module = Named(settled(factory()))
    recipe = f32(*shape)
    if form == "half":
        module, recipe, form = module.half(), real(torch.float16, *shape), "float"
    return exported(module, made([recipe]), made([recipe]), form=form, **options)


# ---- settings of the partitioner -----------------------------------------------------


class Counter(nn.Module):
    """Layers around a state that is kept from run to run."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(12, 12)
        self.last = nn.Linear(12, 5)
        self.register_buffer("sum", torch.zeros(3, 12))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.sum.add_(torch.relu(self.first(x)))
        return self.last(self.sum)


_BATCH = Dim("batch", min=1, max=8)
_HEIGHT = Dim("height", min=8, max=24)


def _mlp() -> nn.Module:
    return mlp(64, 32, 10)


SETTINGS: dict[str, tuple[Factory, list[Any], dict[str, Any]]] = {
    "per_op": (_mlp, [f32(4, 64)], {"partition": {"per_op_mode": True}}),
    "per_op_qd8": (
        _mlp,
        [f32(4, 64)],
        {"form": "dynamic", "partition": {"per_op_mode": True}},
    ),
    "per_op_encoder": (
        lambda: Encoder(16, 2),
        [f32(1, 6, 16)],
        {"partition": {"per_op_mode": True}},
    ),
    "weights_as_inputs": (
        _mlp,
        [f32(4, 64)],
        {"partition": {"force_non_static_weights_for_f32_linear": True}},
    ),
    "float_only": (_mlp, [f32(4, 64)], {"partition": {"precisions": ["FP32"]}}),
    "float_only_static": (
        lambda: resnet8(4),
        [f32(1, 3, 32, 32)],
        {"form": "static", "partition": {"precisions": ["FP32"]}, "eager": True},
    ),
    "static_only": (
        lambda: resnet8(4),
        [f32(1, 3, 32, 32)],
        {"form": "static", "partition": {"precisions": ["STATIC_QUANT"]}},
    ),
    "dynamic_only": (
        _mlp,
        [f32(4, 64)],
        {"form": "dynamic", "partition": {"precisions": ["DYNAMIC_QUANT"]}},
    ),
    "channels_last": (lambda: resnet8(4), [channels_last(f32(1, 3, 32, 32))], {}),
    "channels_last_static": (
        lambda: resnet8(4),
        [channels_last(f32(1, 3, 32, 32))],
        {"form": "static"},
    ),
    "dynamic_batch_qd8": (
        _mlp,
        [f32(4, 64), f32(1, 64), f32(8, 64)],
        {"form": "dynamic", "dynamic": ({0: _BATCH},)},
    ),
    "dynamic_image": (
        lambda: resnet8(4),
        [f32(1, 3, 24, 24), f32(1, 3, 8, 24), f32(1, 3, 16, 24)],
        {"dynamic": ({2: _HEIGHT},)},
    ),
    "state": (Counter, [f32(3, 12), f32(3, 12), f32(3, 12)], {}),
}


COMMITTED = {"channels_last_static", "per_op_qd8", "state", "weights_as_inputs"}


def setting(name: str) -> Case:
    factory, recipes, options = SETTINGS[name]

    def build() -> Exported:
        samples = [made([recipe]) for recipe in recipes]
        near = STEP if "form" in options else NEAR
        module = settled(factory())
        model = module if isinstance(module, Counter) else Named(module)
        return exported(model, *samples, **options, **near)

    return Case(f"xnnpack_setting_{name}", build, name in COMMITTED)


CASES = [*variants(), *map(setting, SETTINGS)]
