"""Steps that move elements: views, joins, parts, indices."""

from __future__ import annotations

import math

from ember.sweep.graphs.builder import GraphValue, Reject
from ember.sweep.graphs.picker import Picker, Shape

ANY = "fffib"


def reshape(b: Picker) -> None:
    x = b.value(ANY)
    lead: list[int] = [-1] if x.batched else []
    rest = math.prod(x.shape[1:] if x.batched else x.shape)
    sizes = factors(b, rest)
    if not lead and sizes and b.chance(0.4):
        sizes[b.between(0, len(sizes) - 1)] = -1
    b.call(b.one_of(["Tensor.view", "Tensor.reshape"]), x, [*lead, *sizes])


def factors(b: Picker, count: int) -> list[int]:
    """Random sizes with this product."""
    sizes: list[int] = []
    while count > 1 and len(sizes) < 4:
        divisors = [n for n in range(1, count + 1) if count % n == 0]
        sizes.append(b.one_of(divisors))
        count //= sizes[-1]
    return [*sizes, count]


def flatten(b: Picker) -> None:
    x = b.value(ANY, (1, 2, 3, 4))
    if b.chance(0.6):
        b.call("torch.flatten", x, b.between(1 if x.batched and x.rank > 1 else 0, 1))
        return
    dim = b.dim(x)
    size = x.shape[dim]
    first = b.one_of([n for n in range(1, size + 1) if size % n == 0] or [1])
    b.call("torch.unflatten", x, dim, (first, size // first if first else 0))


def reorder(b: Picker) -> None:
    x = b.value(ANY, (1, 2, 3, 4, 5))
    order = list(range(x.rank))
    fixed = 1 if x.batched else 0
    tail = order[fixed:]
    b.rng.shuffle(tail)
    order[fixed:] = tail
    pick = b.between(0, 3)
    if pick == 0:
        b.call("torch.transpose", x, b.dim(x), b.dim(x))
    elif pick == 1 and x.rank == 2 and not x.batched:
        b.call("torch.t", x)
    elif pick == 2:
        b.call("torch.movedim", x, b.dim(x), b.dim(x))
    else:
        b.call("torch.permute", x, order)


def squeeze(b: Picker) -> None:
    x = b.value(ANY)
    pick = b.between(0, 3)
    if pick <= 1:
        b.call("torch.unsqueeze", x, b.between(1 if x.batched else 0, x.rank))
    elif pick == 2:
        b.call("torch.squeeze", x)
    else:
        b.call("torch.squeeze", x, b.dim(x))


def enlarge(b: Picker) -> None:
    """expand, repeat, tile and repeat_interleave."""
    x = b.value(ANY)
    if b.chance(0.4):
        sizes = [b.between(2, 4) if n == 1 else -1 for n in x.shape]
        lead = [] if x.batched else [b.between(1, 3)] * b.between(0, 1)
        b.call("Tensor.expand", x, [*lead, *sizes])
    elif b.chance(0.6):
        repeats = [b.between(1, 3) for _ in x.shape]
        if x.batched:
            repeats[0] = 1
        lead = [] if x.batched else [b.between(1, 2)] * b.between(0, 1)
        b.call("Tensor.repeat", x, [*lead, *repeats])
    else:
        b.call("torch.repeat_interleave", x, b.between(1, 3), b.dim(x))


def turn(b: Picker) -> None:
    x = b.value(ANY, (1, 2, 3, 4))
    pick = b.between(0, 3)
    if pick == 0:
        b.call("torch.flip", x, b.dims(x))
    elif pick == 3 and x.rank > 1:
        b.call("torch.rot90", x, b.between(1, 3), b.rng.sample(range(x.rank), 2))
    elif pick == 1:
        b.call("torch.roll", x, b.between(-4, 4), b.dim(x))
    else:
        dims = b.dims(x, 2)
        b.call("torch.roll", x, [b.between(-4, 4) for _ in dims], dims)


def join(b: Picker) -> None:
    x = b.value(ANY, (1, 2, 3, 4))
    dim = b.dim(x)
    if b.chance(0.4):
        others = [same(b, x, x.shape) for _ in range(b.between(1, 2))]
        b.call("torch.stack", [x, *others], b.between(1 if x.batched else 0, x.rank))
        return
    others = []
    for _ in range(b.between(1, 3)):
        sizes = list(x.shape)
        sizes[dim] = b.between(1, 5)
        others.append(same(b, x, tuple(sizes)))
    joined = [x, *others]
    b.rng.shuffle(joined)
    b.call("torch.cat", joined, dim)


def same(b: Picker, like: GraphValue, shape: Shape) -> GraphValue:
    """A value of this shape and of the dtype of `like`."""

    def fits(entry: GraphValue) -> bool:
        return entry.shape == shape and entry.dtype == like.dtype

    fit = [
        entry for entry in b.values if fits(entry) and entry.index not in b.graph.states
    ]
    if fit and b.chance(0.6):
        chosen: GraphValue = b.one_of(fit)
        return chosen
    return b.fresh(like.dtype, shape)


def divide(b: Picker) -> None:
    """Into several results."""
    x = b.value(ANY, (1, 2, 3, 4))
    dim = b.dim(x, inner=True)
    size = x.shape[dim]
    pick = b.between(0, 3)
    if size == 0 or size > 12:
        raise Reject("size")
    if pick == 0:
        b.call("torch.split", x, b.between(1, size), dim)
    elif pick == 1:
        b.call("torch.chunk", x, b.between(1, 4), dim)
    elif pick == 2 and size <= 4:
        b.call("torch.unbind", x, dim)
    else:
        first = b.between(0, size)
        b.call("torch.split", x, [first, size - first], dim)


OPERATORS = [
    (reshape, 5),
    (flatten, 2),
    (reorder, 6),
    (squeeze, 3),
    (enlarge, 4),
    (turn, 2),
    (join, 5),
    (divide, 4),
]
