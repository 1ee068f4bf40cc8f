"""Steps of control flow: branches and loops that the exporter keeps as such."""

from __future__ import annotations

from typing import Any

from ember.export.packages import need
from ember.sweep.graphs.builder import GraphValue, Reject, Traits
from ember.sweep.graphs.picker import Picker

torch = need("torch")
ROUGH = Traits(rough=True, sums=True)
UNARY = [
    "torch.sin",
    "torch.cos",
    "torch.tanh",
    "torch.abs",
    "torch.neg",
    "torch.relu",
    "F.silu",
]
PAIRS = ["torch.add", "torch.sub", "torch.mul", "torch.maximum", "torch.minimum"]


def _rows(b: Picker) -> GraphValue:
    return b.value(
        "f",
        (2, 3),
        lambda entry: (
            entry.dtype == torch.float32
            and entry.shape[0] > 1
            and entry.tensor.numel() > 0
        ),
    )


def _flag(b: Picker) -> Any:
    """A bool that was computed, or an input."""
    results = [entry for entry in b.values if entry.kind == "b" and entry.rank == 0]
    if results and b.chance(0.5):
        return b.one_of(results)
    if b.chance(0.5):
        x = b.value("i", (1, 2))
        return b.call("torch.gt", b.call("torch.amax", x), b.between(-5, 5))
    return b.fresh(torch.bool, (), constant=0.0)


def branch(b: Picker) -> None:
    x = b.value("f", None, lambda entry: entry.dtype == torch.float32)
    if b.chance(0.4):
        y = b.fresh(x.dtype, x.shape)
        b.call("flow.branch", _flag(b), *b.rng.sample(PAIRS, 2), x, y, traits=ROUGH)
    else:
        b.call("flow.branch", _flag(b), *b.rng.sample(UNARY, 2), x, traits=ROUGH)


def nested(b: Picker) -> None:
    x = b.value("f", None, lambda entry: entry.dtype == torch.float32)
    names = b.rng.sample(UNARY, 3)
    b.call("flow.nested", _flag(b), _flag(b), names, x, traits=ROUGH)


def mapped(b: Picker) -> None:
    rows = _rows(b)
    if b.chance(0.5):
        b.call("flow.mapped", b.one_of(UNARY), rows, traits=ROUGH)
    else:
        other = b.fresh(rows.dtype, rows.shape[1:])
        b.call("flow.mapped", b.one_of(PAIRS), rows, other, traits=ROUGH)


def scanned(b: Picker) -> None:
    rows = _rows(b)
    if b.graph.batch:
        raise Reject("dynamic")
    start = b.fresh(rows.dtype, rows.shape[1:])
    b.call("flow.scanned", b.one_of(PAIRS), start, rows, traits=ROUGH)


OPERATORS = [(branch, 6), (nested, 3), (mapped, 5), (scanned, 4)]
