"""Passes of ExecuTorch's Cortex-M flow become ones that keep dim orders and fuse more.

The flow's image operators return channels_last, whatever the operators that they
replace returned. It writes padding in the dim order of its input before they are
replaced, and then reads it in another; so here padding is replaced last. An image in
another dim order, from a reshape or a join with a state, is copied to channels_last; an
image whose bytes a reshape takes as they are, such as patches that become a sequence,
is copied back.

The flow fuses a convolution and its activation only if the activation fills the range
of int8. If results share a scale, as those that a U-Net joins do, it fuses nothing and
leaves the convolution without the scale of its result: int8 that wraps. Fused with the
activation's bounds at that scale, the result is exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ember.errors import SdkError
from ember.export import blame, faults
from ember.export.graph import first
from ember.export.operators import tables
from ember.export.packages import need

# ---- dim orders ----------------------------------------------------------------------


_MATRICES = ("linear", "bmm")
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
_OF_PAIRS = tuple(
    f"cortex_m.{each}.default"
    for each in (
        "quantized_add",
        "quantized_mul",
        "quantized_div",
        "minimum",
        "maximum",
    )
)
_RESHAPE = "aten.view_copy.default"
_LAYER_NORM = "ember.quantized_layer_norm.default"
_CHANNELS_LAST = [0, 2, 3, 1]


def agreeing(known: list[type]) -> list[type]:
    """The passes of the flow, with operators replaced in the order for dim orders.

    Products of matrices are replaced first: passes that trace the graph again fail on
    products of int8.
    """
    known = _numbers_first(known)
    at = _names(known).index("AtenToCortexMPass")
    early = _names(known).index("ActivationFusionPass") + 1
    stages = [known[at]]
    known = [*known[:early], _only(known[at], _MATRICES), *known[early:]]
    at += 1
    if faults.has("padding"):
        stages.insert(0, _only(stages[0], _PADDING, others=True))
    if faults.has("dim orders"):
        stages.insert(-1, _copying(_takes_bytes(_LAYER_NORM), last=False))
        stages.insert(-1, _copying(_takes_other, last=True))
        stages.append(_copying(_takes_bytes(_RESHAPE), last=False))
    stages.append(Tables)
    return [*known[:at], *stages, *known[at + 1 :]]


def name(node: Any) -> str:
    """The name of an operator of ATen or the edge dialect: aten.convolution.default."""
    return str(getattr(node.target, "_op", node.target))


def _names(known: list[type]) -> list[str]:
    return [pass_.__name__ for pass_ in known]


def _numbers_first(known: list[type]) -> list[type]:
    """The passes with numbers made tensors, and steps to integers replaced, where no
    product has int8 without its operator."""
    names = _names(known)
    first = known[names.index("ReplaceScalarWithTensorArgPass")]
    steps = known[names.index("ReplaceQuantNodesPass")]
    others = [pass_ for pass_ in known if pass_ not in (first, steps)]
    folding = _names(others).index("FoldAndAnnotateQParamsPass")
    others.insert(folding, first)
    others.insert(_names(others).index("ActivationFusionPass") + 1, steps)
    return others


def _only(replacing: Any, operators: tuple[str, ...], *, others: bool = False) -> type:
    """The pass that replaces some operators of ATen, or all `others`."""

    class Replacing(replacing):  # type: ignore[misc]
        def call(self, module: Any) -> Any:
            # not what the whole pass does to operators that are left
            return super(replacing, self).call(module)

    aten = need("executorch.exir.dialects._ops").ops.edge.aten
    given = [getattr(aten, operator).default for operator in operators]
    # a subclass starts with none
    Replacing._DIALECT_SUBSTITUTIONS = {
        target: substitution
        for target, substitution in replacing._DIALECT_SUBSTITUTIONS.items()
        if (target in given) != others
    }
    return Replacing


def _copying(wrong: Callable[[Any], list[Any]], *, last: bool) -> type:
    """The pass that copies some inputs of operators to channels_last, or to contiguous
    tensors.

    wrong -- the inputs of a node to copy
    """
    bases = need("executorch.exir.pass_base")

    class Copying(bases.ExportPass):  # type: ignore[misc, name-defined]
        def call(self, module: Any) -> Any:
            others = [(node, x) for node in module.graph.nodes for x in wrong(node)]
            for node, x in others:
                _copy_input(module.graph, node, x, last=last)
            if not others:
                return bases.PassResult(module, False)
            module.recompile()
            return super().call(module)

    return Copying


def _takes_other(node: Any) -> list[Any]:
    """The images of int8 that a quantised operator takes, but not in channels_last."""
    if node.op != "call_function":
        return []
    if name(node) in _OF_IMAGES:
        return [first(node)] if _is_other(first(node)) else []
    if name(node) in _OF_PAIRS:
        images = [x for x in node.all_input_nodes if _is_image(x)]
        others = [x for x in images if _is_other(x)]
        return others if len(others) < len(images) else []
    return []


def _is_image(node: Any) -> bool:
    torch = need("torch")
    value = node.meta.get("val")
    dtypes = (torch.int8, torch.int16)
    return (
        isinstance(value, torch.Tensor) and value.dtype in dtypes and value.dim() == 4
    )


def _is_other(node: Any) -> bool:
    form = need("torch").channels_last
    return _is_image(node) and not node.meta["val"].is_contiguous(memory_format=form)


def _takes_bytes(operator: str) -> Callable[[Any], list[Any]]:
    """The input of an operator that takes bytes as they are, if it is not contiguous.
    The exporter copies those that PyTorch cannot reshape in place."""

    def other(node: Any) -> list[Any]:
        if node.op != "call_function" or name(node) != operator:
            return []
        return [] if first(node).meta["val"].is_contiguous() else [first(node)]

    return other


def _copy_input(graph: Any, node: Any, tensor: Any, *, last: bool) -> None:
    torch = need("torch")
    edge = need("executorch.exir.dialects._ops").ops.edge
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
    node.replace_input_with(tensor, copied)


class Tables:
    """Gives tables the name of the flow's operator."""

    def __call__(self, module: Any) -> Any:
        results = need("torch.fx.passes.infra.pass_base")
        calls = list(_calls(module.graph, ("ember.table.default",)))
        for node in calls:
            node.target = tables.activation()
        module.recompile()
        return results.PassResult(module, bool(calls))


