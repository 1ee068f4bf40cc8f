"""Steps that quantizers leave: from and to integers, and int8 layers of Cortex-M."""

from __future__ import annotations

import torch

from ember.export.packages import need
from ember.sweep.graphs.builder import GraphValue, Traits
from ember.sweep.graphs.picker import Picker, Shape

DISCRETE = Traits(discrete=True)
TYPES = [
    (torch.int8, -128, 127),
    (torch.int8, -128, 127),
    (torch.uint8, 0, 255),
    (torch.int16, -32768, 32767),
]


def per_tensor(b: Picker) -> None:
    x = b.value("f", None, lambda entry: entry.exact and entry.dtype == torch.float32)
    dtype, low, high = b.one_of(TYPES)
    scale = b.one_of([0.125, 0.03125, 0.05, 0.0123, 1.0 / 3])
    span = min(high - low, 100)
    zero = low + span // 2 + b.between(-20, 20) if low == 0 else b.between(-30, 30)
    rest = (scale, zero, low, high, dtype)
    q = b.call("qd.quantize_per_tensor", x, *rest, traits=DISCRETE)
    if b.chance(0.3) and q.rank:
        q = b.call("torch.flip", q, [b.dim(q)])
    b.call("qd.dequantize_per_tensor", q, *rest)


def per_channel(b: Picker) -> None:
    """Weights: constants with a scale for each row."""
    rows, columns = b.between(1, 8), b.between(1, 12)
    source = b.random()
    weight = torch.randint(-127, 128, (rows, columns), generator=source)
    scales = torch.rand(rows, generator=source) * 0.01 + 0.001
    zeros = torch.zeros(rows, dtype=torch.int64)
    parts = [weight.to(torch.int8), scales, zeros]
    q, s, z = (b.add_constant(entry) for entry in parts)
    rest = (0, -127, 127, torch.int8)
    w = b.call("qd.dequantize_per_channel", q, s, z, *rest)
    x = b.value(
        "f",
        (2, 3),
        lambda entry: entry.shape[-1] == columns and entry.dtype == torch.float32,
        lambda: (b.sizes[0] if b.graph.batch else b.between(1, 4), columns),
    )
    b.call("F.linear", x, w, traits=Traits(sums=True))


OPERATORS = [(per_tensor, 8), (per_channel, 4)]


# ---- layers with constant weights, which the quantizer for Cortex-M takes to int8 ----


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


INT8_LAYERS = [
    (convolution, 8),
    (linear, 5),
    (pooling, 3),
    (combined, 5),
    (bounded, 4),
    (curved, 2),
    (probabilities, 1),
    (flattened, 2),
]
