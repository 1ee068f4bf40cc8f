"""Passes of ExecuTorch's Cortex-M flow become those that agree on dim orders.

Its image operators return channels_last, whatever the operators they replace returned.
Padding is written in the dim order of its input before they are replaced, and is then
read in another; so here it is replaced last. An image that comes in another dim order,
out of a reshape or a join with a state, is copied into theirs; and one whose bytes a
reshape takes as they lie, such as patches that become a sequence, is copied back.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ember.export.packages import need

_PADDING = ("constant_pad_nd", "avg_pool2d")  # the latter may pad its input
_OF_IMAGES = (
    "aten.avg_pool2d.default",
    "cortex_m.quantized_conv2d.default",
    "cortex_m.quantized_depthwise_conv2d.default",
    "cortex_m.quantized_max_pool2d.default",
    "cortex_m.quantized_transpose_conv2d.default",
    "ember.quantized_avg_pool2d_int16.default",
    "ember.quantized_conv2d_int16.default",
    "ember.quantized_conv2d_int4.default",
    "ember.quantized_depthwise_conv2d_int16.default",
)
_RESHAPE = "aten.view_copy.default"
_CHANNELS_LAST = [0, 2, 3, 1]


def passes(known: list[type]) -> list[type]:
    """The passes of the flow, operators replaced in the order that dim orders want."""
    at = [pass_.__name__ for pass_ in known].index("AtenToCortexMPass")
    stages = [
        _before_padding(known[at]),
        _copying(_takes_other, last=True),
        known[at],
        _copying(_reshapes_other, last=False),
    ]
    return [*known[:at], *stages, *known[at + 1 :]]


def name(node: Any) -> str:
    """aten.convolution.default, of an operator of ATen or of the edge dialect."""
    return str(getattr(node.target, "_op", node.target))


def _before_padding(replacing: Any) -> type:
    """The pass that replaces operators, without those that write amounts of padding."""

    class BeforePadding(replacing):  # type: ignore[misc]
        pass

    aten = need("executorch.exir.dialects._ops").ops.edge.aten
    later = [getattr(aten, padding).default for padding in _PADDING]
    # a subclass starts with none
    BeforePadding._DIALECT_SUBSTITUTIONS = {
        target: substitution
        for target, substitution in replacing._DIALECT_SUBSTITUTIONS.items()
        if target not in later
    }
    return BeforePadding


def _copying(is_wrong: Callable[[Any], bool], *, last: bool) -> type:
    """The pass that copies the first inputs of some operators to channels_last, or to
    contiguous tensors."""
    bases = need("executorch.exir.pass_base")

    class Copying(bases.ExportPass):  # type: ignore[misc, name-defined]
        def call(self, module: Any) -> Any:
            others = [node for node in module.graph.nodes if is_wrong(node)]
            for node in others:
                _copy_input(module.graph, node, last=last)
            if not others:
                return bases.PassResult(module, False)
            module.recompile()
            return super().call(module)

    return Copying


def _takes_other(node: Any) -> bool:
    """Whether a quantised operator of images has an input that is not channels_last."""
    torch = need("torch")
    if node.op != "call_function" or name(node) not in _OF_IMAGES:
        return False
    image = node.args[0].meta["val"]
    return (
        image.dtype in (torch.int8, torch.int16)
        and image.dim() == 4
        and not image.is_contiguous(memory_format=torch.channels_last)
    )


def _reshapes_other(node: Any) -> bool:
    """Whether a reshape, which takes bytes as they lie, has a tensor that is not
    contiguous. The exporter copies those that PyTorch cannot reshape in place."""
    if node.op != "call_function" or name(node) != _RESHAPE:
        return False
    return not node.args[0].meta["val"].is_contiguous()


def _copy_input(graph: Any, node: Any, *, last: bool) -> None:
    torch = need("torch")
    edge = need("executorch.exir.dialects._ops").ops.edge
    tensor = node.args[0]
    form = torch.channels_last if last else torch.contiguous_format
    order = _CHANNELS_LAST if last else list(range(tensor.meta["val"].dim()))
    with graph.inserting_before(node):
        copied = graph.call_function(
            edge.dim_order_ops._clone_dim_order.default,
            (tensor,),
            {"dim_order": order},
        )
    copied.meta["val"] = tensor.meta["val"].clone(memory_format=form)
    copied.meta["stack_trace"] = node.meta.get("stack_trace")
    node.args = (copied, *node.args[1:])
