"""Steps that the quantizer for Cortex-M takes to int8."""

from __future__ import annotations

from ember.sweep.graphs.layers import convolution, linear, pooling
from ember.sweep.graphs.movement import same
from ember.sweep.graphs.picker import Picker
from ember.sweep.graphs.values import Reject, Traits

SUMS = Traits(sums=True)


def convolution_of_images(b: Picker) -> None:
    if any(one.rank == 3 and one.uses == 0 for one in b.values):
        raise Reject("rank")
    convolution(b)


def combined(b: Picker) -> None:
    x = b.value("f", (2, 4))
    y = same(b, x, x.shape)
    b.call(b.one_of(["torch.add", "torch.mul", "torch.minimum", "torch.maximum"]), x, y)


def bounded(b: Picker) -> None:
    x = b.value("f", (2, 4))
    b.call(b.one_of(["torch.relu", "F.relu6", "F.hardtanh"]), x)


def curved(b: Picker) -> None:
    x = b.value("f", (2, 4))
    names = ["torch.sigmoid", "torch.tanh", "F.hardswish", "F.hardsigmoid", "F.silu"]
    b.call(b.one_of(names), x, traits=Traits(rough=True))


def probabilities(b: Picker) -> None:
    b.call("F.softmax", b.value("f", (2,)), -1, traits=Traits(rough=True))


def flattened(b: Picker) -> None:
    b.call("torch.flatten", b.value("f", (4,)), 1)


def averaged(b: Picker) -> None:
    b.call("torch.mean", b.value("f", (4,)), [2, 3], keepdim=b.chance(0.5), traits=SUMS)


OPERATORS = [
    (convolution_of_images, 8),
    (linear, 5),
    (pooling, 3),
    (combined, 5),
    (bounded, 4),
    (curved, 2),
    (probabilities, 1),
    (flattened, 2),
    (averaged, 1),
]
