# SPDX-License-Identifier: Apache-2.0
"""Calls that give the same with channels innermost, and how they are written then.

Images are (batches, channels, ..., columns) in a program whose channels come first, and
(batches, ..., columns, channels) otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ember.files.tensors import DType
from ember.kernels import KernelList
from ember.program import KernelCall, types
from ember.program.additions import Additions

_W, _BIAS, _GROUPS, _X_ZERO, _W_ZERO = 1, 2, 6, 7, 8  # arguments of a convolution
_EXACT = 1 << 24  # sums that float32 counts, in whatever order it adds
_POOL = "cadence::quantized_max_pool2d_nchw"
_AVERAGE, _LAST = "cadence::avg_pool2d", 8  # and its argument: channels are innermost
_CAT = "aten::cat"
_ELEMENTWISE = (
    "cadence::quantize_per_tensor",
    "cadence::dequantize_per_tensor",
    "cadence::requantize",
    "cadence::quantized_relu",
    "cadence::quantized_add",
    "cadence::quantized_mul",
)
_LEAST_RANK = 3
Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class ChannelLayer:
    """A call that may run with channels innermost."""

    instruction: int
    operator: types.Operator  # with channels innermost
    images: tuple[int, ...]  # arguments that lie otherwise then: values of the method
    out: int
    # All arguments then: values of the method, new ones, or elements of a constant.
    args: tuple[int | types.Value | Array, ...]
    turned: int  # bytes that its kernel turns in each run where channels come first


def innermost(rank: int) -> tuple[int, ...]:
    """The dimensions of an image with its channels innermost."""
    return (0, *range(2, rank), 1)


def outermost(rank: int) -> tuple[int, ...]:
    """The reverse of innermost()."""
    return (0, rank - 1, *range(1, rank - 1))


def turned_bytes(tensor: types.Tensor) -> int:
    """Those that change their places when channels move; 0 where none does."""
    channels = tensor.sizes[1]
    pixels = tensor.numel // (tensor.sizes[0] * channels) if tensor.numel else 0
    return tensor.nbytes if channels > 1 and pixels > 1 else 0


def layer(
    look: Additions, known: KernelList, instruction: int, name: str, call: KernelCall
) -> ChannelLayer | None:
    """None for a call that needs its channels first, or that has none."""
    operator = name.rpartition(".")[0]
    out = look.value(call.args[-1])
    if not isinstance(out, types.Tensor) or len(out.sizes) < _LEAST_RANK:
        return None
    if operator in (_POOL, _AVERAGE):
        return _pool(look, instruction, call)
    if renamed(look.operators[call.op_index]) != look.operators[call.op_index]:
        return _convolution(look, known, instruction, call)
    if operator == _CAT:
        return _joined(look, instruction, call)
    if operator.startswith(_ELEMENTWISE) or _is_elementwise(known, name):
        return _elementwise(look, instruction, call)
    return None


def renamed(operator: types.Operator) -> types.Operator:
    """The operator of Cadence's dialect with channels innermost."""
    name = operator.name.replace("_nchw", "_nhwc").replace("_ncl", "_nlc")
    return types.Operator(name, operator.overload)


# ---- convolutions --------------------------------------------------------------------


def _convolution(
    look: Additions, known: KernelList, instruction: int, call: KernelCall
) -> ChannelLayer | None:
    args, before = call.args, look.operators[call.op_index]
    x, out = look.value(args[0]), look.value(args[-1])
    weights, groups = look.constant(args[_W], DType.INT8), look.integer(args[_GROUPS])
    if weights is None or not isinstance(x, types.Tensor) or groups is None:
        return None
    if weights.ndim != len(x.sizes) or not _stays_whole(look, args, weights):
        return None
    assert isinstance(out, types.Tensor)
    after = renamed(before)
    more = known.operators[after.full_name].call_arguments - len(args)
    return ChannelLayer(
        instruction=instruction,
        operator=after,
        images=(args[0],),
        out=args[-1],
        args=(
            args[0],
            _turned(weights, groups),
            *args[_BIAS:-2],
            *(types.Null() for _ in range(more)),
            *args[-2:],
        ),
        turned=turned_bytes(x) + turned_bytes(out) + _weight_bytes(weights, groups),
    )


