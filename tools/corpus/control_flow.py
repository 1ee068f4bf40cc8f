# SPDX-License-Identifier: Apache-2.0
"""Programs with branches and loops: cond, map and scan as the exporter lowers them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from functorch.experimental.control_flow import map as torch_map
from torch import Tensor, nn
from torch._higher_order_ops.scan import scan

from corpus.case import Case, Exported
from corpus.exporting import exported_module
from corpus.inputs import f32, made, values
from corpus.modules import Apply, Net

POSITIVE = values(1.0, 2.0, 3.0)
NEGATIVE = values(-1.0, -2.0, -3.0)
LARGE = values(10.0, 20.0, 30.0)


def cond(x: Tensor) -> Tensor:
    return torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: x * 2, (x,))


def cond_nested(x: Tensor) -> Tensor:
    def positive(x: Tensor) -> Tensor:
        return torch.cond(x.sum() > 10, lambda x: x - 5, lambda x: x + 1, (x,))

    return torch.cond(x.sum() > 0, positive, lambda x: x * 2, (x,))


def cond_consumed(x: Tensor) -> Tensor:
    y = torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: x * 2, (x,))
    return torch.tanh(y) * y + x


def cond_two(x: Tensor) -> Tensor:
    y = torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: x * 2, (x,))
    z = torch.cond(y.sum() > 10, lambda a, b: a - b, lambda a, b: a + b, (x, y))
    return y * z


def cond_two_outputs(x: Tensor) -> tuple[Tensor, Tensor]:
    y, z = torch.cond(
        x.sum() > 0, lambda x: (x + 1, x.sum()), lambda x: (x * 2, x.amax()), (x,)
    )
    return y * 2, z


def cond_flag(flag: Tensor, x: Tensor) -> Tensor:
    return torch.cond(flag, torch.sin, torch.cos, (x,))


def cond_pass_through(x: Tensor) -> Tensor:
    return torch.cond(x.sum() > 0, lambda x: x.clone(), lambda x: -x, (x,)) + x


def cond_closed(m: Any, x: Tensor) -> Tensor:
    """The branches close over a parameter and over a value computed before."""
    y = x * 0.5
    return torch.cond(x.sum() > 0, lambda x: m.layer(x) + y, lambda x: x - y, (x,))


def map_rows(xs: Tensor, y: Tensor) -> Tensor:
    return torch_map(lambda x, y: torch.sin(x) + y, xs, y)


def map_consumed(xs: Tensor, y: Tensor) -> Tensor:
    return torch_map(lambda x, y: x @ y, xs, y).sum(0)


def map_cond(xs: Tensor) -> Tensor:
    return torch_map(cond, xs)


def scan_sum(xs: Tensor) -> tuple[Tensor, Tensor]:
    def step(total: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
        total = total + x
        return total, total * 2

    return scan(step, torch.zeros(3), xs)


def scan_pair(xs: Tensor, start: Tensor) -> tuple[Tensor, Tensor]:
    def step(state: Any, x: Tensor) -> Any:
        level, trend = state
        new = 0.5 * x + 0.5 * (level + trend)
        return [new, 0.1 * (new - level) + 0.9 * trend], new.clone()

    (level, trend), ys = scan(step, [start, start * 0.0], xs)
    return level + trend, ys


def scan_cell(m: Any, xs: Tensor) -> Tensor:
    """A recurrent cell with weights, scanned over time."""

    def step(h: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
        h = torch.tanh(m.outer(x) + m.inner(h))
        return h, h.clone()

    return scan(step, torch.zeros(1, 4), xs)[1]


def flow(
    name: str,
    function: Callable[..., Any],
    *samples: Any,
    **layers: Callable[[], nn.Module],
) -> Case:
    """A case named special_<name>, with one run per sample."""

    def build() -> Exported:
        parts = {part: make() for part, make in layers.items()}
        module = Net(function, **parts) if parts else Apply(function)
        return exported_module(module, *(made(sample) for sample in samples))

    return Case(f"special_{name}", build)


SIGNS = ((POSITIVE,), (NEGATIVE,), (LARGE,), (POSITIVE,))
CASES = [
    flow("cond", cond, *SIGNS),
    flow("cond_nested", cond_nested, *SIGNS),
    flow("cond_consumed", cond_consumed, *SIGNS),
    flow("cond_two", cond_two, *SIGNS),
    flow("cond_two_outputs", cond_two_outputs, *SIGNS),
    flow("cond_pass_through", cond_pass_through, *SIGNS),
    flow("cond_closed", cond_closed, *SIGNS, layer=partial(nn.Linear, 3, 3)),
    flow(
        "cond_flag",
        cond_flag,
        (lambda: torch.tensor(True), POSITIVE),
        (lambda: torch.tensor(False), POSITIVE),
    ),
    flow("map", map_rows, (f32(4, 3), f32(3)), (f32(4, 3), f32(3))),
    flow("map_consumed", map_consumed, (f32(3, 2, 4), f32(4, 2))),
    flow("map_cond", map_cond, (f32(5, 3),), (f32(5, 3),)),
    flow("scan", scan_sum, (f32(5, 3),), (f32(5, 3),)),
    flow("scan_pair", scan_pair, (f32(6, 2), f32(2))),
    flow(
        "scan_cell",
        scan_cell,
        (f32(5, 1, 3),),
        inner=partial(nn.Linear, 4, 4),
        outer=partial(nn.Linear, 3, 4),
    ),
]
