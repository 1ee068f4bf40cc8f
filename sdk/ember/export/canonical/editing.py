"""Nodes and constants of a graph: how rewrites read and make them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ember.export.graph import first
from ember.export.packages import need


def propagate(module: Any, inputs: Sequence[Any]) -> None:
    """Gives each node what it computes, as a tensor with only a shape: meta["val"]."""
    torch = need("torch")
    mode = need("torch._subclasses").FakeTensorMode(allow_non_fake_inputs=True)
    with torch.no_grad():
        need("torch.fx.passes.fake_tensor_prop").FakeTensorProp(module, mode).propagate(
            *inputs
        )


def aten() -> Any:
    return need("torch").ops.aten


def is_call(node: Any, *targets: Any) -> bool:
    return (
        isinstance(node, need("torch").fx.Node)
        and node.op == "call_function"
        and node.target in targets
    )


def shape(node: Any) -> tuple[int, ...]:
    """Of the tensor that a node computes; none of another value."""
    return tuple(getattr(node.meta.get("val"), "shape", ()))


def call(
    like: Any, target: Any, arguments: Sequence[Any], named: Mapping[str, Any] = {}
) -> Any:
    """A node before `like`, with its module and line of the source."""
    with like.graph.inserting_before(like):
        made = like.graph.call_function(target, tuple(arguments), dict(named))
    made.meta = {key: value for key, value in like.meta.items() if key != "val"}
    return made


def replace(node: Any, target: Any, arguments: Sequence[Any], **named: Any) -> Any:
    """Puts a call in place of a node."""
    made = call(node, target, arguments, named)
    node.replace_all_uses_with(made)
    node.graph.erase_node(node)
    return made


def constant(module: Any, node: Any) -> Any | None:
    """The tensor of a parameter or buffer; None of another node."""
    if getattr(node, "op", "") != "get_attr":
        return None
    owner, _, attribute = node.target.rpartition(".")
    value = getattr(module.get_submodule(owner), attribute)
    return value.detach() if isinstance(value, need("torch").Tensor) else None


def hold(module: Any, like: Any, name: str, tensor: Any) -> Any:
    """A node before `like` for a new constant, whose name starts with `name`."""
    base = name.replace(".", "_")
    names = (f"{base}_{count}" if count else base for count in range(10**6))
    unused = next(each for each in names if not hasattr(module, each))
    module.register_buffer(unused, tensor.detach().clone())
    with like.graph.inserting_before(like):
        made = like.graph.get_attr(unused)
    made.meta = {key: value for key, value in like.meta.items() if key != "val"}
    made.meta["val"] = tensor
    return made


def only_user(node: Any) -> bool:
    return len(node.users) == 1


def source(node: Any) -> Any:
    """What a node of one tensor is applied to."""
    return first(node)
