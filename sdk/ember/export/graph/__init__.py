"""A node of a torch.fx graph becomes its arguments, by the names of its schema.

The modules here change graphs before a flow lowers them: states become explicit,
complex numbers pairs of real ones, a recurrent layer one operator, strides and
edges such as a program can have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def named(node: Any) -> Mapping[str, Any]:
    """The arguments of a node by name, with defaults from the schema."""
    return by_name(node.target, node.args, node.kwargs)


def by_name(
    target: Any, args: Sequence[Any], kwargs: Mapping[str, Any] | None
) -> Mapping[str, Any]:
    """The arguments of an operator's call by name, with defaults from the schema."""
    arguments = target._schema.arguments
    left_out = {each.name: getattr(each, "default_value", None) for each in arguments}
    given = {each.name: arg for each, arg in zip(arguments, args, strict=False)}
    return {**left_out, **given, **(kwargs or {})}


def first(node: Any) -> Any:
    """What a node is applied to: `self` or `input`; also of a module."""
    return node.args[0]


def rest(node: Any) -> tuple[Any, ...]:
    """The arguments after the first."""
    return tuple(node.args[1:])


def item(node: Any) -> int:
    """The index of the result that a call of operator.getitem takes."""
    return int(node.args[1])


def results(graph: Any) -> list[Any]:
    """The nodes that a graph returns."""
    return list(first(graph.output_node()))


def set_results(graph: Any, nodes: Sequence[Any]) -> None:
    last = graph.output_node()
    last.args = (type(first(last))(nodes), *rest(last))
