"""Operators of one number become tables: each int8 has one result.

A region of pointwise operators that depends on one tensor, such as x * sigmoid(x), GELU
or arithmetic with numbers, becomes one call of a module before a quantizer sees it, and
one table of 256 results behind it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ember.export.canonical.editing import constant, name, shape
from ember.export.canonical.pointwise import POINTWISE
from ember.export.graph import first, named
from ember.export.operators import library, tables
from ember.export.packages import need

_BOUNDS = ("relu", "relu6", "hardtanh", "clamp", "clamp_min", "clamp_max")
# what the flow computes with the bounds of its activation
_BOUNDED = ("conv2d", "conv_transpose2d", "linear", "add", "sub", "max_pool2d")


@dataclass
class _Region:
    """Operators that depend on a single tensor, and the last of them."""

    root: Any
    nodes: list[Any] = field(default_factory=list)

    def before(self, sink: Any) -> list[Any]:
        """The operators that one result needs, in order."""
        needed = {sink}
        for node in reversed(self.nodes):
            if node in needed:
                needed.update(node.all_input_nodes)
        return [node for node in self.nodes if node in needed]

    @property
    def sinks(self) -> list[Any]:
        """The operators with results that others use."""
        inside = set(self.nodes)
        return [node for node in self.nodes if not inside.issuperset(node.users)]


# ---- before a quantizer --------------------------------------------------------------


def as_modules(module: Any) -> list[Any]:
    """Turns regions into calls of modules that compute the same; the calls."""
    calls: list[Any] = []
    for region in _regions(module):
        for sink in region.sinks:
            nodes = region.before(sink)
            if _is_table(region, nodes):
                calls.append(_call(module, region.root, nodes, len(calls)))
    if calls:
        module.graph.eliminate_dead_code()
        module.recompile()
    return calls


def is_call(module: Any, node: Any) -> bool:
    """Whether a node calls a module of as_modules()."""
    if node.op != "call_module":
        return False
    return hasattr(module.get_submodule(node.target), "ember_table")


def _regions(module: Any) -> list[_Region]:
    regions: dict[Any, _Region] = {}
    roots: dict[Any, Any] = {}
    for node in module.graph.nodes:
        root = _root(module, node, roots)
        if root is not None:
            roots[node] = root
            regions.setdefault(root, _Region(root)).nodes.append(node)
    return list(regions.values())


def _root(module: Any, node: Any, roots: dict[Any, Any]) -> Any | None:
    """The tensor that a pointwise operator depends on, if it is one."""
    if _kind(node) not in POINTWISE or not _has_value(node) or _is_fused(node):
        return None
    if getattr(node.target, "_schema", None) is None or node.target._schema.is_mutable:
        return None
    given = [x for x in node.all_input_nodes if not _is_number(module, x)]
    starts = {roots.get(x, x) for x in given}
    if len(starts) != 1:
        return None
    root = starts.pop()
    is_whole = _has_value(root) and shape(root) == shape(node)
    return root if is_whole and _is_real(root) else None


def _kind(node: Any) -> str:
    return name(node).partition(".")[0]


def _is_fused(node: Any) -> bool:
    """Whether the flow computes an operator with what comes before."""
    if _kind(node) not in (*_BOUNDS, "hardsigmoid"):
        return False
    before = node.all_input_nodes[0]
    return _kind(before) in _BOUNDED and len(before.users) == 1


def _has_value(node: Any) -> bool:
    return isinstance(node.meta.get("val"), need("torch").Tensor)


def _is_real(node: Any) -> bool:
    return bool(node.meta["val"].dtype == need("torch").float32)


def _is_number(module: Any, node: Any) -> bool:
    value = constant(module, node)
    return value is not None and value.numel() == 1


def _is_table(region: _Region, nodes: list[Any]) -> bool:
    """Whether operators shall be one table, not bounds of what comes before."""
    if region.root.op == "get_attr" or not _is_real(nodes[-1]):
        return False
    return len(nodes) > 1 or _kind(nodes[0]) not in _BOUNDS


def _call(module: Any, root: Any, nodes: list[Any], number: int) -> Any:
    """Replaces the last node by the call of a module with all."""
    sink = nodes[-1]
    key = f"_table_{number}"
    module.add_submodule(key, _function(module, root, nodes))
    with module.graph.inserting_before(sink):
        call = module.graph.call_module(key, (root,))
    call.meta = dict(sink.meta)
    sink.replace_all_uses_with(call)
    sink_name = sink.name
    module.graph.erase_node(sink)
    call.name = sink_name  # as the float model has it
    return call


def _function(module: Any, root: Any, nodes: list[Any]) -> Any:
    """A module of one tensor that calls the operators."""
    torch = need("torch")
    held: dict[str, Any] = {}
    graph = torch.fx.Graph()
    copies = {root: graph.placeholder("x")}

    def copied(given: Any) -> Any:
        if given not in copies:
            key = f"number_{len(held)}"
            held[key] = constant(module, given)
            copies[given] = graph.get_attr(key)
        return copies[given]

    for node in nodes:
        copies[node] = graph.node_copy(node, copied)
    graph.output(copies[nodes[-1]])
    body = torch.fx.GraphModule(held, graph)

    class PointwiseTable(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.body = body
            self.ember_table = True

        def forward(self, x: Any) -> Any:
            return self.body(x)

    return PointwiseTable()


def quantizer(known: Any, activation: Any) -> Any:
    """A quantizer like `known` that takes regions, too.

    activation -- the specification of int8 inputs and outputs
    """
    specs = need("torchao.quantization.pt2e.quantizer")

    class Tabling(specs.Quantizer):  # type: ignore[misc, name-defined]
        def transform_for_annotation(self, model: Any) -> Any:
            model = known.transform_for_annotation(model)
            as_modules(model)
            return model

        def annotate(self, model: Any) -> Any:
            for node in _calls(model):
                node.meta["quantization_annotation"] = specs.QuantizationAnnotation(
                    input_qspec_map={first(node): activation},
                    output_qspec=activation,
                    _annotated=True,
                )
            return known.annotate(model)

        def validate(self, model: Any) -> None:
            known.validate(model)

    return Tabling()


def _calls(module: Any) -> Iterator[Any]:
    for node in list(module.graph.nodes):
        if is_call(module, node):
            yield node


# ---- behind it -----------------------------------------------------------------------


def to_integers(module: Any) -> None:
    """Replaces the calls between int8 and int8 by tables."""
    for number, node in enumerate(list(_calls(module))):
        steps = [user for user in node.users if _is(user, "quantize_per_tensor")]
        if not _is(first(node), "dequantize_per_tensor") or not steps:
            _inline(module, node)
            continue
        for at, step in enumerate(steps):
            _replace(module, node, step, f"_lut_{number}_{at}")
        if node.users:
            _inline(module, node)
        else:
            module.graph.erase_node(node)
    module.graph.eliminate_dead_code()
    module.delete_all_unused_submodules()
    module.recompile()


def _replace(module: Any, node: Any, step: Any, key: str) -> None:
    """The table in place of a step to int8, on the int8 that the call's input has."""
    torch = need("torch")
    before, after = named(first(node)), named(step)
    integers = torch.arange(-128, 128, dtype=torch.float64)
    real = (integers - before["zero_point"]) * before["scale"]
    with torch.no_grad():
        results = module.get_submodule(node.target)(real.float()).double().flatten()
    if _is_scaled(real, results, before, after):
        step.replace_all_uses_with(before["input"])
        module.graph.erase_node(step)
        return
    table = tables.of(results, after["scale"], after["zero_point"])
    module.register_buffer(key, table)
    target = library.defined().table.default
    with module.graph.inserting_before(step):
        held = module.graph.get_attr(key)
        call = module.graph.call_function(target, (before["input"], held))
    call.meta = dict(node.meta)
    step.replace_all_uses_with(call)
    module.graph.erase_node(step)


_SAME = 2e-3  # between two scales: a quarter of a step at most


def _is_scaled(real: Any, results: Any, before: Any, after: Any) -> bool:
    """Whether a function is a factor that the scales of int8 have already."""
    if before["zero_point"] != after["zero_point"]:
        return False
    factor = after["scale"] / before["scale"]
    return bool(((results - real * factor).abs() <= _SAME * results.abs()).all())


def _inline(module: Any, node: Any) -> None:
    """Puts the operators of a call back, where nothing became int8."""
    body = module.get_submodule(node.target).body
    copies: dict[Any, Any] = {}
    with module.graph.inserting_before(node):
        for each in body.graph.nodes:
            if each.op == "placeholder":
                copies[each] = first(node)
            elif each.op == "get_attr":
                key = f"{node.target}_{each.target}"
                module.register_buffer(key, getattr(body, each.target))
                copies[each] = module.graph.get_attr(key)
            elif each.op == "output":
                node.replace_all_uses_with(copies[first(each)])
            else:
                copies[each] = module.graph.node_copy(each, copies.__getitem__)
    module.graph.erase_node(node)


def _is(node: Any, kind: str) -> bool:
    return getattr(node.target, "__name__", "").partition(".")[0] == kind
