"""Values of a graph that is being built, and what is known about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from ember.sweep.graphs.graph import GraphStep, Ref, Values


class Reject(Exception):  # noqa: N818 - no error: the step is dropped
    """This step cannot be part of the graph."""


@dataclass
class GraphValue:
    """A tensor of the graph, in all samples and twins."""

    index: int
    lanes: list[list[Tensor]]  # [sample][twin]
    exact: bool
    batched: bool = False
    uses: int = 0

    @property
    def tensor(self) -> Tensor:
        return self.lanes[0][0]

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.tensor.shape)

    @property
    def rank(self) -> int:
        return int(self.tensor.dim())

    @property
    def dtype(self) -> torch.dtype:
        return self.tensor.dtype

    @property
    def kind(self) -> str:
        """f, i or b."""
        if self.dtype == torch.bool:
            return "b"
        return "f" if self.dtype.is_floating_point else "i"


@dataclass(frozen=True)
class Traits:
    """What is known about the operator of a step."""

    rough: bool = False  # never exact, whatever the numbers
    discrete: bool = False  # jumps: needs exact floats
    sums: bool = False  # its error grows with what goes in, not with what comes out
    stateful: bool = False


def attempted(step: GraphStep, values: Values) -> Any:
    """The result of a step, or Reject when PyTorch refuses it."""
    try:
        result = step.call(values)[0]
    except (
        RuntimeError,
        IndexError,
        ValueError,
        TypeError,
        NotImplementedError,
    ) as bad:
        raise Reject(str(bad)) from bad
    for entry in result if isinstance(result, list | tuple) else [result]:
        if not isinstance(entry, Tensor):
            raise Reject("not a tensor")
    return result


def as_text(item: Any) -> Any:
    if isinstance(item, GraphValue):
        return Ref(item.index)
    if isinstance(item, list | tuple):
        return type(item)(as_text(entry) for entry in item)
    return item


def references(*items: Any) -> list[int]:
    matching: dict[int, None] = {}

    def visit(item: Any) -> None:
        if isinstance(item, GraphValue):
            matching[item.index] = None
        elif isinstance(item, dict):
            visit(list(item.values()))
        elif isinstance(item, list | tuple):
            for entry in item:
                visit(entry)

    visit(items)
    return list(matching)


def doubled(tensor: Tensor) -> Tensor:
    return tensor.double() if tensor.dtype.is_floating_point else tensor


def same_numbers(narrow: Tensor, wide: Tensor) -> bool:
    same = narrow.shape == wide.shape
    return same and bool(
        torch.equal(torch.nan_to_num(narrow.double()), torch.nan_to_num(wide.double()))
    )


def largest(operands: Sequence[GraphValue]) -> float:
    """The largest magnitude of all floats that go in."""
    floats = [
        entry.tensor for entry in operands if entry.kind == "f" and entry.tensor.numel()
    ]
    finite = [torch.nan_to_num(entry.double(), 0.0, 0.0, 0.0) for entry in floats]
    return max((float(entry.abs().max()) for entry in finite), default=0.0)
