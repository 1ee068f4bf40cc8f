"""Operators that only move numbers move int8, with the scale that these have already.

ExecuTorch's quantizer knows most of them; these it leaves in float.
"""

from __future__ import annotations

from typing import Any

from ember.export.canonical.editing import is_float, name
from ember.export.packages import need

_MOVES = (
    "embedding.default",
    "reflection_pad2d.default",
    "replication_pad2d.default",
    "upsample_nearest2d.default",
    "upsample_nearest2d.vec",
)

_ANNOTATION = "quantization_annotation"


def quantizer(known: Any, activation: Any) -> Any:
    """A quantizer like `known` that takes moves, too.

    activation -- the specification of int8 inputs
    """
    specs = need("torchao.quantization.pt2e.quantizer")
    marks = need("executorch.backends.arm.quantizer.arm_quantizer_utils")

    class Moving(specs.Quantizer):  # type: ignore[misc, name-defined]
        def transform_for_annotation(self, model: Any) -> Any:
            return known.transform_for_annotation(model)

        def annotate(self, model: Any) -> Any:
            for node in model.graph.nodes:
                if name(node) in _MOVES and is_float(node):
                    x = node.args[0]
                    shared = specs.SharedQuantizationSpec((x, node))
                    marks._mark_node_as_quantized(node, {x: activation}, shared, True)
            known.annotate(model)
            for node in model.graph.nodes:
                _keep_fixed(node)
            return model

        def validate(self, model: Any) -> None:
            known.validate(model)

    return Moving()


def _keep_fixed(node: Any) -> None:
    """Lets an operator read what has a fixed scale, such as a softmax, as it is."""
    specs = need("torchao.quantization.pt2e.quantizer")
    annotation = node.meta.get(_ANNOTATION)
    if annotation is None:
        return
    for x, spec in annotation.input_qspec_map.items():
        fixed = _result_of(x)
        if isinstance(fixed, specs.FixedQParamsQuantizationSpec) and isinstance(
            spec, specs.QuantizationSpec
        ):
            annotation.input_qspec_map[x] = fixed


def _result_of(node: Any) -> Any:
    """How a node's result is quantised, or that which it shares."""
    specs = need("torchao.quantization.pt2e.quantizer")
    annotation = node.meta.get(_ANNOTATION)
    spec = annotation.output_qspec if annotation is not None else None
    if not isinstance(spec, specs.SharedQuantizationSpec):
        return spec
    shared = spec.edge_or_node
    return _result_of(shared[0]) if isinstance(shared, tuple) else None
