"""Attention that is one operator becomes products and a softmax."""

from __future__ import annotations

import math
from typing import Any

from ember.export.canonical.editing import (
    call,
    calls,
    constant,
    hold,
    name,
    replace,
    shape,
)
from ember.export.graph import named
from ember.export.packages import need

_NAME = "scaled_dot_product_attention.default"


def decompose(module: Any) -> None:
    """softmax(q k^T scale + mask) v, as scaled_dot_product_attention is defined.

    The scale goes to q, whose projection can take it. What a mask hides gets a number
    so small that its softmax is 0, not an infinity: that has no integer.
    """
    for node in calls(module, (_NAME,)):
        given = named(node)
        if not given["dropout_p"]:
            replace(module, node, _product(module, node, given))
    for node in calls(module, tuple(_MASKED)):
        if node.users and all(name(user) in _SOFTMAX for user in node.users):
            _hide(module, node)


def _product(module: Any, node: Any, given: Any) -> Any:
    q, k, v = (_repeated(module, node, given, x) for x in ("query", "key", "value"))
    scale = given["scale"]
    factor = 1 / math.sqrt(shape(q)[-1]) if scale is None else scale
    q = call(module, node, "mul.Tensor", q, factor)
    turned = call(module, node, "transpose.int", k, -2, -1)
    scores = call(module, node, "matmul.default", q, turned)
    mask = _mask(module, node, given, scores)
    if mask is not None:
        scores = call(module, node, "add.Tensor", scores, mask)
    weights = call(module, node, "softmax.int", scores, -1)
    return call(module, node, "matmul.default", weights, v)


def _repeated(module: Any, node: Any, given: Any, key: str) -> Any:
    """Heads of keys and values that several heads of queries share."""
    x, heads = given[key], shape(given["query"])[-3:-2]
    if not given["enable_gqa"] or shape(x)[-3:-2] == heads:
        return x
    times = heads[0] // shape(x)[-3]
    return call(module, node, "repeat_interleave.self_int", x, times, -3)


_SOFTMAX = ("softmax.int", "_softmax.default")
_WHERE = ("where.self", "where.ScalarSelf", "where.ScalarOther")
_MASKED = ("masked_fill.Scalar", "masked_fill.Tensor", "add.Tensor", *_WHERE)
HIDDEN = -20.0  # its exponential is 2e-9


def _mask(module: Any, node: Any, given: Any, scores: Any) -> Any:
    """What is added to scores: a constant, or a tensor of the graph; None: nothing."""
    torch = need("torch")
    mask = given["attn_mask"]
    if given["is_causal"]:
        rows, columns = shape(scores)[-2:]
        seen = torch.ones(rows, columns, dtype=torch.bool).tril()
        return hold(module, _added(seen), node)
    if mask is None:
        return None
    value = constant(module, mask)
    if value is not None:
        return hold(module, _added(value), node)
    if mask.meta["val"].dtype != torch.bool:
        return mask
    off = call(module, node, "logical_not.default", mask)
    zeros = hold(module, torch.zeros(()), node)
    return call(module, node, "masked_fill.Scalar", zeros, off, HIDDEN)


def _added(mask: Any) -> Any:
    """A mask as numbers to add."""
    torch = need("torch")
    if mask.dtype == torch.bool:
        return torch.zeros(mask.shape).masked_fill(~mask, HIDDEN)
    return mask.to(torch.float32).clamp(min=HIDDEN)


def _number(module: Any, node: Any) -> float | None:
    """The number that a node is in all elements; None for others."""
    if name(node) in ("scalar_tensor.default", "full.default"):
        node = node.args[-1]
    if isinstance(node, int | float):
        return float(node)
    value = constant(module, node)
    return float(value) if value is not None and value.numel() == 1 else None


def _hide(module: Any, node: Any) -> None:
    """A constant mask of scores, in whatever form, as an addition."""
    if name(node) == "add.Tensor":
        for x in node.args:
            value = constant(module, x)
            if value is not None and float(value.min()) < HIDDEN:
                node.replace_input_with(x, hold(module, _added(value), node))
        return
    if name(node) in _WHERE:
        seen, scores, other = node.args
        hidden = constant(module, seen)
        if _number(module, other) is None:
            scores, other = other, scores
        elif hidden is not None:
            hidden = ~hidden
    else:
        scores, mask, other = node.args
        hidden = constant(module, mask)
    lowest = _number(module, other)
    if hidden is None or lowest is None or lowest > HIDDEN:
        return
    added = hold(module, _added(~hidden), node)
    replace(module, node, call(module, node, "add.Tensor", scores, added))
