"""Steps that read or write parts of tensors, change a layout, or make a tensor."""

from __future__ import annotations

import torch

from ember.sweep.graphs.builder import GraphValue, Reject, Traits
from ember.sweep.graphs.movement import ANY, same
from ember.sweep.graphs.picker import Picker, Shape


def take(b: Picker) -> None:
    """A part of a tensor."""
    x = b.value(ANY, (1, 2, 3, 4))
    dim = b.dim(x)
    size = x.shape[dim]
    pick = b.between(0, 3)
    if pick == 0:
        b.call("torch.select", x, dim, b.between(-size, max(size - 1, 0)))
    elif pick == 1:
        start = b.between(0, max(size - 1, 0))
        b.call("torch.narrow", x, dim, start, b.between(0, size - start))
    else:
        at = dim % x.rank
        part = slice(
            b.between(-size, size), b.between(-size, size + 2), b.between(1, 3)
        )
        item = (*[slice(None)] * at, part)
        b.call("operator.getitem", x, item)


def index(b: Picker) -> None:
    """By tensors of indices."""
    x = b.value(ANY, (1, 2, 3, 4))
    dim = b.dim(x)
    size = x.shape[dim]
    pick = b.between(0, 4)
    if pick <= 1:
        kind = b.one_of([torch.int64, torch.int32])
        chosen = b.indices((b.between(1, 6),), size, kind)
        b.call("torch.index_select", x, dim, chosen)
    elif pick == 2:
        shape = list(x.shape)
        shape[dim] = b.between(1, 6)
        b.call("torch.gather", x, dim, b.indices(tuple(shape), size))
    else:
        at = dim % x.rank
        items: list[slice | GraphValue] = [slice(None)] * at
        items.append(b.indices(b.shape((1, 1, 2)), size))
        if at + 1 < x.rank and b.chance(0.3):
            items.append(b.indices((1,), x.shape[at + 1]))
        b.call("operator.getitem", x, tuple(items))


def write(b: Picker) -> None:
    """Writes a part of a copy of a tensor."""
    x = b.value("fi", (1, 2, 3))
    dim = b.dim(x)
    size = x.shape[dim]
    pick = b.between(0, 4)
    shape = list(x.shape)
    if pick == 0:
        del shape[dim]
        source = same(b, x, tuple(shape))
        b.call("torch.select_scatter", x, source, dim, b.between(0, max(size - 1, 0)))
    elif pick == 1:
        start = b.between(0, max(size - 1, 0))
        shape[dim] = b.between(0, size - start)
        source = same(b, x, tuple(shape))
        ends = (start, start + shape[dim])
        b.call("torch.slice_scatter", x, source, dim, *ends)
    elif pick == 2:
        shape[dim] = b.between(1, 5)
        chosen = b.indices(tuple(shape), size)
        source = same(b, x, tuple(shape))
        b.call("torch.scatter_add", x, dim, chosen, source, traits=Traits(sums=True))
    elif pick == 3:
        chosen = permuted(b, tuple(shape), dim)
        filled = b.between(-3, 3) if b.chance(0.4) else same(b, x, tuple(shape))
        b.call("torch.scatter", x, dim, chosen, filled)
    else:
        count = b.between(1, max(size, 1)) if dim % x.rank == 0 else 0
        if not count:
            raise Reject("dim")
        rows = permuted(b, (size,), 0, count)
        source = same(b, x, (count, *x.shape[1:]))
        b.call("torch.index_put", x, (rows,), source, b.chance(0.3))


def permuted(b: Picker, shape: Shape, dim: int, count: int | None = None) -> GraphValue:
    """Indices of which no two are the same along `dim`."""

    def make(shape: Shape) -> torch.Tensor:
        order = torch.rand(shape, generator=b.random()).argsort(dim)
        return order[:count] if count is not None else order

    if b.graph.batch:
        raise Reject("dynamic")
    return (
        b.add_constant(make(shape))
        if b.chance(0.5)
        else b.add_input([make(shape) for _ in b.sizes])
    )


def triangle(b: Picker) -> None:
    x = b.value("fib", (2, 3))
    b.call(b.one_of(["torch.tril", "torch.triu"]), x, b.between(-3, 3))


def diagonal(b: Picker) -> None:
    b.call("torch.diagonal", b.value("fi", (2, 3)), b.between(-2, 2), 0, 1)


def layout(b: Picker) -> None:
    """channels_last and back."""
    x = b.value("f", (4,))
    form = b.one_of([torch.channels_last, torch.channels_last, torch.contiguous_format])
    b.call("Tensor.contiguous", x, memory_format=form)


def create(b: Picker) -> None:
    """A tensor that depends on nothing."""
    dtype = b.one_of([torch.float32, torch.float32, torch.int64, torch.int32])
    pick = b.between(0, 2)
    if pick == 0:
        b.call("torch.arange", b.between(0, 4), b.between(5, 20), 2, dtype=dtype)
    elif pick == 1:
        b.call("torch.full", b.shape((1, 2)), b.between(-4, 4), dtype=dtype)
    else:
        name = b.one_of(["torch.ones", "torch.zeros"])
        b.call(name, b.shape((1, 2, 3)), dtype=dtype)


OPERATORS = [
    (take, 5),
    (index, 4),
    (write, 4),
    (triangle, 1),
    (diagonal, 1),
    (layout, 2),
    (create, 1),
]
