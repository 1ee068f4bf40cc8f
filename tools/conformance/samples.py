# SPDX-License-Identifier: Apache-2.0
"""An OpInfo of PyTorch's test suite -> a few samples of every dtype, as cases."""

from __future__ import annotations

import random
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import torch
from corpus.case import Case
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.opinfo.core import (
    BinaryUfuncInfo,
    OpInfo,
    ReductionOpInfo,
    UnaryUfuncInfo,
)
from torch.utils import _pytree as pytree

from conformance.tolerance import tag

# dtype -> how many of PyTorch's samples are taken.
QUOTA = {
    torch.float32: 4,
    torch.float16: 1,
    torch.bfloat16: 1,
    torch.float64: 1,
    torch.int64: 2,
    torch.int32: 1,
    torch.int16: 1,
    torch.int8: 1,
    torch.uint8: 1,
    torch.bool: 1,
}
MOST_BYTES = 4096  # of all inputs of a sample
MOST_SAMPLES = 300  # of one dtype that are looked at
# Eager PyTorch gives other numbers each time, or whatever was in memory.
UNPREDICTABLE = frozenset(
    [
        "bernoulli",
        "cauchy",
        "empty",
        "empty_like",
        "empty_permuted",
        "empty_strided",
        "exponential",
        "geometric",
        "log_normal",
        "multinomial",
        "new_empty",
        "new_empty_strided",
        "normal",
        "normal_number_mean",
        "rand_like",
        "randint",
        "randint_like",
        "randn",
        "randn_like",
        "uniform",
        "nn_functional_dropout",
        "nn_functional_dropout2d",
        "nn_functional_dropout3d",
        "nn_functional_alpha_dropout",
        "nn_functional_feature_alpha_dropout_with_train",
        "nn_functional_feature_alpha_dropout_without_train",
        "nn_functional_rrelu",
        "nn_functional_fractional_max_pool2d",
        "nn_functional_fractional_max_pool3d",
        "nn_functional_multi_head_attention_forward",
        "svd_lowrank",
        "pca_lowrank",
        "nn_functional_scaled_dot_product_attention",
    ]
)
# Nothing of these gets through the exporter, or not without complex numbers.
HOPELESS = ("fft_", "linalg_", "masked_", "jiterator_", "torch__", "ops_", "special_")
FLOATS = (0.0, -0.0, 1.0, -1.5, float("nan"), float("inf"), float("-inf"), 7.25)
TIES = ("topk",)  # which index stands for equal integers is not said
ELEMENTWISE = (UnaryUfuncInfo, BinaryUfuncInfo, ReductionOpInfo)


@dataclass(frozen=True)
class Call:
    """A function of tensors; every other argument is a constant of it."""

    function: Any
    leaves: tuple[Any, ...]
    shape: pytree.TreeSpec

    @property
    def tensors(self) -> tuple[torch.Tensor, ...]:
        return tuple(x for x in self.leaves if isinstance(x, torch.Tensor))

    def __call__(self, *tensors: torch.Tensor) -> Any:
        given = iter(tensors)
        leaves = [
            next(given) if isinstance(x, torch.Tensor) else x for x in self.leaves
        ]
        args, kwargs = pytree.tree_unflatten(leaves, self.shape)
        results = pytree.tree_flatten(self.function(*args, **kwargs))[0]
        return results[0] if len(results) == 1 else tuple(results)

    def with_tensors(self, change: Any) -> Call:
        """The same call of other tensors."""
        leaves = (change(x) if isinstance(x, torch.Tensor) else x for x in self.leaves)
        return Call(self.function, tuple(leaves), self.shape)


def unit_name(info: OpInfo) -> str:
    """Return the folder's name of an OpInfo."""
    words = "".join(c if c.isalnum() else "_" for c in info.full_name)
    return words.strip("_")


def infos() -> dict[str, OpInfo]:
    """Return what can be sampled, by folder."""
    named = {unit_name(info): info for info in op_db}
    return {
        name: one
        for name, one in named.items()
        if name not in UNPREDICTABLE and not name.startswith(HOPELESS)
    }


