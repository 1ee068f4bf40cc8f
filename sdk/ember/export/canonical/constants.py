"""Calls whose arguments are all constants become constants."""

from __future__ import annotations

import operator
from typing import Any

from ember.export.canonical.editing import calls, constant, hold, replace, tidy
from ember.export.packages import need

_MANY = 1 << 16  # elements of a constant that may be larger than what it is made of
_CHECKS = ("_assert_tensor_metadata.default", "_assert_scalar.default")


def fold(module: Any) -> None:
    """Computes weights that depend on nothing but parameters: pruned, joined,
    normalised, transposed, and masks or positions that a model makes itself."""
    torch = need("torch")
    changed = False
    for node in calls(module, _CHECKS):
        module.graph.erase_node(node)
    with torch.no_grad():
        for node in list(module.graph.nodes):
            value = _value(module, node)
            if isinstance(value, torch.Tensor) and _is_small(module, node, value):
                replace(module, node, hold(module, _plain(value), node))
                changed = True
    if changed:
        tidy(module)


def _value(module: Any, node: Any) -> Any:
    """What a node is, if that depends on constants only; else None."""
    if node.op == "call_function" and node.target is operator.getitem:
        parts = _value(module, node.args[0])
        return None if parts is None else parts[node.args[1]]
    return _computed(module, node) if _is_foldable(module, node) else None


def _is_foldable(module: Any, node: Any) -> bool:
    if node.op != "call_function" or not _is_pure(node) or not node.all_input_nodes:
        return False
    return all(
        constant(module, given) is not None or _is_creation(given)
        for given in node.all_input_nodes
    )


def _is_pure(node: Any) -> bool:
    """Whether a call returns one tensor, the same each time, and changes nothing."""
    torch = need("torch")
    schema = getattr(node.target, "_schema", None)
    if schema is None or schema.is_mutable or len(schema.returns) != 1:
        return False
    if str(node.target).startswith("ember."):
        return False
    return torch.Tag.nondeterministic_seeded not in node.target.tags


def _is_creation(node: Any) -> bool:
    """Whether a call makes a constant of numbers, such as arange."""
    return node.op == "call_function" and not node.all_input_nodes and _is_pure(node)


def _computed(module: Any, node: Any) -> Any:
    torch = need("torch")

    def value(given: Any) -> Any:
        if _is_creation(given):
            return given.target(*given.args, **given.kwargs)
        return constant(module, given)

    args, kwargs = torch.fx.map_arg((node.args, node.kwargs), value)
    return node.target(*args, **kwargs)


def _is_small(module: Any, node: Any, value: Any) -> bool:
    """Whether a constant takes about as many bytes as those that it is made of."""
    if value.numel() <= _MANY:
        return True
    held = [constant(module, given) for given in node.all_input_nodes]
    most = sum(int(tensor.numel()) for tensor in held if tensor is not None)
    return int(value.numel()) <= most


def _plain(tensor: Any) -> Any:
    """A copy without shared or odd strides."""
    torch = need("torch")
    last = torch.channels_last
    if tensor.dim() == 4 and tensor.is_contiguous(memory_format=last):
        return tensor.clone(memory_format=last)
    return tensor.clone(memory_format=torch.contiguous_format)
