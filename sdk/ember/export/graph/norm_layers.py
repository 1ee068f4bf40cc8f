"""Normalisation and PReLU in a graph become modules that compute the same in float.

They are what can become one operator of integers: constants as weights, sizes that are
known, and groups that fit. Others stay as they are.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ember.export.graph import first, named
from ember.export.operators.norms import MOST, PIXELS
from ember.export.packages import need

LAYERS = ("layer_norm", "rms_norm", "group_norm", "instance_norm", "prelu")
_ROOTS = {"rsqrt.default": "mul.Tensor", "sqrt.default": "div.Tensor"}


# ---- calls of modules ----------------------------------------------------------------


def module(target: Any) -> Any:
    """Calls an operator of ATen."""
    torch = need("torch")

    class Norm(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.ember_norm = target

        def forward(self, *arguments: Any, **named: Any) -> Any:
            return target(*arguments, **named)

    return Norm()


def as_modules(graph_module: Any) -> None:
    """Turns the layers that fit into calls of module()."""
    graph = graph_module.graph
    for node in list(graph.nodes):
        if kind(node) is None or not _fits(node):
            continue
        name = f"_norm_{node.name}"
        graph_module.add_submodule(name, module(node.target))
        with graph.inserting_before(node):
            call = graph.call_module(name, node.args, node.kwargs)
        call.meta = dict(node.meta)
        node.replace_all_uses_with(call)
        graph.erase_node(node)
    graph_module.recompile()


def target_of(graph_module: Any, node: Any) -> Any | None:
    """The operator that a call of module() stands for."""
    if node.op != "call_module":
        return None
    return getattr(graph_module.get_submodule(node.target), "ember_norm", None)


def kind(node: Any) -> str | None:
    """Which of LAYERS an operator is."""
    plain = name_of(node).removesuffix(".default")
    return plain if node.op == "call_function" and plain in LAYERS else None


def name_of(node: Any) -> str:
    return str(node.target).removeprefix("aten.")


def _fits(node: Any) -> bool:
    call, x = named(node), first(node).meta.get("val")
    if x is None or x.dtype != need("torch").float32 or not _are_constants(node, call):
        return False
    if kind(node) == "prelu":
        slopes = call["weight"].meta["val"].numel()
        return bool(slopes == 1 or (x.dim() > 1 and slopes == x.shape[1]))
    if kind(node) == "instance_norm" and not call["use_input_stats"]:
        return False
    sizes = _group(node, call, x.shape)
    if not all(isinstance(size, int) for size in sizes):
        return False
    pixels = math.prod(sizes[1:]) if "normalized_shape" not in call else 1
    return 1 <= math.prod(sizes) <= MOST and pixels <= PIXELS


def _are_constants(node: Any, call: Mapping[str, Any]) -> bool:
    given = [call.get("weight"), call.get("bias")]
    return all(each is None or each.op == "get_attr" for each in given)


def _group(node: Any, call: Mapping[str, Any], shape: Any) -> list[Any]:
    """The sizes of what is normalised together."""
    if "normalized_shape" in call:
        return list(call["normalized_shape"])
    groups = shape[1] if kind(node) == "instance_norm" else call["num_groups"]
    return [shape[1] // groups, *shape[2:]]


# ---- RMS norm, written by hand -------------------------------------------------------


def fold(graph_module: Any) -> None:
    """Makes aten.rms_norm of x * rsqrt(mean(x^2) + eps) and x / sqrt(..), over the last
    dimension, and of a product with weights behind."""
    graph = graph_module.graph
    for node in list(graph.nodes):
        match = _by_hand(node)
        if match is None:
            continue
        x, epsilon = match
        size = x.meta["val"].shape[-1]
        product, weight = _weighted(node, size)
        with graph.inserting_before(product):
            target = need("torch").ops.aten.rms_norm.default
            call = graph.call_function(target, (x, [size], weight, epsilon))
        call.meta = dict(product.meta)
        product.replace_all_uses_with(call)
        graph.eliminate_dead_code()
    graph_module.recompile()


def _by_hand(node: Any) -> tuple[Any, float] | None:
    """x and eps."""
    if name_of(node) not in _ROOTS.values() or len(node.args) != 2:
        return None
    for x, root in (node.args, node.args[::-1]):
        if _ROOTS.get(name_of_any(root)) != name_of(node):
            continue
        if name_of(node) == "div.Tensor" and node.args[0] is not x:
            continue
        epsilon = _epsilon(first(root), x)
        if epsilon is not None and isinstance(x.meta["val"].shape[-1], int):
            return x, epsilon
    return None


def name_of_any(value: Any) -> str:
    return name_of(value) if hasattr(value, "target") else ""


def _epsilon(total: Any, x: Any) -> float | None:
    """eps, if `total` is mean(x^2) + eps."""
    if name_of_any(total) != "add.Tensor" or not isinstance(total.args[1], float):
        return None
    mean = first(total)
    if name_of_any(mean) != "mean.dim" or not isinstance(x, type(mean)):
        return None
    call, square = named(mean), first(mean)
    last = x.meta["val"].dim() - 1
    if not call["keepdim"] or list(call["dim"]) not in ([-1], [last]):
        return None
    squares = ("pow.Tensor_Scalar", (x, 2)), ("mul.Tensor", (x, x))
    given = name_of_any(square), getattr(square, "args", ())
    return total.args[1] if given in (*squares, ("square.default", (x,))) else None


def _weighted(node: Any, size: int) -> tuple[Any, Any | None]:
    """The node of the result, and its weights."""
    users = list(node.users)
    if len(users) != 1 or name_of(users[0]) != "mul.Tensor":
        return node, None
    for weight in users[0].args:
        is_constant = getattr(weight, "op", None) == "get_attr"
        if is_constant and tuple(weight.meta["val"].shape) == (size,):
            return users[0], weight
    return node, None
