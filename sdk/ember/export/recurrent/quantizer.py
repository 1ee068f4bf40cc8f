"""A quantizer becomes one that also takes recurrent layers: int8 in and out, and all
else is theirs."""

from __future__ import annotations

import operator
from typing import Any

from ember.export.packages import need
from ember.export.recurrent import layers
from ember.export.signal import operators


def fusing(known: Any, activation: Any, notes: list[str]) -> Any:
    """`known` with recurrent layers fused; what is not is told to `notes`.

    activation -- the specification of int8 that goes in and comes out
    """
    specs = need("torchao.quantization.pt2e.quantizer")

    class Fusing(specs.Quantizer):  # type: ignore[misc, name-defined]
        def transform_for_annotation(self, model: Any) -> Any:
            operators.defined()
            notes.extend(layers.fold(model))
            model = known.transform_for_annotation(model)
            layers.as_modules(model)
            return model

        def annotate(self, model: Any) -> Any:
            calls = [node for node in model.graph.nodes if layers.is_call(model, node)]
            for call in calls:
                _annotate(call)
            model = known.annotate(model)
            _leave(model.graph, [node for call in calls for node in _states(call)])
            return model

        def validate(self, model: Any) -> None:
            known.validate(model)

    def _annotate(call: Any) -> None:
        call.meta["quantization_annotation"] = specs.QuantizationAnnotation(
            input_qspec_map={call.args[0]: activation}, _annotated=True
        )
        for user in call.users:
            first = user.target is operator.getitem and user.args[1] == 0
            user.meta["quantization_annotation"] = specs.QuantizationAnnotation(
                output_qspec=activation if first else None, _annotated=True
            )
        for node in layers.states_of(call):
            node.meta["quantization_annotation"] = specs.QuantizationAnnotation(
                _annotated=True
            )

    def _leave(graph: Any, states: list[Any]) -> None:
        """Do not take inputs and outputs that are states to int8."""
        none = specs.QuantizationAnnotation(_annotated=True)
        for node in states:
            if node.op == "placeholder":
                node.meta["quantization_annotation"] = none
        edges = graph.output_node().meta.get("quantization_annotation")
        for node in states if edges is not None else ():
            edges.input_qspec_map.pop(node, None)

    return Fusing()


def _states(call: Any) -> list[Any]:
    """Nodes of the states of a layer, from where they come and to where they go."""
    moves = layers.states_of(call)
    ends = [user for user in call.users if user.args[1] > 0]
    nodes = {node for move in (call, *moves) for node in move.all_input_nodes}
    return [*moves, *ends, *nodes - {call.args[0]}]
