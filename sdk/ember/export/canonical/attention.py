"""aten::scaled_dot_product_attention becomes two matrix products and a softmax."""

from __future__ import annotations

import math
from typing import Any

from ember.export.canonical.editing import aten, call, constant, hold, replace, shape
from ember.export.graph import named
from ember.export.packages import need


def decompose(module: Any) -> None:
    """softmax(q k' scale + mask) v, as the operator defines it."""
    target = aten().scaled_dot_product_attention.default
    for node in module.graph.find_nodes(op="call_function", target=target):
        if not named(node)["enable_gqa"]:
            _replace(module, node)


def _replace(module: Any, node: Any) -> None:
    ops, given = aten(), named(node)
    query, key, value = given["query"], given["key"], given["value"]
    scale = given["scale"]
    if scale is None:
        scale = 1 / math.sqrt(shape(query)[-1])
    scaled = call(node, ops.mul.Tensor, (query, scale))
    turned = call(node, ops.transpose.int, (key, -2, -1))
    scores = call(node, ops.matmul.default, (scaled, turned))
    mask = _mask(module, node, given)
    if mask is not None:
        scores = call(node, ops.add.Tensor, (scores, mask))
    weights = call(node, ops.softmax.int, (scores, -1))
    replace(node, ops.matmul.default, (weights, value))


def _mask(module: Any, node: Any, given: Any) -> Any | None:
    """What is added to scores: minus infinity for those that do not count."""
    torch, ops = need("torch"), aten()
    mask = given["attn_mask"]
    if given["is_causal"]:
        queries, keys = shape(given["query"])[-2], shape(given["key"])[-2]
        seen = torch.ones(queries, keys, dtype=torch.bool).tril()
        return hold(module, node, f"{node.name}_mask", _added(seen))
    if mask is None or mask.meta["val"].dtype != torch.bool:
        return mask
    known = constant(module, mask)
    if known is not None:
        return hold(module, node, f"{node.name}_mask", _added(known))
    unseen = call(node, ops.logical_not.default, (mask,))
    zeros = hold(module, node, f"{node.name}_zero", torch.zeros(()))
    return call(node, ops.masked_fill.Scalar, (zeros, unseen, -math.inf))


def _added(seen: Any) -> Any:
    torch = need("torch")
    return torch.zeros(seen.shape).masked_fill(~seen, -math.inf)
