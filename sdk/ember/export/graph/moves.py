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
            return known.annotate(model)

        def validate(self, model: Any) -> None:
            known.validate(model)

    return Moving()
