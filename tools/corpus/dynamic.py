# SPDX-License-Identifier: Apache-2.0
"""Programs whose shapes or scalars change from run to run, within bounds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.export import Dim

from corpus.case import Case, Exported
from corpus.exporting import exported_module
from corpus.inputs import bools, f32, made, whole
from corpus.modules import Apply
from corpus.networks import Encoder, mlp

BATCH = Dim("batch", min=1, max=8)
STEPS = Dim("steps", min=2, max=12)


def half(x: Tensor) -> Tensor:
    """sym_size feeds the bounds of slices through integer arithmetic."""
    n = x.shape[0] // 2
    return x[:n] - x[n : 2 * n]


def running(x: Tensor) -> Tensor:
    """Shapes made from sizes: arange, full, expand."""
    n = x.shape[1]
    return x * torch.arange(n) + torch.full((n,), 0.5)


def causal(x: Tensor) -> Tensor:
    """A mask of dynamic size in two dimensions."""
    n = x.shape[1]
    mask = torch.ones(n, n).tril()
    scores = (x @ x.transpose(1, 2)).masked_fill(mask == 0, float("-inf"))
    return torch.softmax(scores, -1) @ x


def optional(x: Tensor, y: Tensor | None, z: Tensor | None) -> Tensor:
    """Optional inputs, one of them absent."""
    total = x if y is None else x + y
    return total if z is None else total * z


def first_items(x: Tensor, n: Tensor) -> Tensor:
    """A length read from data."""
    count = n.item()
    torch._check(count >= 1)
    torch._check(count <= 6)
    return x[:count] * 2


def ranked(x: Tensor) -> tuple[Tensor, ...]:
    """Sorting, whose scratch memory depends on the size."""
    values, indices = torch.sort(x, dim=0)
    return values, indices, torch.topk(x, 2, dim=0).values


def chosen(x: Tensor, mask: Tensor) -> tuple[Tensor, ...]:
    """Rows chosen by a mask, and what is computed with them."""
    rows = x[mask]
    return rows, rows * 2, rows.sum(0)


def averaged(x: Tensor, index: Tensor) -> Tensor:
    """Counts in scratch memory, for each element of the input."""
    return torch.zeros_like(x).scatter_reduce(0, index, x, "mean", include_self=False)


def thinned(x: Tensor) -> tuple[Tensor, ...]:
    """Random numbers, as many as the batch asks for."""
    y, mask = torch.ops.aten.native_dropout(x, 0.5, True)
    return mask.shape[0] * 1, (torch.where(mask, y, 0.0) - y).abs().amax() == 0


def changing(
    name: str, factory: Callable[[], nn.Module], dynamic: Any, *samples: tuple[Any, ...]
) -> Case:
    """A case named special_<name>, with one run per sample."""

    def build() -> Exported:
        inputs = [made(sample) for sample in samples]
        return exported_module(factory(), *inputs, dynamic=dynamic)

    return Case(f"special_{name}", build)


def function(name: str, body: Callable[..., Any], dynamic: Any, *samples: Any) -> Case:
    """The same for a function; `dynamic` has one entry per input."""
    shapes = None if dynamic is None else (tuple(dynamic),)
    return changing(name, lambda: Apply(body), shapes, *samples)


def batches(*sizes: int, rest: tuple[int, ...]) -> list[tuple[Any, ...]]:
    """One sample per size of the first dimension."""
    return [(f32(size, *rest),) for size in sizes]


N, LENGTHS = {0: BATCH}, (5, 12, 2)
CASES = [
    changing(
        "dynamic_batch", lambda: mlp(6, 5, 3), (N,), *batches(4, 8, 1, 4, rest=(6,))
    ),
    changing(
        "dynamic_conv",
        lambda: nn.Sequential(nn.Conv2d(2, 3, 3), nn.ReLU(), nn.AvgPool2d(2)),
        (N,),
        *batches(3, 1, 8, rest=(2, 6, 6)),
    ),
    changing(
        "dynamic_steps",
        lambda: Encoder(8, 2),
        ({1: STEPS},),
        *[(f32(1, n, 8),) for n in (5, 12, 2, 5)],
    ),
    function(  # sym_size feeds a view
        "dynamic_reshape",
        lambda x: (
            torch.relu(x.permute(0, 2, 1)).reshape(x.shape[0] * x.shape[2], -1) + 1
        ),
        [N],
        *batches(4, 8, 1, 4, rest=(3, 2)),
    ),
    function(  # a dynamic view that vanishes into et_view
        "dynamic_view",
        lambda x: (x + 1).view(x.shape[0] * 2, 3) * 2,
        [N],
        *batches(4, 8, 1, 4, rest=(6,)),
    ),
    function(
        "dynamic_slice",
        half,
        [{0: 2 * Dim("half", min=1, max=6)}],
        *batches(6, 12, 2, 6, rest=(2,)),
    ),
    function(
        "dynamic_two_sizes",
        lambda x, y: x[: y.shape[0]] + y,  # a slice as long as another tensor
        [{0: Dim("long", min=8, max=16)}, N],
        *[(f32(a, 2), f32(b, 2)) for a, b in ((10, 4), (16, 8), (8, 2), (10, 4))],
    ),
    function("dynamic_arange", running, [{1: STEPS}], *[(f32(2, n),) for n in LENGTHS]),
    function(
        "dynamic_causal", causal, [{1: STEPS}], *[(f32(1, n, 4),) for n in LENGTHS]
    ),
    function(
        "dynamic_sizes_out",
        lambda x: (x * 2, x.shape[0], x.shape[0] * 3),
        [N],
        *batches(4, 8, 1, rest=(3,)),
    ),
    function(
        "item_slice",
        first_items,
        None,
        *[(f32(6, 2), lambda n=n: torch.tensor(n)) for n in (3, 6, 1, 3)],
    ),
    function(
        "nonzero", lambda x: (x > 0).nonzero(), None, *[(f32(3, 4),) for _ in range(3)]
    ),
    function(
        "dynamic_sort",
        ranked,
        [{0: Dim("long", min=2, max=64)}],
        *batches(40, 64, 2, 17, rest=(2,)),
    ),
    function("mask_rows", chosen, None, *[(f32(6, 3), bools(6)) for _ in range(3)]),
    function(
        "dynamic_mean",
        averaged,
        [N, N],
        *[(f32(n, 2), whole(n, 2, low=0, high=n)) for n in (4, 8, 1)],
    ),
    function("dynamic_dropout", thinned, [N], *batches(4, 8, 1, rest=(5,))),
    function(
        "dynamic_volumes",
        lambda x: torch.nn.functional.avg_pool3d(x, 2),
        [N],
        *batches(2, 8, 1, rest=(1, 4, 4, 4)),
    ),
    function(  # the exporter fixes scalars to the example's values
        "scalar_inputs",
        lambda x, n, flag, factor: x * n * factor if flag else x,
        None,
        (f32(3), 3, True, 0.5),
    ),
    function("optional_input", optional, None, (f32(3), None, f32(3))),
    function(
        "mixed_outputs", lambda x: (x + 1, 3, None, 0.5, True), None, (f32(2, 2),)
    ),
]
