"""Tensors that are computed from parameters only become parameters."""

from __future__ import annotations

from typing import Any

from ember.export.canonical.editing import constant, hold
from ember.export.packages import need

_KEPT = ("quantize", "fake_quant")  # of a trained graph: they carry its scales


def fold(module: Any) -> None:
    """Computes what calls of constants return.

    Weight norm, pruning, standardisation, tied, scaled and joined weights are such
    calls.
    """
    torch = need("torch")
    values: dict[Any, Any] = {}
    for node in list(module.graph.nodes):
        if node.op == "get_attr":
            value = constant(module, node)
            if value is not None:
                values[node] = value
        elif _is_computed(node, values):
            arguments = torch.fx.map_arg((node.args, node.kwargs), values.__getitem__)
            with torch.no_grad():
                values[node] = node.target(*arguments[0], **arguments[1])
    for node, value in values.items():
        if node.op == "get_attr" or not isinstance(value, torch.Tensor):
            continue
        if any(user not in values for user in node.users):
            whole = value.contiguous()
            folded = hold(module, node, f"{_root(node).target}_{node.name}", whole)
            node.replace_all_uses_with(folded)


def _is_computed(node: Any, values: dict[Any, Any]) -> bool:
    torch = need("torch")
    inputs = node.all_input_nodes
    if node.op != "call_function" or not inputs:
        return False
    if any(each not in values for each in inputs):
        return False
    if any(word in str(node.target) for word in _KEPT):
        return False
    tags = getattr(node.target, "tags", ())
    return torch.Tag.nondeterministic_seeded not in tags


def _root(node: Any) -> Any:
    while node.op != "get_attr":
        node = node.all_input_nodes[0]
    return node
