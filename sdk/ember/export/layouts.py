"""Tensors with strange strides become the same tensors as a program can store them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ember.export.packages import need


def straighten(model: Any) -> None:
    """Give parameters, states and constants strides that tell the order of dimensions.

    The exporter reads that order from strides, which fails for a dimension that is
    expanded, or has one element and so any stride.
    """
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
    """Reshapes of tensors that are not contiguous take contiguous copies.

    PyTorch reshapes an image in channels_last in place where strides can tell the
    result, as for patches that become a sequence. A program has no such strides: the
    exporter would take the bytes as they lie.
    """
    aten = need("torch").ops.aten
    for target in (
        aten.view.default,
        aten.reshape.default,
        aten.flatten.using_ints,
        aten.unflatten.int,
    ):
        for node in exported.graph.find_nodes(op="call_function", target=target):
            if not node.args[0].meta["val"].is_contiguous():
                _copy_input(exported.graph, node)
    exported.graph_module.recompile()


def _copy_input(graph: Any, node: Any) -> None:
    torch = need("torch")
    tensor, form = node.args[0], torch.contiguous_format
    with graph.inserting_before(node):
        copied = graph.call_function(
            torch.ops.aten.clone.default, (tensor,), {"memory_format": form}
        )
    value = tensor.meta["val"].clone(memory_format=form)
    copied.meta = {**node.meta, "val": value}
    node.args = (copied, *node.args[1:])


def _tensors(model: Any) -> Iterator[Any]:
    """Each tensor that a module holds: also those that are plain attributes."""
    torch = need("torch")
    yield from model.parameters()
    yield from model.buffers()
    for module in model.modules():
        for held in vars(module).values():
            if isinstance(held, torch.Tensor):
                yield held


def _plain(tensor: Any) -> Any:
    """The tensor as contiguous or channels_last; None where it is so already."""
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
