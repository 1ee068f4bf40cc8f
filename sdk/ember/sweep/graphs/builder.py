"""Values and calls of PyTorch become a graph, which is computed as it grows.

A step is kept only if its result can be compared. Every value is computed as it is and
in noisy twins, in which each rounded result was moved by a few units in its last place,
as another implementation may do. A step whose twins differ by half of the tolerance is
refused, because small differences would grow large behind it. If a result is discrete
(integers, rounding, sorting), float inputs must be exact: the same in float64. So a
mismatch is a fault, never bad luck.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from ember.sweep.graphs.graph import GraphStep, RandomGraph, Ref, Values, dense

# ---- values of a graph ---------------------------------------------------------------


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
        """The kind of its elements: f, i or b."""
        if self.dtype == torch.bool:
            return "b"
        return "f" if self.dtype.is_floating_point else "i"


@dataclass(frozen=True)
class Traits:
    """What is known about a step's operator."""

    rough: bool = False  # never exact, whatever the numbers
    discrete: bool = False  # jumps: needs exact floats
    sums: bool = False  # its error grows with what goes in, not with what comes out
    stateful: bool = False


def attempted(step: GraphStep, values: Values) -> Any:
    """The result of a step. Raises Reject if PyTorch refuses it."""
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
    """The largest magnitude of all float inputs."""
    floats = [
        entry.tensor for entry in operands if entry.kind == "f" and entry.tensor.numel()
    ]
    finite = [torch.nan_to_num(entry.double(), 0.0, 0.0, 0.0) for entry in floats]
    return max((float(entry.abs().max()) for entry in finite), default=0.0)


# ---- the graph -----------------------------------------------------------------------


TWINS = 3  # the first is without noise
MOST_ELEMENTS = 3000
LARGEST = 1e4
HALF = {torch.float16: 4e-3, torch.bfloat16: 3.2e-2}  # tolerance: 4 units


