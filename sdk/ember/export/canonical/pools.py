"""Pools that integer kernels do not take become others with the same results."""

from __future__ import annotations

from typing import Any

from ember.export.canonical.editing import call, calls, name, replace, shape
from ember.export.graph import first, named


def plain(module: Any) -> None:
    """Adaptive pools of equal windows become plain ones, and a mode of rounding that
    changes nothing is left out."""
    for node in calls(
        module, ("adaptive_avg_pool2d.default", "adaptive_max_pool2d.default")
    ):
        _fixed(module, node)
    for node in calls(module, ("max_pool2d.default", "avg_pool2d.default")):
        _floored(module, node)


def _fixed(module: Any, node: Any) -> None:
    x, sizes = first(node), named(node)["output_size"]
    given = shape(x)[-2:]
    if len(shape(x)) != 4 or any(
        n % size for n, size in zip(given, sizes, strict=True)
    ):
        return
    window = [n // size for n, size in zip(given, sizes, strict=True)]
    if name(node).startswith("adaptive_avg"):
        pool = call(module, node, "avg_pool2d.default", x, window, window)
        replace(module, node, pool)
        return
    users = list(node.users)
    if not all(user.args[1] == 0 for user in users):
        return
    pool = call(module, node, "max_pool2d.default", x, window, window)
    for user in users:
        replace(module, user, pool)
    module.graph.erase_node(node)


def _floored(module: Any, node: Any) -> None:
    given = dict(named(node))
    if not given["ceil_mode"]:
        return
    kind = name(node).partition(".")[0]
    names = [each.name for each in node.target._schema.arguments]
    given["ceil_mode"] = False
    arguments = [given[key] for key in names]
    other = call(module, node, f"{kind}.default", *arguments)
    if shape(other) == shape(node):
        replace(module, node, other)
    else:
        module.graph.erase_node(other)
