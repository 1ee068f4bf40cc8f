"""A lowered program becomes a bundled one: with inputs, and the outputs expected."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ember import program
from ember.errors import SdkError
from ember.export.flows import Lowered
from ember.export.packages import need
from ember.export.source import Sample
from ember.files import tensors
from ember.program import bundle
from ember.program.types import Bool, Double, Int


def bundled(lowered: Lowered, samples: Sequence[Sample], outputs: list[Any]) -> bytes:
    """The .bpte whose method forward is called with each of the samples in order."""
    method = program.parse(lowered.content).methods[0]
    cases = [
        bundle.BundledCase(
            _values("input", sample, method.input_values),
            _values("output", given, method.output_values),
        )
        for sample, given in zip(map(lowered.taken, samples), outputs, strict=True)
    ]
    suite = bundle.Suite("forward", tuple(cases))
    return bundle.write(bundle.Bundle(lowered.content, (suite,)))


def distance(exact: list[Any], outputs: list[Any]) -> float:
    """The largest difference of an output from what the model itself computes."""
    torch = need("torch")
    largest = 0.0
    for right, got in zip(_flat(exact), _flat(outputs), strict=True):
        if isinstance(right, torch.Tensor) and right.numel():
            gap = (right.double() - got.double()).abs().max().item()
            largest = max(largest, gap)
    return largest


def _flat(tree: Any) -> list[Any]:
    leaves, _ = need("torch.utils._pytree").tree_flatten(tree)
    return list(leaves)


def _values(
    what: str, tree: Any, declared: Sequence[program.Value]
) -> tuple[bundle.Value, ...]:
    return tuple(
        _value(f"{what} {number}", leaf, value)
        for number, (leaf, value) in enumerate(zip(_flat(tree), declared, strict=True))
    )


def _value(name: str, value: Any, declared: program.Value) -> bundle.Value:
    if isinstance(value, bool):
        return Bool(value)
    if isinstance(value, int):
        return Int(value)
    if isinstance(value, float):
        return Double(value)
    if not isinstance(value, need("torch").Tensor):
        kind = "None" if value is None else f"a {type(value).__name__}"
        raise SdkError(
            f"a bundled program cannot hold {name}: it is {kind}",
            hint="-o FILE.pte writes the program without tests",
        )
    dtype = tensors.DType[str(value.dtype).removeprefix("torch.").upper()]
    # PyTorch's own dim order depends on the strides of dimensions of size 1.
    order = declared.dim_order if isinstance(declared, program.Tensor) else None
    return bundle.BundledTensor.of(_array(value), dtype, order)


def _array(tensor: Any) -> NDArray[Any]:
    torch = need("torch")
    tensor = tensor.detach()
    if tensor.dtype == torch.bfloat16:
        return np.asarray(tensor.contiguous().view(torch.int16).numpy()).view(np.uint16)
    return np.asarray(tensor.numpy())
