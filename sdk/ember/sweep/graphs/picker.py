"""Operands for the steps: values that are there already, or new inputs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from ember.sweep.graphs.builder import Builder, GraphValue, Reject

FLOATS = [torch.float32]
WIDER = [torch.float64, torch.float16, torch.bfloat16]
INTEGERS = [torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8]
MOST_INPUTS = 4

Shape = tuple[int, ...]


def words(text: str) -> list[str]:
    """Names of functions."""
    return text.split()


class Picker(Builder):
    """A builder that finds operands by what they have to be."""

    floats: Sequence[torch.dtype] = FLOATS
    channels_last = False  # whether new inputs of rank 4 may be
    preferred = ""  # kinds that are taken where they are allowed

    # ---- small choices

    def one_of(self, items: Sequence[Any]) -> Any:
        if not items:  # the groups of no channels
            raise Reject
        return self.rng.choice(items)

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def between(self, low: int, high: int) -> int:
        """Both ends included."""
        return self.rng.randint(low, high)

    def dim(self, value: GraphValue, *, inner: bool = False) -> int:
        """A dimension of `value`, negative in half of the cases."""
        low = 1 if (inner or value.batched) and value.rank > 1 else 0
        if value.rank <= low:
            raise Reject("rank")
        dim = self.between(low, value.rank - 1)
        return dim - value.rank if self.chance(0.5) else dim

    def dims(self, value: GraphValue, most: int = 3) -> list[int]:
        """Some dimensions, each once."""
        if value.rank == 0:
            raise Reject("rank")
        count = self.between(1, min(most, value.rank))
        matching = self.rng.sample(range(value.rank), count)
        return [dim - value.rank if self.chance(0.3) else dim for dim in matching]

    def shape(self, ranks: Sequence[int] = (0, 1, 1, 2, 2, 2, 3, 3, 4, 4, 5)) -> Shape:
        """A small shape; sometimes one long or one empty dimension."""
        rank = self.one_of(ranks)
        sizes = [self.between(1, 7 if rank < 4 else 5) for _ in range(rank)]
        if rank and self.chance(0.12):
            sizes[self.between(0, rank - 1)] = self.between(8, 40)
        if rank and self.chance(0.015) and not self.graph.batch:
            sizes[self.between(0, rank - 1)] = 0
        while math.prod(sizes) > 1500:
            sizes[sizes.index(max(sizes))] //= 2
        if sizes and self.graph.batch:
            sizes[0] = self.sizes[0]
        return tuple(sizes)

    # ---- operands

    def value(
        self,
        kinds: str = "f",
        ranks: Sequence[int] | None = None,
        where: Callable[[GraphValue], bool] = lambda value: True,
        shape: Callable[[], Shape] | None = None,
        reuse: float = 0.85,
    ) -> GraphValue:
        """A value of one of the kinds (f, i, b), preferably a recent unused one."""
        kinds = "".join(kind for kind in kinds if kind in self.preferred) or kinds
        fit = [
            entry
            for entry in self.values
            if entry.kind in kinds
            and entry.index not in self.graph.states
            and (ranks is None or entry.rank in ranks)
            and where(entry)
        ]
        if fit and self.chance(reuse):
            weights = [
                (8.0 if entry.uses == 0 else 1.0) * (1 + entry.index) for entry in fit
            ]
            return self.rng.choices(fit, weights)[0]
        results = shape() if shape else self.shape(ranks) if ranks else self.shape()
        new = self.fresh(self.dtype(kinds), results)
        if not where(new):
            raise Reject("operand")
        return new

    def dtype(self, kinds: str) -> torch.dtype:
        kind = self.one_of(kinds)
        if kind == "b":
            return torch.bool
        return self.one_of(self.floats if kind == "f" else INTEGERS)

    def fresh(
        self,
        dtype: torch.dtype,
        shape: Shape,
        make: Callable[[Shape], Tensor] | None = None,
        constant: float = 0.3,
    ) -> GraphValue:
        """A new input, or a new constant. With a batch, inputs have it in front."""
        batched = self.graph.batch and bool(shape) and shape[0] == self.sizes[0]
        recipe = make or (lambda shape: self.numbers(dtype, shape))
        full = len(self.graph.inputs) >= MOST_INPUTS
        if not batched and (full or self.chance(constant)):
            return self.add_constant(recipe(shape))
        if full:
            raise Reject("inputs")
        shapes = [(size, *shape[1:]) if batched else shape for size in self.sizes]
        style = self.rng.getrandbits(1)
        samples = [self._laid_out(recipe(entry), style) for entry in shapes]
        return self.add_input(samples, batched)

    def _laid_out(self, tensor: Tensor, style: int) -> Tensor:
        if tensor.dim() == 4 and tensor.numel() and self.channels_last and style:
            return tensor.contiguous(memory_format=torch.channels_last)
        return tensor

    def random(self) -> torch.Generator:
        return torch.Generator().manual_seed(self.rng.getrandbits(60))

    def numbers(self, dtype: torch.dtype, shape: Shape) -> Tensor:
        """Random numbers: floats are normal or multiples of 1/8."""
        source = self.random()
        if dtype == torch.bool:
            return torch.rand(shape, generator=source) > 0.5
        if not dtype.is_floating_point:
            low = 0 if dtype == torch.uint8 else -10
            return torch.randint(low, 11, shape, generator=source).to(dtype)
        if self.chance(0.5):
            grid = torch.randint(-32, 33, shape, generator=source)
            return (grid.double() / 8).to(dtype)
        return torch.randn(shape, generator=source, dtype=torch.float64).to(dtype)

    def indices(
        self, shape: Shape, bound: int, dtype: torch.dtype = torch.int64
    ) -> GraphValue:
        """Integers in [0, bound)."""
        if bound < 1:
            raise Reject("bound")

        def make(shape: Shape) -> Tensor:
            source = self.random()
            return torch.randint(0, bound, shape, generator=source).to(dtype)

        return self.fresh(dtype, shape, make)

    def partner(self, other: GraphValue, kinds: str = "f") -> GraphValue:
        """A value that broadcasts with `other`."""

        def fits(entry: GraphValue) -> bool:
            return broadcasts(entry.shape, other.shape)

        return self.value(
            kinds, None, fits, lambda: self._partner_shape(other.shape), reuse=0.6
        )

    def _partner_shape(self, shape: Shape) -> Shape:
        sizes = [1 if self.chance(0.25) else size for size in shape]
        if self.chance(0.3):
            sizes = sizes[self.between(0, len(sizes)) :]
        return tuple(sizes)

    def scalar(self, kind: str = "f") -> float | int:
        if kind == "f" and self.chance(0.7):
            return self.between(-24, 24) / 8
        return self.between(-4, 4)


def broadcasts(a: Shape, b: Shape) -> bool:
    """Whether two shapes broadcast to something small."""
    try:
        shape = torch.broadcast_shapes(a, b)
        return bool(math.prod(shape) <= 2000)
    except RuntimeError:
        return False
