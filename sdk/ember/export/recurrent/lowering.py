"""Recurrent layers of a calibrated graph become operators of integers."""

from __future__ import annotations

import operator
from typing import Any

from ember.export.packages import need
from ember.export.recurrent import layers, numbers
from ember.export.recurrent.numbers import Integers, Scale
from ember.export.signal import operators


def to_integers(graph_module: Any) -> None:
    """Replace all calls of layers.module() by operators of integers, with their
    steps from and to float around them."""
    calls = [
        node for node in graph_module.graph.nodes if layers.is_call(graph_module, node)
    ]
    for number, node in enumerate(calls):
        _replace(graph_module, node, f"_recurrent_{number}")
    if calls:
        graph_module.graph.eliminate_dead_code()
        graph_module.delete_all_unused_submodules()
        graph_module.recompile()


def _replace(graph_module: Any, node: Any, name: str) -> None:
    kind = graph_module.get_submodule(node.target).ember_recurrent
    integers, inputs = _integers(graph_module, node, kind)
    graph = graph_module.graph
    with graph.inserting_before(node):
        held = [
            _hold(graph_module, f"{name}_{role}", tensor)
            for role, tensor in integers.tensors.items()
        ]
        given = [
            value and _quantised(graph, value, scale)
            for value, scale in zip(inputs, integers.inputs, strict=True)
        ]
        target = getattr(operators.defined(), f"quantized_{kind}").default
        call = graph.call_function(target, (*given, *held, *integers.words))
        call.meta = dict(node.meta)
        outputs = [
            _real(graph, graph.call_function(operator.getitem, (call, index)), scale)
            for index, scale in enumerate(integers.outputs)
        ]
    for user in list(node.users):
        output, name = outputs[user.args[1]], user.name
        user.replace_all_uses_with(output)
        graph.erase_node(user)
        output.meta, output.name = dict(user.meta), name  # as the float model has it
    graph.erase_node(node)


def _integers(graph_module: Any, node: Any, kind: str) -> tuple[Integers, list[Any]]:
    """The numbers of a call, and the nodes of its inputs in float."""
    most = graph_module.get_submodule(node.target).most
    edges = (Scale(*node.args[0].args[1:3]), _output_scale(node))
    if kind == "svdf":
        *inputs, weights, times, bias, rank = node.args
        values = [_value(graph_module, each) for each in (weights, times, bias)]
        return numbers.of_svdf(most, values, rank, *edges), inputs
    *given, batch_first, is_reverse = node.args
    values = [_value(graph_module, each) for each in given[-4:]]
    flags = (batch_first, is_reverse)
    return numbers.of_layer(kind, most, values, flags, *edges), given[:-4]


def _output_scale(node: Any) -> Scale:
    """How the quantiser has y; of outputs that nothing uses, the whole range."""
    for user in node.users:
        if user.args[1] == 0:
            for step in user.users:
                if _is(step, "quantize_per_tensor"):
                    return Scale(*step.args[1:3])
    return Scale(1 / 128, 0)


def _value(graph_module: Any, node: Any) -> Any:
    if node is None:
        return None
    owner, _, attribute = node.target.rpartition(".")
    return getattr(graph_module.get_submodule(owner), attribute).detach()


def _hold(graph_module: Any, name: str, tensor: Any) -> Any:
    graph_module.register_buffer(name, tensor.contiguous())
    return graph_module.graph.get_attr(name)


def _quantised(graph: Any, node: Any, scale: Scale) -> Any:
    step = need("torch").ops.quantized_decomposed.quantize_per_tensor.default
    return graph.call_function(step, (node, *scale.arguments))


def _real(graph: Any, node: Any, scale: Scale) -> Any:
    step = need("torch").ops.quantized_decomposed.dequantize_per_tensor.default
    return graph.call_function(step, (node, *scale.arguments))


def _is(node: Any, name: str) -> bool:
    return getattr(node.target, "__name__", "").partition(".")[0] == name


def fold_steps(graph_module: Any) -> None:
    """A step to float and the same one back are none."""
    for node in list(graph_module.graph.nodes):
        if not _is(node, "quantize_per_tensor"):
            continue
        before = node.args[0]
        if _is(before, "dequantize_per_tensor") and before.args[1:] == node.args[1:]:
            node.replace_all_uses_with(before.args[0])
            graph_module.graph.erase_node(node)
    graph_module.graph.eliminate_dead_code()
    graph_module.recompile()
