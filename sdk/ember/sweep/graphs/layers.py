"""Steps that are layers of networks: products, convolutions, pooling, padding."""

from __future__ import annotations

import math
from typing import Any

import torch

from ember.sweep.graphs.builder import GraphValue, Reject, Traits
from ember.sweep.graphs.picker import Picker, Shape

SUMS = Traits(sums=True)
ROUGH = Traits(rough=True, sums=True)


def tensor(b: Picker, like: GraphValue, shape: Shape) -> GraphValue:
    """Another operand: there already, or new, of this very shape and dtype."""
    return b.value(
        "f",
        (len(shape),),
        lambda entry: entry.shape == shape and entry.dtype == like.dtype,
        lambda: shape,
        reuse=0.4,
    )


def optional(b: Picker, like: GraphValue, shape: Shape) -> GraphValue | None:
    return tensor(b, like, shape) if b.chance(0.6) else None


def linear(b: Picker) -> None:
    x = b.value("f", (1, 2, 3, 4), lambda entry: entry.shape[-1] > 0)
    out = b.between(1, 9)
    weight = tensor(b, x, (out, x.shape[-1]))
    b.call("F.linear", x, weight, optional(b, x, (out,)), traits=SUMS)


def matmul(b: Picker) -> None:
    x = b.value("f", (1, 2, 3, 4))
    inner = x.shape[-1]
    shape: Shape = (inner, b.between(1, 8))
    if b.chance(0.2):
        shape = (inner,)
    elif x.rank > 2 and b.chance(0.5):
        lead = tuple(1 if b.chance(0.2) else size for size in x.shape[:-2])
        shape = (*lead, *shape)
    b.call("torch.matmul", x, tensor(b, x, shape), traits=SUMS)


def matrices(b: Picker) -> None:
    """mm, addmm, bmm, baddbmm, with and without factors."""
    x = b.value("f", (2, 3), lambda entry: not (entry.batched and entry.rank == 2))
    columns = b.between(1, 8)
    batch = x.shape[: x.rank - 2]
    y = tensor(b, x, (*batch, x.shape[-1], columns))
    names = {2: ("torch.mm", "torch.addmm"), 3: ("torch.bmm", "torch.baddbmm")}
    plain, added = names[x.rank]
    if b.chance(0.4):
        b.call(plain, x, y, traits=SUMS)
        return
    bias = tensor(b, x, b.one_of([(columns,), (x.shape[-2], columns), (1, columns)]))
    factors = {"beta": b.one_of([1, 0.5, 2]), "alpha": b.one_of([1, 1, 0.25, -1])}
    b.call(added, bias, x, y, traits=SUMS, **(factors if b.chance(0.6) else {}))


def products(b: Picker) -> None:
    x = b.value("f", (1, 2, 3))
    if x.rank == 1:
        name = b.one_of(["torch.dot", "torch.outer"])
        shape = x.shape if name == "torch.dot" else (b.between(1, 6),)
        b.call(name, x, tensor(b, x, shape), traits=SUMS)
    elif b.chance(0.5):
        b.call("F.normalize", x, dim=b.dim(x), eps=0.5, traits=ROUGH)
    else:
        y = tensor(b, x, x.shape)
        b.call("F.cosine_similarity", x, y, b.dim(x), 0.5, traits=ROUGH)


def attention(b: Picker) -> None:
    q = b.value("f", (3, 4), lambda entry: min(entry.shape) > 0)
    length = b.between(1, 6)
    k = tensor(b, q, (*q.shape[:-2], length, q.shape[-1]))
    v = tensor(b, q, (*q.shape[:-2], length, b.between(1, 6)))
    name = "F.scaled_dot_product_attention"
    if b.chance(0.3):
        b.call(name, q, k, v, is_causal=True, traits=ROUGH)
    else:
        b.call(name, q, k, v, traits=ROUGH)


# ---- convolution ---------------------------------------------------------------------


def image(b: Picker, spatial: int) -> GraphValue:
    """A batch of images of 1 to 3 spatial dimensions."""
    most = {1: 24, 2: 9, 3: 5}[spatial]

    def shape() -> Shape:
        sizes = tuple(b.between(2, most) for _ in range(spatial))
        batch = b.sizes[0] if b.graph.batch else b.between(1, 2)
        return (batch, b.one_of([1, 2, 3, 4, 6, 8]), *sizes)

    def fits(entry: GraphValue) -> bool:
        return min(entry.shape) > 0 and entry.dtype in (torch.float32, *b.floats)

    return b.value("f", (spatial + 2,), fits, shape)


def each(b: Picker, spatial: int, low: int, high: int) -> list[int]:
    """A number for each spatial dimension: all the same, or not."""
    if b.chance(0.6):
        return [b.between(low, high)] * spatial
    return [b.between(low, high) for _ in range(spatial)]


