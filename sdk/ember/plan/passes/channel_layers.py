# SPDX-License-Identifier: Apache-2.0
"""Calls that give the same with channels innermost, and how they are written then.

Images are (batches, channels, ..., columns) in a program whose channels come first, and
(batches, ..., columns, channels) otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ember.files.tensors import DType
from ember.kernels import KernelList
from ember.kernels.schemas import NamedCall
from ember.program import types
from ember.program.edit import Additions, Argument

_EXACT = 1 << 24  # sums that float32 counts, in whatever order it adds
_POOL = "cadence::quantized_max_pool2d_nchw"
_AVERAGE = "cadence::avg_pool2d"
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
    args: tuple[Argument, ...]  # all of them then
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
    look: Additions, known: KernelList, instruction: int, call: NamedCall
) -> ChannelLayer | None:
    """None for a call that needs its channels first, or that has none."""
    operator, out = call.operator.rpartition(".")[0], look.value(call.result)
    if not isinstance(out, types.Tensor) or len(out.sizes) < _LEAST_RANK:
        return None
    if operator in (_POOL, _AVERAGE):
        return _pool(look, known, instruction, call)
    before = _operator(look, call)
    if renamed(before) != before:
        return _convolution(look, known, instruction, call)
    if operator == _CAT:
        return _joined(look, instruction, call)
    if operator.startswith(_ELEMENTWISE) or _is_elementwise(known, call.operator):
        return _elementwise(look, instruction, call)
    return None


def _operator(look: Additions, call: NamedCall) -> types.Operator:
    return look.operators[call.call.op_index]


def renamed(operator: types.Operator) -> types.Operator:
    """The operator of Cadence's dialect with channels innermost."""
    name = operator.name.replace("_nchw", "_nhwc").replace("_ncl", "_nlc")
    return types.Operator(name, operator.overload)


# ---- convolutions --------------------------------------------------------------------


def _convolution(
    look: Additions, known: KernelList, instruction: int, call: NamedCall
) -> ChannelLayer | None:
    x, out = call.value("input"), call.value("out")
    weights = look.constant(call["weight"], DType.INT8)
    groups = look.integer(call["groups"])
    if weights is None or not isinstance(x, types.Tensor) or groups is None:
        return None
    if weights.ndim != len(x.sizes) or not _stays_whole(look, call, weights):
        return None
    assert isinstance(out, types.Tensor)
    after = renamed(_operator(look, call))
    arguments: dict[str, Argument] = {
        **dict.fromkeys(known.operators[after.full_name].names, types.Null()),
        **call.arguments,
        "weight": _turned(weights, groups),
    }
    return ChannelLayer(
        instruction=instruction,
        operator=after,
        images=(call["input"],),
        out=call.result,
        args=known.operators[after.full_name].ordered(arguments, call.result),
        turned=turned_bytes(x) + turned_bytes(out) + _weight_bytes(weights, groups),
    )


def _weight_bytes(weights: Array, groups: int) -> int:
    """Bytes of weights that a kernel turns."""
    filters, depth = weights.shape[:2]
    depthwise = depth == 1 and groups == filters > 1
    stays = weights[0, 0].size == 1 or (depth == 1 and not depthwise)
    return 0 if stays else weights.size


def _turned(weights: Array, groups: int) -> Array:
    """(filters, ..., depth); of one filter a channel (..., filters)."""
    filters, depth = weights.shape[:2]
    if depth == 1 and groups == filters > 1:
        return np.ascontiguousarray(np.moveaxis(weights[:, 0], 0, -1))
    return np.ascontiguousarray(np.moveaxis(weights, 1, -1))


def _stays_whole(look: Additions, call: NamedCall, weights: Array) -> bool:
    """Whether sums do not depend on their order, and weights are what engines of
    `cortex_m` multiply."""
    bias = look.constant(call["bias"], DType.INT32)
    zero = look.integer(call["input_zero_point"])
    w_zero = _number(look, call["weight_zero_point"])
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


def _pool(
    look: Additions, known: KernelList, instruction: int, call: NamedCall
) -> ChannelLayer | None:
    arguments = dict[str, Argument](call.arguments)
    if "channel_last" in call:
        if call.value("channel_last") != types.Bool(False):
            return None
        arguments["channel_last"] = types.Bool(True)
    operator = renamed(_operator(look, call))
    args = known.operators[operator.full_name].ordered(arguments, call.result)
    return ChannelLayer(instruction, operator, (call["input"],), call.result, args, 0)


def _joined(look: Additions, instruction: int, call: NamedCall) -> ChannelLayer | None:
    """A concatenation; its new list has the values of the old one."""
    items, out = call.value("tensors"), call.value("out")
    dim = look.integer(call["dim"])
    if not isinstance(items, types.TensorList) or dim is None:
        return None
    assert isinstance(out, types.Tensor)
    rank = len(out.sizes)
    if any(_rank(look, item) != rank for item in items.items):
        return None
    after = types.Int(innermost(rank).index(dim % rank))
    return ChannelLayer(
        instruction,
        _operator(look, call),
        items.items,
        call.result,
        (items, after, call["out"], call.result),
        0,
    )


def _is_elementwise(known: KernelList, name: str) -> bool:
    """Whether an element of the result depends only on those at its place."""
    operator = known.operators[name]
    rooms = {source.parent.name for source in operator.sources}
    return rooms == {"elementwise"} and known.writes_in_place(name)


def _elementwise(
    look: Additions, instruction: int, call: NamedCall
) -> ChannelLayer | None:
    """Operands of one element stay as they are; the others have all dimensions."""
    out = look.value(call.result)
    assert isinstance(out, types.Tensor)
    images = []
    for name in call.names[:-1]:
        value = call.value(name)
        if isinstance(value, types.TensorList | types.OptionalTensorList):
            return None
        if not isinstance(value, types.Tensor) or value.numel == 1:
            continue
        if len(value.sizes) != len(out.sizes):
            return None
        images.append(call[name])
    if not images:
        return None
    return ChannelLayer(
        instruction,
        _operator(look, call),
        tuple(images),
        call.result,
        call.call.args,
        0,
    )


def _rank(look: Additions, index: int) -> int:
    value = look.value(index)
    return len(value.sizes) if isinstance(value, types.Tensor) else -1