# ---- activations ---------------------------------------------------------------------


_PRODUCTS = ("aten.convolution.default", "aten.linear.default")
_FUSED = (*_PRODUCTS, "aten.add.Tensor")
_ACTIVATIONS = ("aten.relu.default", "aten.hardtanh.default", "aten.clamp.default")


def fusing(known: list[type]) -> list[type]:
    """The passes of the flow with ours where activations are fused."""
    names = [pass_.__name__ for pass_ in known]
    fusing = names.index("ActivationFusionPass")
    ours = [BoundedActivations] if faults.has("shared scales") else []
    return [*known[:fusing], *ours, *known[fusing:]]


def check(graph: Any) -> None:
    """Raises SdkError for a product of int8 whose result has no scale."""
    int8 = need("torch").int8
    for node in _calls(graph, _PRODUCTS):
        value = node.meta.get("val")
        if getattr(value, "dtype", None) == int8 and not _result(node):
            raise SdkError(
                "the Cortex-M flow sets no scale for the result of"
                f" {name(node)}{blame.where(node)}",
                hint="export with --backend xnnpack, or without --quantize",
            )


class BoundedActivations:
    """Gives operators the scale and the bounds of the activation that follows."""

    def __call__(self, module: Any) -> Any:
        results = need("torch.fx.passes.infra.pass_base")
        fused = [call for call in _calls(module.graph, _ACTIVATIONS) if _fuse(call)]
        for node in fused:
            node.replace_all_uses_with(first(node))
            module.graph.erase_node(node)
        module.recompile()
        return results.PassResult(module, bool(fused))


def _fuse(node: Any) -> bool:
    before, scaled = first(node), _result(node)
    is_unshared = before.op == "call_function" and len(before.users) == 1
    if (
        not is_unshared
        or name(before) not in _FUSED
        or scaled is None
        or _result(before)
    ):
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
    """How the result is quantised, if by one scale."""
    scaled = (node.meta.get("output_qparams") or {}).get(0)
    return scaled if scaled is None or isinstance(scaled.scale, float) else None