class Builder:
    """The graph so far."""

    def __init__(self, rng: random.Random, sizes: Sequence[int], special: bool) -> None:
        self.rng = rng
        self.noise = torch.Generator().manual_seed(rng.getrandbits(60))
        self.graph = RandomGraph(batch=len(set(sizes)) > 1)
        self.sizes = sizes  # of the batch, in each sample
        self.special = special  # NaN and infinities may appear
        self.values: list[GraphValue] = []

    # ---- values that come from outside

    def add_input(self, samples: list[Tensor], batched: bool = False) -> GraphValue:
        value = self._outside(samples, batched)
        self.graph.inputs.append(value.index)
        self.graph.samples = self.graph.samples or [[] for _ in self.sizes]
        for all_inputs, entry in zip(self.graph.samples, samples, strict=True):
            all_inputs.append(dense(entry))
        if batched:
            self.graph.batched.add(value.index)
        return value

    def add_constant(self, tensor: Tensor) -> GraphValue:
        value = self._outside([tensor] * len(self.sizes))
        self.graph.constants[value.index] = tensor
        return value

    def add_state(self, tensor: Tensor) -> GraphValue:
        """Adds a mutable buffer: one in each twin, passed from sample to sample."""
        twins = [tensor.clone() for _ in range(TWINS)]
        value = GraphValue(len(self.values), [twins for _ in self.sizes], exact=False)
        self.values.append(value)
        self.graph.states[value.index] = tensor
        value.uses = 1000  # for its own step only
        return value

    def _outside(self, samples: list[Tensor], batched: bool = False) -> GraphValue:
        lanes = [[entry] * TWINS for entry in samples]
        value = GraphValue(len(self.values), lanes, exact=True, batched=batched)
        self.values.append(value)
        self._widen(value.dtype)
        return value

    def _widen(self, dtype: torch.dtype) -> None:
        """Half precision rounds in the last place where float32 differs in its own."""
        wide = HALF.get(dtype, 0.0)
        self.graph.rtol = max(self.graph.rtol, wide)
        self.graph.atol = max(self.graph.atol, wide)

    # ---- steps

    def call(
        self, target: str, *args: Any, traits: Traits | None = None, **options: Any
    ) -> Any:
        """Adds a step; its result, or a tuple of results. Raises Reject if it is not
        fit."""
        traits = traits or Traits()
        operands = [self.values[i] for i in references(args, options)]
        plain = (as_text(args), {key: as_text(entry) for key, entry in options.items()})
        lanes, unpacked = self._lanes(target, plain, operands)
        clean = [sample[0] for sample in lanes]
        exact = self._exact(target, plain, operands, clean, traits)
        scale = largest(operands) if traits.sums else 0.0
        produced = []
        for position in range(len(clean[0])):
            part = [[twin[position] for twin in sample] for sample in lanes]
            produced.append(
                self._checked(part, exact[position], operands, traits, scale)
            )
        for offset, value in enumerate(produced):
            value.index = len(self.values) + offset
        self.values += produced
        for value in produced:
            self._widen(value.dtype)
        for entry in operands:
            entry.uses += 1
        indices = tuple(value.index for value in produced)
        self.graph.steps.append(
            GraphStep(target, plain[0], plain[1], indices, unpacked)
        )
        return tuple(produced) if unpacked else produced[0]

    def _lanes(self, target: str, plain: Any, operands: list[GraphValue]) -> Any:
        """[sample][twin] -> tuple of results, and whether the result is a tuple."""
        step = GraphStep(target, plain[0], plain[1], (), unpacked=False)
        lanes = []
        unpacked = False
        for sample in range(len(self.sizes)):
            twins = []
            for twin in range(TWINS):
                values = {entry.index: entry.lanes[sample][twin] for entry in operands}
                result = attempted(step, values)
                unpacked = isinstance(result, list | tuple)
                twins.append(tuple(result) if unpacked else (result,))
            lanes.append(twins)
        if len({len(results) for twins in lanes for results in twins}) > 1:
            raise Reject("dynamic")
        return lanes, unpacked

    def _exact(
        self,
        target: str,
        plain: Any,
        operands: list[GraphValue],
        clean: Any,
        traits: Traits,
    ) -> list[bool]:
        """For each result, whether it is free of rounding: the same in float64."""
        count = len(clean[0])
        if all(not entry.dtype.is_floating_point for entry in clean[0]):
            return [True] * count
        inputs = [entry for entry in operands if entry.kind == "f"]
        if traits.stateful or traits.rough or not all(entry.exact for entry in inputs):
            return [False] * count
        if not inputs:  # from integers; only these are known not to round
            return [target in ("Tensor.to", "torch.where", "torch.full_like")] * count
        answers = [True] * len(clean[0])
        for sample, results in enumerate(clean):
            values = {
                entry.index: doubled(entry.lanes[sample][0]) for entry in operands
            }
            try:
                wide = attempted(
                    GraphStep(target, plain[0], plain[1], (), unpacked=False), values
                )
            except Reject:
                return [False] * len(answers)
            wide = wide if isinstance(wide, list | tuple) else [wide]
            same = [same_numbers(a, b) for a, b in zip(results, wide, strict=True)]
            answers = [a and b for a, b in zip(answers, same, strict=True)]
        return answers

    def _checked(
        self,
        lanes: list[list[Tensor]],
        exact: bool,
        operands: list[GraphValue],
        traits: Traits,
        scale: float,
    ) -> GraphValue:
        """A value of these lanes with noise added, if it is fit."""
        first = lanes[0][0]
        if first.numel() > MOST_ELEMENTS or first.dim() > 7 or first.is_complex():
            raise Reject("size")
        jumps = traits.discrete or not first.dtype.is_floating_point
        if jumps and any(entry.kind == "f" and not entry.exact for entry in operands):
            raise Reject("discrete")
        if first.dtype.is_floating_point and not exact:
            lanes = [
                [sample[0], *(self._noisy(entry, scale) for entry in sample[1:])]
                for sample in lanes
            ]
        for sample in lanes:
            self._check_numbers(sample)
        return GraphValue(-1, lanes, exact, batched=self._batched(lanes))

    def _noisy(self, tensor: Tensor, scale: float) -> Tensor:
        units = 1 if tensor.dtype in HALF else 4
        unit = units * torch.finfo(tensor.dtype).eps
        wide = tensor.double()
        move = torch.rand(wide.shape, generator=self.noise, dtype=torch.float64) * 2 - 1
        return (wide + move * unit * (wide.abs() + scale)).to(tensor.dtype)

    def _check_numbers(self, twins: list[Tensor]) -> None:
        clean = twins[0]
        if clean.numel() == 0:
            return
        if not clean.dtype.is_floating_point:
            if not all(torch.equal(clean, entry) for entry in twins[1:]):
                raise Reject("chaos")
            return
        finite = clean[torch.isfinite(clean)]
        if finite.numel() < clean.numel() and not self.special:
            raise Reject("not finite")
        if finite.numel() and float(finite.abs().max()) > LARGEST:
            raise Reject("large")
        rtol = max(1e-4, HALF.get(clean.dtype, 0.0), self.graph.rtol) / 2
        atol = max(1e-5, HALF.get(clean.dtype, 0.0), self.graph.atol) / 2
        for entry in twins[1:]:
            if not torch.allclose(entry, clean, rtol, atol, equal_nan=True):
                raise Reject("chaos")

    def _batched(self, lanes: list[list[Tensor]]) -> bool:
        """Whether dimension 0 is the batch. Raises Reject if another one varies."""
        shapes = [tuple(sample[0].shape) for sample in lanes]
        if len(set(shapes)) == 1:
            return False
        for shape, size in zip(shapes, self.sizes, strict=True):
            if shape != (size, *shapes[0][1:]):
                raise Reject("dynamic")
        return True

    def known(self) -> list[Values]:
        """The values of each sample, without noise."""
        return [
            {entry.index: entry.lanes[sample][0] for entry in self.values}
            for sample in range(len(self.sizes))
        ]
