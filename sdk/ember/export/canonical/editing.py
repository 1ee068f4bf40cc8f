"""What passes over an exported graph share: they read calls and write others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ember.export.packages import need

_SAID = ("stack_trace", "nn_module_stack", "source_fn_stack")


def name(node: Any) -> str:
    """The operator of a call without its namespace: conv1d.default; else nothing."""
    if getattr(node, "op", "") != "call_function":
        return ""
    return str(node.target).removeprefix("aten.")


def calls(module: Any, names: Sequence[str]) -> Iterator[Any]:
    """The calls of some operators, in order; the graph can be changed meanwhile."""
    for node in list(module.graph.nodes):
        if name(node) in names:
            yield node


def shape(node: Any) -> tuple[int, ...]:
    """The shape of a node's tensor; nothing for another value."""
    value = node.meta.get("val")
    return tuple(value.shape) if isinstance(value, need("torch").Tensor) else ()


def is_float(node: Any) -> bool:
    value = node.meta.get("val")
    return bool(getattr(value, "dtype", None) == need("torch").float32)


def only_user(node: Any) -> Any | None:
    """The node that uses a node, if there is just one."""
    return next(iter(node.users)) if len(node.users) == 1 else None


# ---- constants -----------------------------------------------------------------------


def constant(module: Any, node: Any) -> Any | None:
    """The tensor that a node gets from the module; None for other nodes."""
    if getattr(node, "op", "") != "get_attr":
        return None
    value: Any = module
    for part in node.target.split("."):
        value = getattr(value, part, None)
    return value.detach() if isinstance(value, need("torch").Tensor) else None


def hold(module: Any, tensor: Any, like: Any) -> Any:
    """A node for a new constant, in front of `like`."""
    number = sum(key.startswith("_folded_") for key, _ in module.named_buffers())
    while hasattr(module, f"_folded_{number}"):
        number += 1
    key = f"_folded_{number}"
    module.register_buffer(key, tensor.detach())
    with module.graph.inserting_before(like):
        node = module.graph.get_attr(key)
    mode = (
        like.meta["val"].fake_mode
        if hasattr(like.meta.get("val"), "fake_mode")
        else None
    )
    if mode is not None:
        node.meta["val"] = mode.from_tensor(tensor, static_shapes=True)
    return node


def last(tensor: Any) -> Any:
    """A copy in channels_last, which its strides say even where sizes of 1 leave it
    open: the layout of a convolution's result follows them."""
    torch = need("torch")
    form = torch.channels_last
    return torch.empty(tensor.shape, dtype=tensor.dtype, memory_format=form).copy_(
        tensor
    )


# ---- calls ---------------------------------------------------------------------------


def call(module: Any, before: Any, operator: str, *args: Any, **kwargs: Any) -> Any:
    """A new call of aten, in front of a node whose source it shares.

    operator -- such as conv2d.default
    """
    packet, _, overload = operator.partition(".")
    target = getattr(getattr(need("torch").ops.aten, packet), overload)
    with module.graph.inserting_before(before):
        node = module.graph.call_function(target, args, kwargs)
    node.meta = {key: before.meta[key] for key in _SAID if key in before.meta}
    node.meta["val"] = _value(target, args, kwargs)
    return node


def _value(target: Any, args: Any, kwargs: Any) -> Any:
    """What a call returns, in shapes and layouts."""
    torch = need("torch")
    trees = need("torch.utils._pytree")

    def value(node: Any) -> Any:
        return node.meta["val"] if isinstance(node, torch.fx.Node) else node

    given, named = trees.tree_map(value, (args, kwargs))
    modes = [x.fake_mode for x in trees.tree_leaves(given) if hasattr(x, "fake_mode")]
    with modes[0]:
        return target(*given, **named)


def inline(module: Any, node: Any) -> None:
    """Puts the operators that a composite one consists of in its place."""
    torch = need("torch")
    tracing = need("torch.fx.experimental.proxy_tensor")
    given = list(node.all_input_nodes)

    def compute(*values: Any) -> Any:
        by = dict(zip(given, values, strict=True))
        args, kwargs = torch.fx.map_arg((node.args, node.kwargs), by.__getitem__)
        return node.target(*args, **kwargs)

    values = [x.meta["val"] for x in given]
    with values[0].fake_mode:
        body = tracing.make_fx(compute)(*values)
    inputs = iter(given)
    copies: dict[Any, Any] = {}
    with module.graph.inserting_before(node):
        for each in body.graph.nodes:
            if each.op == "placeholder":
                copies[each] = next(inputs)
            elif each.op == "output":
                replace(module, node, copies[each.args[0]])
            else:
                copies[each] = module.graph.node_copy(each, copies.__getitem__)
                said = {key: node.meta[key] for key in _SAID if key in node.meta}
                copies[each].meta = {**said, "val": each.meta["val"]}


def replace(module: Any, node: Any, by: Any) -> None:
    """Gives the users of a node another, and its meaning for reports."""
    node.replace_all_uses_with(by)
    module.graph.erase_node(node)


def propagate(module: Any, inputs: Sequence[Any]) -> None:
    """Gives each node the shape, dtype and layout of its result."""
    fake = need("torch._subclasses.fake_tensor")
    shapes = need("torch.fx.passes.fake_tensor_prop")
    mode = fake.FakeTensorMode(allow_non_fake_inputs=True)
    given = [mode.from_tensor(x, static_shapes=True) for x in inputs]
    with mode:
        shapes.FakeTensorProp(module, mode).run(*given, enable_io_processing=False)


def tidy(module: Any) -> None:
    module.graph.eliminate_dead_code()
    module.graph.lint()
    module.recompile()
