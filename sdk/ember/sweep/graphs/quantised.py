"""Steps that quantise and go back, as quantizers leave them."""

from __future__ import annotations

import torch

from ember.sweep.graphs.picker import Picker
from ember.sweep.graphs.values import Traits

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
