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
from corpus.modules import Net
from corpus.more_networks import mobilenet_v2
from corpus.networks import Encoder, mlp, mobilenet_v1, recurrent, resnet8, settled
from corpus.xnnpack import FORMS, exported
from corpus.xnnpack_layers import NEAR, NEAR_HALF
from corpus.xnnpack_networks import STEP, named, small_mlp

Factory = Callable[[], nn.Module]

# Name: a factory, the shape of the input, and whether int4 fits its linear layers.
NETWORKS: dict[str, tuple[Factory, tuple[int, ...], bool]] = {
    "mobilenet_v1_full": (lambda: mobilenet_v1(0.25), (1, 3, 96, 96), False),
    "mobilenet_v2": (mobilenet_v2, (1, 3, 32, 32), False),
    "resnet8_full": (lambda: resnet8(16), (1, 3, 32, 32), False),
    "mlp_wide": (lambda: mlp(128, 256, 10), (4, 128), True),
    "encoder_wide": (lambda: Encoder(128, 4), (1, 12, 128), True),
    "lstm_wide": (lambda: recurrent(nn.LSTM, 128, 128), (1, 4, 128), True),
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
    module = named(settled(factory()))
    recipe = f32(*shape)
    if form == "half":
        module, recipe, form = module.half(), real(torch.float16, *shape), "float"
    return exported(module, made([recipe]), made([recipe]), form=form, **options)


# ---- settings of the partitioner -----------------------------------------------------


def summing() -> nn.Module:
    """Layers around a state that is kept from run to run."""

    def forward(m: Any, x: torch.Tensor) -> torch.Tensor:
        m.sum.add_(torch.relu(m.first(x)))
        return m.last(m.sum)

    layers = {"first": nn.Linear(12, 12), "last": nn.Linear(12, 5)}
    return Net(forward, **layers, sum=torch.zeros(3, 12))


_BATCH = Dim("batch", min=1, max=8)
_HEIGHT = Dim("height", min=8, max=24)


ROWS, IMAGE = f32(4, 64), f32(1, 3, 32, 32)
PER_OP: dict[str, Any] = {"partition": {"per_op_mode": True}}
AS_INPUTS = {"partition": {"force_non_static_weights_for_f32_linear": True}}
QD8: dict[str, Any] = {"form": "dynamic"}
STATIC: dict[str, Any] = {"form": "static"}


def only(precision: str) -> dict[str, Any]:
    return {"partition": {"precisions": [precision]}}


def small_resnet8() -> nn.Module:
    return resnet8(4)


SETTINGS: dict[str, tuple[Factory, list[Any], dict[str, Any]]] = {
    "per_op": (small_mlp, [ROWS], PER_OP),
    "per_op_qd8": (small_mlp, [ROWS], {**QD8, **PER_OP}),
    "per_op_encoder": (lambda: Encoder(16, 2), [f32(1, 6, 16)], PER_OP),
    "weights_as_inputs": (small_mlp, [ROWS], AS_INPUTS),
    "float_only": (small_mlp, [ROWS], only("FP32")),
    "float_only_static": (
        small_resnet8,
        [IMAGE],
        {**STATIC, **only("FP32"), "eager": True},
    ),
    "static_only": (small_resnet8, [IMAGE], {**STATIC, **only("STATIC_QUANT")}),
    "dynamic_only": (small_mlp, [ROWS], {**QD8, **only("DYNAMIC_QUANT")}),
    "channels_last": (small_resnet8, [channels_last(IMAGE)], {}),
    "channels_last_static": (small_resnet8, [channels_last(IMAGE)], STATIC),
    "dynamic_batch_qd8": (
        small_mlp,
        [ROWS, f32(1, 64), f32(8, 64)],
        {**QD8, "dynamic": ({0: _BATCH},)},
    ),
    "dynamic_image": (
        small_resnet8,
        [f32(1, 3, 24, 24), f32(1, 3, 8, 24), f32(1, 3, 16, 24)],
        {"dynamic": ({2: _HEIGHT},)},
    ),
    "state": (summing, [f32(3, 12)] * 3, {}),
}

COMMITTED = {"channels_last_static", "per_op_qd8", "state", "weights_as_inputs"}


def setting(name: str) -> Case:
    factory, recipes, options = SETTINGS[name]

    def build() -> Exported:
        samples = [made([recipe]) for recipe in recipes]
        near = STEP if "form" in options else NEAR
        module = settled(factory())
        model = module if factory is summing else named(module)
        return exported(model, *samples, **options, **near)

    return Case(f"xnnpack_setting_{name}", build, name in COMMITTED)


CASES = [*variants(), *map(setting, SETTINGS)]
