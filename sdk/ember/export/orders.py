"""Passes of ExecuTorch's Cortex-M flow become those that agree on dim orders.

Its image operators return channels_last, whatever the operators they replace returned.
Padding is written in the dim order of its input before they are replaced, and is then
read in another; so here it is replaced last. An image that comes in another dim order,
out of a reshape or a join with a state, is copied into theirs.
"""

from __future__ import annotations

from typing import Any

from ember.export.packages import need

_PADDING = ("constant_pad_nd", "avg_pool2d")  # the latter may pad its input
_OF_IMAGES = (
    "aten.avg_pool2d.default",
    "cortex_m.quantized_conv2d.default",
    "cortex_m.quantized_depthwise_conv2d.default",
    "cortex_m.quantized_max_pool2d.default",
    "cortex_m.quantized_transpose_conv2d.default",
)
_CHANNELS_LAST = [0, 2, 3, 1]


def passes(known: list[type]) -> list[type]:
    """The passes of the flow, operators replaced in the order that dim orders want."""
    at = [pass_.__name__ for pass_ in known].index("AtenToCortexMPass")
    stages = [_before_padding(known[at]), _channels_last(), known[at]]
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


def _channels_last() -> type:
    bases = need("executorch.exir.pass_base")

    class ChannelsLast(bases.ExportPass):  # type: ignore[misc, name-defined]
        """Copies images to channels_last for operators that take no other."""

        def call(self, module: Any) -> Any:
            others = [node for node in module.graph.nodes if _takes_other(node)]
            for node in others:
                _copy_input(module.graph, node)
            if not others:
                return bases.PassResult(module, False)
            module.recompile()
            return super().call(module)

    return ChannelsLast


def _takes_other(node: Any) -> bool:
    """Whether an int8 operator of images has an input that is not channels_last."""
    torch = need("torch")
    if node.op != "call_function" or name(node) not in _OF_IMAGES:
        return False
    image = node.args[0].meta["val"]
    return (
        image.dtype == torch.int8
        and image.dim() == 4
        and not image.is_contiguous(memory_format=torch.channels_last)
    )


def _copy_input(graph: Any, node: Any) -> None:
    edge = need("executorch.exir.dialects._ops").ops.edge
    image = node.args[0]
    with graph.inserting_before(node):
        copied = graph.call_function(
            edge.dim_order_ops._clone_dim_order.default,
            (image,),
            {"dim_order": _CHANNELS_LAST},
        )
    torch = need("torch")
    copied.meta["val"] = image.meta["val"].clone(memory_format=torch.channels_last)
    copied.meta["stack_trace"] = node.meta.get("stack_trace")
    node.args = (copied, *node.args[1:])
