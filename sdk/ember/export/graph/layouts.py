"""Tensors with unusual strides become equal ones that a program can have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ember.export import faults
from ember.export.graph import first, rest
from ember.export.packages import need


def straighten(model: Any) -> None:
    """Gives parameters, states and constants strides that state the order of
    dimensions.

    The exporter reads that order from strides, which fails for a dimension that is
    expanded, or that has one element and so any stride.
    """
    if not faults.has("strides"):
        return
    for tensor in _tensors(model):
        plain = _plain(tensor.detach())
        if tensor.grad_fn is not None:
            tensor.detach_()  # of a state after a call: else it cannot be copied
        if plain is not None:
            tensor.data = plain


def whole(tree: Any) -> Any:
    """Inputs or outputs, without dimensions that share their elements."""
    torch = need("torch")
    return need("torch.utils._pytree").tree_map_only(
        torch.Tensor, lambda x: x.contiguous() if _is_expanded(x) else x, tree
    )


def reshape_copies(exported: Any) -> None:
    """Gives reshapes of tensors that are not contiguous a contiguous copy.

    PyTorch reshapes an image in channels_last in place if strides can express the
    result, as for patches that become a sequence. A program has no such strides: the
    exporter would take the bytes in the wrong order.
    """
    if not faults.has("reshapes"):
        return
    aten = need("torch").ops.aten
    for target in (
        aten.view.default,
        aten.reshape.default,
        aten.flatten.using_ints,
        aten.unflatten.int,
    ):
        for node in exported.graph.find_nodes(op="call_function", target=target):
            if not first(node).meta["val"].is_contiguous():
                _copy_input(exported.graph, node)
    exported.graph_module.recompile()


def _copy_input(graph: Any, node: Any) -> None:
    torch = need("torch")
    tensor, form = first(node), torch.contiguous_format
    with graph.inserting_before(node):
        copied = graph.call_function(
            torch.ops.aten.clone.default, (tensor,), {"memory_format": form}
        )
    value = tensor.meta["val"].clone(memory_format=form)
    copied.meta = {**node.meta, "val": value}
    node.args = (copied, *rest(node))


def _tensors(model: Any) -> Iterator[Any]:
    """Every tensor that a module holds, including plain attributes."""
    torch = need("torch")
    yield from model.parameters()
    yield from model.buffers()
    for module in model.modules():
        for held in vars(module).values():
            if isinstance(held, torch.Tensor):
                yield held


def _plain(tensor: Any) -> Any:
    """A contiguous or channels_last copy of the tensor; None if it is so already."""
    torch = need("torch")
    for form in (torch.contiguous_format, torch.channels_last):
        fits = form is torch.contiguous_format or tensor.dim() == 4
        if fits and tensor.is_contiguous(memory_format=form):
            copy = torch.empty_like(tensor, memory_format=form)
            if copy.stride() == tensor.stride():
                return None
            return tensor.clone(memory_format=form)
    return tensor.clone(memory_format=torch.contiguous_format)


def _is_expanded(tensor: Any) -> bool:
    pairs = zip(tensor.shape, tensor.stride(), strict=True)
    return tensor.layout == need("torch").strided and any(
        size > 1 and stride == 0 for size, stride in pairs
    )
