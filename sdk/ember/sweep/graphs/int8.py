"""Steps that the quantizer for Cortex-M takes to int8: layers with constant weights."""

from __future__ import annotations

from ember.export.packages import need
from ember.sweep.graphs.picker import Picker, Shape
from ember.sweep.graphs.values import GraphValue, Traits

torch = need("torch")
SUMS = Traits(sums=True)
ROUGH = Traits(rough=True)


def _operand(b: Picker, *ranks: int) -> GraphValue:
    """An input or what was computed, never a weight."""

    def shape() -> Shape:
        if b.one_of(ranks) == 2:
            return (1, b.between(2, 24))
        return (1, b.one_of([1, 3, 4, 8]), b.between(4, 9), b.between(4, 9))

    def fits(entry: GraphValue) -> bool:
        return entry.index not in b.graph.constants and min(entry.shape) > 0

    results = [entry for entry in b.values if entry.rank in ranks and fits(entry)]
    if results:
        return b.value("f", ranks, fits, reuse=1.0)
    sizes = shape()
    return b.add_input([b.numbers(torch.float32, sizes) for _ in b.sizes])


def _weight(b: Picker, *shape: int) -> GraphValue:
    return b.add_constant(torch.randn(shape, generator=b.random()) * 0.4)


def convolution(b: Picker) -> None:
    x = _operand(b, 4)
    channels = x.shape[1]
    groups = b.one_of([1, 1, channels])
    out = groups * b.between(1, max(1, 8 // groups))
    kernel = [b.between(1, 3), b.between(1, 3)]
    weight = _weight(b, out, channels // groups, *kernel)
    bias = _weight(b, out) if b.chance(0.7) else None
    options = {"stride": [b.between(1, 2)] * 2, "padding": [b.between(0, 1)] * 2}
    b.call("F.conv2d", x, weight, bias, traits=SUMS, groups=groups, **options)


def linear(b: Picker) -> None:
    x = _operand(b, 2)
    out = b.between(1, 16)
    bias = _weight(b, out) if b.chance(0.7) else None
    b.call("F.linear", x, _weight(b, out, x.shape[-1]), bias, traits=SUMS)


def pooling(b: Picker) -> None:
    x = _operand(b, 4)
    size, step = b.between(1, 3), b.between(1, 2)
    name = b.one_of(["F.max_pool2d", "F.avg_pool2d"])
    b.call(name, x, [size, size], [step, step], traits=SUMS)


def combined(b: Picker) -> None:
    x = _operand(b, 2, 4)
    equal = [entry for entry in b.values if entry.shape == x.shape]
    y = b.one_of([entry for entry in equal if entry.index not in b.graph.constants])
    b.call(b.one_of(["torch.add", "torch.mul"]), x, y)


def bounded(b: Picker) -> None:
    b.call(b.one_of(["torch.relu", "F.relu6", "F.hardtanh"]), _operand(b, 2, 4))


def curved(b: Picker) -> None:
    b.call(b.one_of(["torch.sigmoid", "torch.tanh"]), _operand(b, 2, 4), traits=ROUGH)


def probabilities(b: Picker) -> None:
    b.call("F.softmax", _operand(b, 2), -1, traits=ROUGH)


def flattened(b: Picker) -> None:
    b.call("torch.flatten", _operand(b, 4), 1)


OPERATORS = [
    (convolution, 8),
    (linear, 5),
    (pooling, 3),
    (combined, 5),
    (bounded, 4),
    (curved, 2),
    (probabilities, 1),
    (flattened, 2),
]
