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
            for node in model.graph.nodes:
                if layers.is_call(model, node):
                    _annotate(node)
            return known.annotate(model)

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

    return Fusing()