def calls(info: OpInfo, dtype: torch.dtype) -> list[Call]:
    """Return the samples of one dtype that are small enough."""
    seed = zlib.crc32(f"{info.full_name} {dtype}".encode())
    torch.manual_seed(seed)
    random.seed(seed)
    np.random.seed(seed)
    source = info.reference_inputs if dtype == torch.float32 else info.sample_inputs
    found = []
    for sample in islice(source("cpu", dtype, requires_grad=False), MOST_SAMPLES):
        arguments = ((sample.input, *sample.args), sample.kwargs)
        leaves, shape = pytree.tree_flatten(arguments)
        found.append(Call(info.op, tuple(leaves), shape).with_tensors(plain))
    return [one for one in found if is_small(one)]


def plain(tensor: torch.Tensor) -> torch.Tensor:
    """The same numbers in a memory of their own, without gaps."""
    return tensor.detach().clone().contiguous()


def is_small(call: Call) -> bool:
    tensors = call.tensors
    size = sum(x.numel() * x.element_size() for x in tensors)
    return size <= MOST_BYTES and not any(x.is_complex() for x in tensors)


def spread(found: Sequence[Any], count: int) -> list[Any]:
    """Return `count` of a list, evenly spaced, the first among them."""
    count = min(count, len(found))
    return [found[i * len(found) // count] for i in range(count)]


def info_cases(info: OpInfo, portion: float = 1.0) -> Iterator[tuple[str, Call]]:
    """Yield names and calls, every dtype's in turn."""
    for dtype, quota in QUOTA.items():
        if dtype not in info.dtypes or (
            info.name in TIES and not dtype.is_floating_point
        ):
            continue
        found = calls(info, dtype)
        wanted = max(1, round(quota * portion))
        for number, call in enumerate(spread(found, wanted)):
            yield f"{tag(dtype)}_{number}", call
        if portion == 1.0:
            yield from variants(info, dtype, found)


def variants(
    info: OpInfo, dtype: torch.dtype, found: Sequence[Call]
) -> Iterator[tuple[str, Call]]:
    """Yield what the samples seldom have: layouts, and the rims of a dtype."""
    if isinstance(info, ELEMENTWISE) and dtype not in (torch.bool, torch.bfloat16):
        long = (one for one in found if any(x.numel() >= 8 for x in one.tensors))
        call = next(long, None)
        if call:
            yield f"{tag(dtype)}_rims", call.with_tensors(with_rims)
    if dtype != torch.float32:
        return
    whole = [one for one in found if all(x.numel() for x in one.tensors)]
    for name, dims, change in LAYOUTS:
        call = next((one for one in whole if most_dims(one) in dims), None)
        if call:
            yield f"f32_{name}", call.with_tensors(change)


def most_dims(call: Call) -> int:
    return max((x.dim() for x in call.tensors), default=0)


def with_rims(tensor: torch.Tensor) -> torch.Tensor:
    """Put NaN, infinities and the ends of the range among the numbers."""
    flat = tensor.flatten().clone()
    if tensor.dtype == torch.bool or flat.numel() < 2:
        return tensor
    if tensor.is_floating_point():
        rims = torch.tensor(FLOATS, dtype=tensor.dtype)
    else:
        ends = torch.iinfo(tensor.dtype)
        rims = torch.tensor(
            [ends.min, ends.max, 0, 1, ends.max - 1], dtype=tensor.dtype
        )
    places = torch.arange(0, flat.numel(), 2)
    flat[places] = rims[torch.arange(places.numel()) % rims.numel()]
    return flat.reshape(tensor.shape)


def channels_last(tensor: torch.Tensor) -> torch.Tensor:
    if tensor.dim() != 4:
        return tensor
    return tensor.contiguous(memory_format=torch.channels_last)


def permuted(tensor: torch.Tensor) -> torch.Tensor:
    """The same tensor with its dimensions in memory the other way round."""
    if tensor.dim() < 2:
        return tensor
    order = tuple(range(tensor.dim()))[::-1]
    return tensor.permute(order).contiguous().permute(order)


LAYOUTS = (
    ("channels_last", (4,), channels_last),
    ("permuted", (2, 3), permuted),
)


def as_case(name: str, call: Call) -> Case:
    """A case that is exported as the corpus is."""
    from conformance.making import exported_call

    return Case(name, lambda: exported_call(call, call.tensors), committed=False)