def _weight_bytes(weights: Array, groups: int) -> int:
    """Those that a kernel turns."""
    filters, depth = weights.shape[:2]
    depthwise = depth == 1 and groups == filters > 1
    alone = weights[0, 0].size == 1 or (depth == 1 and not depthwise)
    return 0 if alone else weights.size


def _turned(weights: Array, groups: int) -> Array:
    """(filters, ..., depth); of one filter a channel (..., filters)."""
    filters, depth = weights.shape[:2]
    if depth == 1 and groups == filters > 1:
        return np.ascontiguousarray(np.moveaxis(weights[:, 0], 0, -1))
    return np.ascontiguousarray(np.moveaxis(weights, 1, -1))


def _stays_whole(look: Additions, args: Sequence[int], weights: Array) -> bool:
    """Whether sums do not depend on their order, and weights are what engines of
    `cortex_m` multiply."""
    bias = look.constant(args[_BIAS], DType.INT32)
    zero, w_zero = look.integer(args[_X_ZERO]), _number(look, args[_W_ZERO])
    if bias is None or zero is None or w_zero != 0 or bias.size != len(weights):
        return False
    zero = (zero + 128) % 256 - 128  # as it wraps around in int8
    reach = max(127 - zero, zero + 128)
    sums = np.abs(weights.reshape(len(weights), -1).astype(np.int64)).sum(1) * reach
    return bool((sums + np.abs(bias.reshape(-1).astype(np.int64)) <= _EXACT).all())


def _number(look: Additions, index: int) -> int | None:
    """An integer, or that of a constant with one."""
    constant = look.constant(index, DType.INT32)
    if constant is not None and constant.size == 1:
        return int(constant.reshape(-1)[0])
    return look.integer(index)


# ---- others --------------------------------------------------------------------------


def _pool(look: Additions, instruction: int, call: KernelCall) -> ChannelLayer | None:
    args = list[int | types.Value | Array](call.args)
    operator = look.operators[call.op_index]
    if operator.name == _AVERAGE:
        if look.value(call.args[_LAST]) != types.Bool(False):
            return None
        args[_LAST] = types.Bool(True)
    else:
        operator = renamed(operator)
    return ChannelLayer(
        instruction, operator, call.args[:1], call.args[-1], tuple(args), 0
    )


def _joined(look: Additions, instruction: int, call: KernelCall) -> ChannelLayer | None:
    """A concatenation; its new list has the values of the old one."""
    items, out = look.value(call.args[0]), look.value(call.args[-1])
    dim = look.integer(call.args[1])
    if not isinstance(items, types.TensorList) or dim is None:
        return None
    assert isinstance(out, types.Tensor)
    rank = len(out.sizes)
    if any(_rank(look, item) != rank for item in items.items):
        return None
    after = types.Int(innermost(rank).index(dim % rank))
    return ChannelLayer(
        instruction,
        look.operators[call.op_index],
        items.items,
        call.args[-1],
        (items, after, *call.args[2:]),
        0,
    )


def _is_elementwise(known: KernelList, name: str) -> bool:
    """Whether an element of the result depends on those at its place alone."""
    operator = known.operators[name]
    rooms = {source.parent.name for source in operator.sources}
    return rooms == {"elementwise"} and known.writes_in_place(name)


def _elementwise(
    look: Additions, instruction: int, call: KernelCall
) -> ChannelLayer | None:
    """Operands of one element stay as they are; the others have all dimensions."""
    out = look.value(call.args[-1])
    assert isinstance(out, types.Tensor)
    images = []
    for index in call.args[:-2]:
        value = look.value(index)
        if isinstance(value, types.TensorList | types.OptionalTensorList):
            return None
        if not isinstance(value, types.Tensor) or value.numel == 1:
            continue
        if len(value.sizes) != len(out.sizes):
            return None
        images.append(index)
    if not images:
        return None
    return ChannelLayer(
        instruction,
        look.operators[call.op_index],
        tuple(images),
        call.args[-1],
        call.args,
        0,
    )


def _rank(look: Additions, index: int) -> int:
    value = look.value(index)
    return len(value.sizes) if isinstance(value, types.Tensor) else -1
