"""A lowered program becomes a bundled one: with inputs, and the outputs expected."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ember import bundle, program, tensors
from ember.errors import SdkError
from ember.export.flows import Lowered
from ember.export.packages import need
from ember.export.source import Sample
from ember.program.types import Bool, Double, Int


def bundled(lowered: Lowered, samples: Iterable[Sample]) -> bytes:
    """The .bpte whose method forward is tested on each of the samples."""
    cases = []
    declared = program.parse(lowered.content).methods[0].input_values
    for sample in map(lowered.prepare, samples):
        # before the call: it may change its inputs
        inputs = _values(sample, map(_order, declared))
        cases.append(bundle.Case(inputs, _values(_flat(lowered.outputs(sample)))))
    suite = bundle.Suite("forward", tuple(cases))
    return bundle.write(bundle.Bundle(lowered.content, (suite,)))


def distance(lowered: Lowered, model: Any, samples: Sequence[Sample]) -> float:
    """The largest difference of an output from what the model itself computes."""
    torch = need("torch")
    largest = 0.0
    with torch.no_grad():
        for sample in samples:
            exact = _flat(model(*sample))
            found = _flat(lowered.outputs(lowered.prepare(sample)))
            for right, got in zip(exact, found, strict=True):
                if isinstance(right, torch.Tensor) and right.numel():
                    gap = (right.double() - got.double()).abs().max().item()
                    largest = max(largest, gap)
    return largest


def _flat(tree: Any) -> list[Any]:
    leaves, _ = need("torch.utils._pytree").tree_flatten(tree)
    return list(leaves)


def _order(declared: program.Value) -> tuple[int, ...] | None:
    return declared.dim_order if isinstance(declared, program.Tensor) else None


def _values(
    found: Iterable[Any], orders: Iterable[tuple[int, ...] | None] = ()
) -> tuple[bundle.Value, ...]:
    """The dim orders of tensors are contiguous where none are given: those of PyTorch
    depend on strides of dimensions of size 1."""
    leaves = _flat(list(found))
    pairs = itertools.zip_longest(leaves, itertools.islice(orders, len(leaves)))
    return tuple(_value(leaf, order) for leaf, order in pairs)


def _value(found: Any, order: tuple[int, ...] | None) -> bundle.Value:
    if isinstance(found, bool):
        return Bool(found)
    if isinstance(found, int):
        return Int(found)
    if isinstance(found, float):
        return Double(found)
    if not isinstance(found, need("torch").Tensor):
        raise SdkError(f"a bundled program cannot hold a {type(found).__name__}")
    dtype = tensors.DType[str(found.dtype).removeprefix("torch.").upper()]
    return bundle.Tensor.of(_array(found), dtype, order)


def _array(tensor: Any) -> NDArray[Any]:
    torch = need("torch")
    tensor = tensor.detach()
    if tensor.dtype == torch.bfloat16:
        return np.asarray(tensor.contiguous().view(torch.int16).numpy()).view(np.uint16)
    return np.asarray(tensor.numpy())
