"""Steps that reduce, scan, normalise or sort."""

from __future__ import annotations

import torch

from ember.sweep.graphs.builder import GraphValue, Reject, Traits
from ember.sweep.graphs.picker import Picker

SUMS = Traits(sums=True)
ROUGH = Traits(rough=True, sums=True)


def reduce_dims(b: Picker) -> None:
    """Sums and extremes over some dimensions, or all of them."""
    name = b.one_of(["torch.sum", "torch.mean", "torch.amax", "torch.amin"])
    x = b.value("f" if name == "torch.mean" else b.one_of(["f", "fi"]))
    if b.chance(0.15) and name != "torch.mean":
        b.call(name, x, traits=SUMS)
        return
    b.call(name, x, b.dims(x), keepdim=b.chance(0.5), traits=SUMS)


def reduce_one(b: Picker) -> None:
    """Products, and tests of truth, over one dimension or all."""
    name = b.one_of(["torch.prod", "torch.any", "torch.all"])
    x = b.value("fib")
    if b.chance(0.3):
        b.call(name, x, traits=ROUGH)
    else:
        b.call(name, x, b.dim(x), keepdim=b.chance(0.5), traits=ROUGH)


def find_extreme(b: Picker) -> None:
    x = b.value(b.one_of(["f", "i"]))
    if b.chance(0.5):
        name = b.one_of(["torch.argmax", "torch.argmin"])
        if b.chance(0.2):
            b.call(name, x)
        else:
            b.call(name, x, b.dim(x), keepdim=b.chance(0.5))
    elif b.chance(0.2):
        b.call(b.one_of(["torch.max", "torch.min"]), x)
    else:
        name = b.one_of(["torch.max", "torch.min"])
        b.call(name, x, b.dim(x), keepdim=b.chance(0.5))


def spread(b: Picker) -> None:
    """Variance and its like."""
    x = b.value("f")
    name = b.one_of(["torch.var", "torch.std", "torch.logsumexp"])
    if name == "torch.logsumexp":
        b.call(name, x, b.dims(x), keepdim=b.chance(0.5), traits=ROUGH)
    else:
        options = {"correction": b.one_of([0, 1]), "keepdim": b.chance(0.5)}
        b.call(name, x, b.dims(x), traits=ROUGH, **options)


def norm(b: Picker) -> None:
    x = b.value("f")
    order = b.one_of([1, 2, 2.0, 3])
    b.call("torch.linalg.vector_norm", x, order, b.dims(x), b.chance(0.5), traits=ROUGH)


def scan(b: Picker) -> None:
    x = b.value("fi")
    b.call("torch.cumsum", x, b.dim(x), traits=SUMS)


def softmax(b: Picker) -> None:
    x = b.value("f")
    b.call(b.one_of(["F.softmax", "F.log_softmax"]), x, b.dim(x), traits=ROUGH)


def layer_norm(b: Picker) -> None:
    x = b.value("f", (2, 3, 4))
    shape = x.shape[-b.between(1, x.rank - 1) :]
    if b.chance(0.25):
        weight = _weight(b, shape, x.dtype)
        b.call("F.rms_norm", x, shape, weight, 1e-3, traits=ROUGH)
    elif b.chance(0.3):
        b.call("F.layer_norm", x, shape, traits=ROUGH, eps=1e-3)
    else:
        pair = _weight(b, shape, x.dtype), _weight(b, shape, x.dtype)
        b.call("F.layer_norm", x, shape, *pair, traits=ROUGH, eps=1e-3)


def channel_norm(b: Picker) -> None:
    """Normalisations of images: by group, by instance, by learned statistics."""
    x = b.value("f", (3, 4))
    channels = (x.shape[1],)
    weight, bias = (_weight(b, channels, x.dtype) for _ in range(2))
    pick = b.between(0, 2)
    if pick == 0:
        groups = b.one_of([n for n in range(1, x.shape[1] + 1) if x.shape[1] % n == 0])
        b.call("F.group_norm", x, groups, weight, bias, 1e-3, traits=ROUGH)
    elif pick == 1:
        b.call("F.instance_norm", x, eps=1e-3, traits=ROUGH)
    else:
        mean = _weight(b, channels, x.dtype)
        var = b.fresh(x.dtype, channels, lambda s: _positive(b, s, x.dtype), 1.0)
        b.call("F.batch_norm", x, mean, var, weight, bias, eps=1e-3, traits=ROUGH)


def _weight(b: Picker, shape: tuple[int, ...], dtype: torch.dtype) -> GraphValue:
    return b.add_constant(b.numbers(dtype, shape))


def _positive(b: Picker, shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    return (torch.rand(shape, generator=b.random()) + 0.5).to(dtype)


def _no_ties(x: GraphValue, dim: int) -> bool:
    """Whether the order along `dim` is unambiguous, in all samples."""
    for sample in x.lanes:
        ordered = sample[0].double().sort(dim)[0]
        if bool((ordered.diff(dim=dim) == 0).any()):
            return False
    return True


def order(b: Picker) -> None:
    x = b.value("fi", (1, 2, 3))
    dim = b.dim(x)
    if not _no_ties(x, dim):
        raise Reject("ties")
    if b.chance(0.5):
        b.call("torch.sort", x, dim, b.chance(0.5))
    else:
        count = b.between(1, max(1, x.shape[dim]))
        b.call("torch.topk", x, count, dim, b.chance(0.5))


def count(b: Picker) -> None:
    x = b.value("fib")
    b.call("torch.count_nonzero", x, b.dim(x))


OPERATORS = [
    (reduce_dims, 7),
    (reduce_one, 3),
    (find_extreme, 4),
    (spread, 3),
    (norm, 1),
    (scan, 3),
    (softmax, 4),
    (layer_norm, 3),
    (channel_norm, 3),
    (order, 3),
    (count, 1),
]