def convolution(b: Picker) -> None:
    spatial = b.one_of([1, 1, 2, 2, 2, 2])
    x = image(b, spatial)
    channels = x.shape[1]
    groups = b.one_of([1, 1, 1, channels, *_divisors(channels)])
    out = groups * b.between(1, max(1, 8 // groups))
    kernel = each(b, spatial, 1, 4)
    weight = tensor(b, x, (out, channels // groups, *kernel))
    options = {
        "stride": each(b, spatial, 1, 3),
        "padding": each(b, spatial, 0, 2),
        "dilation": each(b, spatial, 1, 2) if b.chance(0.3) else [1] * spatial,
        "groups": groups,
    }
    bias = optional(b, x, (out,))
    b.call(f"F.conv{spatial}d", x, weight, bias, traits=SUMS, **options)


def transposed_convolution(b: Picker) -> None:
    spatial = b.one_of([1, 2, 2])
    x = image(b, spatial)
    groups = b.one_of([1, 1, *_divisors(x.shape[1])])
    out = b.between(1, 4)
    weight = tensor(b, x, (x.shape[1], out, *each(b, spatial, 1, 4)))
    stride = each(b, spatial, 1, 3)
    options = {
        "stride": stride,
        "padding": each(b, spatial, 0, 1),
        "output_padding": [min(b.between(0, 1), entry - 1) for entry in stride],
        "groups": groups,
        "dilation": each(b, spatial, 1, 2) if b.chance(0.3) else [1] * spatial,
    }
    bias = optional(b, x, (out * groups,))
    b.call(f"F.conv_transpose{spatial}d", x, weight, bias, traits=SUMS, **options)


def _divisors(number: int) -> list[int]:
    return [n for n in range(1, number + 1) if number % n == 0]


# ---- pooling, padding, scaling -------------------------------------------------------


def pooling(b: Picker) -> None:
    spatial = b.one_of([1, 1, 2, 2, 2, 3])
    x = image(b, spatial)
    kernel = each(b, spatial, 1, 3)
    options: dict[str, Any] = {
        "stride": each(b, spatial, 1, 3),
        "padding": [b.between(0, entry // 2) for entry in kernel],
        "ceil_mode": b.chance(0.3),
    }
    pick = b.between(0, 4)
    if pick == 0:
        size = each(b, spatial, 1, 4)
        b.call(f"F.adaptive_avg_pool{spatial}d", x, size, traits=SUMS)
    elif pick <= 2:
        options["count_include_pad"] = b.chance(0.5)
        b.call(f"F.avg_pool{spatial}d", x, kernel, traits=SUMS, **options)
    else:
        options["dilation"] = each(b, spatial, 1, 2) if b.chance(0.3) else 1
        options["return_indices"] = x.exact and b.chance(0.3)
        b.call(f"F.max_pool{spatial}d", x, kernel, **options)


def padding(b: Picker) -> None:
    mode = b.one_of(["constant", "constant", "reflect", "replicate", "circular"])
    if mode == "constant":
        x = b.value("fib", (1, 2, 3, 4))
        sides = [b.between(-1, 3) for _ in range(2 * b.between(1, min(3, x.rank)))]
        b.call("F.pad", x, sides, value=b.between(-2, 2))
    else:
        x = b.value("f", (2, 3, 4))
        sides = [b.between(0, 2) for _ in range(2 * b.one_of([1, 2]))]
        b.call("F.pad", x, sides, mode)


def upsample(b: Picker) -> None:
    x = image(b, 2)
    if math.prod(x.shape) > 400:
        raise Reject("large")
    size = [n + b.between(0, n + 1) for n in x.shape[2:]]
    mode = b.one_of(["nearest", "bilinear"])
    options: dict[str, Any] = (
        {"align_corners": b.chance(0.5)} if mode == "bilinear" else {}
    )
    if b.chance(0.4):
        options["scale_factor"] = b.one_of([2, 2.0, 3.0])
    else:
        options["size"] = size
    b.call("F.interpolate", x, mode=mode, traits=SUMS, **options)


def shuffle(b: Picker) -> None:
    # PyTorch itself is wrong about the shape of what is empty.
    x = b.value("f", (4,), lambda entry: min(entry.shape) > 0)
    if x.shape[1] % 4 == 0:
        b.call("F.pixel_shuffle", x, 2)
    else:
        b.call("F.pixel_unshuffle", x, 2)


def glu(b: Picker) -> None:
    x = b.value("f", (1, 2, 3, 4))
    b.call("F.glu", x, b.dim(x), traits=Traits(rough=True))


def embedding(b: Picker) -> None:
    rows = b.between(2, 12)
    table = tensor(b, b.value("f"), (rows, b.between(1, 8)))
    shape = b.shape((1, 1, 2))
    kind = b.one_of([torch.int64, torch.int64, torch.int32])
    b.call("F.embedding", b.indices(shape, table.shape[0], kind), table)


OPERATORS = [
    (linear, 6),
    (matmul, 5),
    (matrices, 5),
    (products, 2),
    (attention, 1),
    (convolution, 9),
    (transposed_convolution, 3),
    (pooling, 6),
    (padding, 4),
    (upsample, 2),
    (shuffle, 1),
    (glu, 1),
    (embedding, 2),
]
