"""ExecuTorch's flow for Xtensa: int8 by its quantizer, then operators of `cadence`.

Wherever a multiplier scales sums, the dialect's Python returns the negative of what its
C++ returns: it takes 1 << 31 for positive. So the expected outputs are computed with
negated multipliers.
"""

from __future__ import annotations

import sys
import typing
from collections.abc import Mapping, Sequence
from typing import Any

from ember.export import faults, quantising
from ember.export.graph import states
from ember.export.packages import need
from ember.export.source import Sample

_LAYERS = (
    "convolution, linear layer, matrix product, relu or maximum pool that int8 of the"
    " Cadence flow takes"
)
_COMPILER = "executorch.backends.cadence.aot.compiler"


def _compiler() -> Any:
    if faults.has("override") and sys.version_info < (3, 12):
        typing.override = need("typing_extensions").override  # type: ignore[attr-defined]
    return need(_COMPILER)


def quantised(model: Any, inputs: Sample, samples: Sequence[Sample]) -> tuple[Any, Any]:
    """The graph of a model in int8, calibrated by samples, and its quantizer."""
    compiler = _compiler()
    quantizer = compiler.CadenceDefaultQuantizer()
    prepared = compiler.prepare_pt2(model, inputs, quantizer)
    for sample in samples:
        prepared(*sample)
    converted = compiler.convert_pt2(prepared)
    if not any("quantize" in str(node.target) for node in converted.graph.nodes):
        raise quantising.NothingQuantisedError(_LAYERS)
    exported = need("torch").export.export(converted, inputs, strict=True)
    return exported, quantizer


def lowered(exported: Any, quantizer: Any, constants: Mapping[str, Any]) -> Any:
    """Lowers a graph to the dialect.

    quantizer -- None for a graph in floating point
    constants -- further methods of the program, which return a number
    """
    compiler = _compiler()
    if quantizer is not None:
        exported = compiler.apply_pre_edge_transform_passes(exported, quantizer)
    edge = compiler._lower_ep_to_cadence(exported)
    if constants and faults.has("constant methods"):
        edge._config_methods = {**(edge._config_methods or {}), **constants}
    return edge


def traced(model: Any, inputs: Sample) -> Any:
    """The graph of a model in the form that the flow needs."""
    return _compiler().trace(model, inputs)


def outputs_of(module: Any, changed: Sequence[int]) -> states.Run:
    """Runs a module of the dialect in its corrected Python."""
    modes = need("torch.utils._python_dispatch")
    need("executorch.backends.cadence.aot.ref_implementations")

    class Corrected(modes.TorchDispatchMode):  # type: ignore[misc, name-defined]
        def __torch_dispatch__(
            self, function: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            names = [argument.name for argument in function._schema.arguments]
            if function.namespace == "cadence" and "out_multiplier" in names:
                at = names.index("out_multiplier")
                args = (*args[:at], -args[at], *args[at + 1 :])
            return function(*args, **(kwargs or {}))

    run = states.run_of(module, changed)
    if not faults.has("signs"):
        return run

    def outputs(samples: Sequence[Sample]) -> list[Any]:
        with Corrected():
            return run(samples)

    return outputs
