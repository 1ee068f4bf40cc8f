"""Passes of ExecuTorch's Cortex-M flow become those that fuse what it leaves apart.

The flow fuses a convolution and its activation only where the activation fills the
range of int8. Where results share a scale, as those that a U-Net joins do, it fuses
nothing and leaves the convolution without the scale of its result: int8 that wraps.
Fused with the activation's bounds at that scale, the result is exact.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ember.errors import SdkError
from ember.export.orders import name
from ember.export.packages import need

_PRODUCTS = ("aten.convolution.default", "aten.linear.default")
_FUSED = (*_PRODUCTS, "aten.add.Tensor")
_ACTIVATIONS = ("aten.relu.default", "aten.hardtanh.default", "aten.clamp.default")


def passes(known: list[type]) -> list[type]:
    """The passes of the flow with ours where activations are fused."""
    names = [pass_.__name__ for pass_ in known]
    bounding = known[names.index("QuantizedClampActivationPass")]
    # Behind operators of ATen that turn int8 into float32, sigmoid and tanh, the flow
    # takes an activation for one of float, until those are replaced: bounded at last.
    others = [pass_ for pass_ in known if pass_ is not bounding]
    fusing = names.index("ActivationFusionPass")
    return [*others[:fusing], BoundedActivations, *others[fusing:], bounding]


def check(graph: Any) -> None:
    """SdkError for a product of int8 whose result has no scale."""
    int8 = need("torch").int8
    for node in _calls(graph, _PRODUCTS):
        value = node.meta.get("val")
        if getattr(value, "dtype", None) == int8 and not _result(node):
            raise SdkError(
                f"the Cortex-M flow sets no scale for the result of {node.name}",
                hint="export with --backend xnnpack, or without --quantize",
            )


class BoundedActivations:
    """Gives operators the scale and the bounds of the activation that follows."""

    def __call__(self, module: Any) -> Any:
        results = need("torch.fx.passes.infra.pass_base")
        fused = [call for call in _calls(module.graph, _ACTIVATIONS) if _fuse(call)]
        for node in fused:
            node.replace_all_uses_with(node.args[0])
            module.graph.erase_node(node)
        module.recompile()
        return results.PassResult(module, bool(fused))


def _fuse(node: Any) -> bool:
    before, scaled = node.args[0], _result(node)
    alone = before.op == "call_function" and len(before.users) == 1
    if not alone or name(before) not in _FUSED or scaled is None or _result(before):
        return False
    bounds = need("executorch.backends.cortex_m.passes.passes_utils")
    limits = bounds.get_activation_bounds(node)
    if limits is None or not before.meta.get("input_qparams"):
        return False
    ends = (scaled.qmin, scaled.qmax)
    low, high = (
        end if limit is None else int(scaled.quantize_value(limit).item())
        for limit, end in zip(limits, ends, strict=True)
    )
    before.meta["output_qparams"] = {0: scaled._replace(qmin=low, qmax=high)}
    return True


def _calls(graph: Any, names: tuple[str, ...]) -> Iterator[Any]:
    for node in list(graph.nodes):
        if node.op == "call_function" and name(node) in names:
            yield node


def _result(node: Any) -> Any | None:
    """How the result is quantised, where it is: by one scale."""
    scaled = (node.meta.get("output_qparams") or {}).get(0)
    return scaled if scaled is None or isinstance(scaled.scale, float) else None
