"""Outputs that follow from constants alone become constants of their own.

XNNPACK keeps the constants that it reads for itself; the exporter then refuses one that
is an output, too, and a copy of one ends the interpreter.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ember.export import states
from ember.export.packages import need


def apart(exported: Any) -> None:
    """Changes the outputs of an exported graph that are constants."""
    known = _known(exported)
    end = exported.graph.output_node()
    outputs, constant = list(end.args[0]), _constant(exported.graph, known)
    specs = exported.graph_signature.output_specs
    for number, (node, spec) in enumerate(zip(outputs, specs, strict=True)):
        if node in constant:
            value = _value(node, known).detach().clone()
            outputs[number] = _added(exported, f"constant_output_{number}", value)
            spec.arg.name = outputs[number].name
    end.args = (type(end.args[0])(outputs), *end.args[1:])
    exported.graph.eliminate_dead_code()
    exported.graph_module.recompile()


def _known(exported: Any) -> Mapping[str, Any]:
    """The constants of a graph by the names of their nodes; states are none."""
    signature = exported.graph_signature
    changed = set(signature.buffers_to_mutate.values())
    names = dict(signature.inputs_to_parameters)
    if not any(map(states.is_in_place, exported.graph.nodes)):  # which change buffers
        names |= signature.inputs_to_buffers
        names |= signature.inputs_to_lifted_tensor_constants
    values = {**exported.constants, **exported.state_dict}
    return {node: values[name] for node, name in names.items() if name not in changed}


def _constant(graph: Any, known: Mapping[str, Any]) -> set[Any]:
    """The nodes that follow from constants alone."""
    fixed: set[Any] = set()
    for node in graph.nodes:
        inputs = node.all_input_nodes
        if node.name in known or (inputs and fixed.issuperset(inputs)):
            fixed.add(node)
    return fixed


def _value(node: Any, known: Mapping[str, Any]) -> Any:
    if node.op == "placeholder":
        return known[node.name]

    def value(argument: Any) -> Any:
        return _value(argument, known)

    map_arg = need("torch.fx.node").map_arg
    return node.target(*map_arg(node.args, value), **map_arg(node.kwargs, value))


def _added(exported: Any, name: str, value: Any) -> Any:
    utils = need("executorch.backends.transforms.utils")
    kinds = need("torch.export.graph_signature").InputKind
    first = next(iter(exported.graph.nodes))
    with exported.graph.inserting_before(first):
        return utils.create_constant_placeholder(
            exported, exported.graph, name, kinds.BUFFER, value, persistent_buffer=True
        )
