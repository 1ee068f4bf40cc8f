"""ExecuTorch's Cortex-M flow: a model becomes int8, then operators of its dialect.

Weights can be int4, or activations int16. Weights are laid out, and kernel sums and
scratch added, for the instruction set of one core; other cores also run the program.
"""

from __future__ import annotations

from typing import Any

from ember.export import quantising
from ember.export.calibration import Calibration
from ember.export.cortex_m import int4, int16, int16_quantizer, passes
from ember.export.graph import moves, norm_integers, recurrent_integers, tables
from ember.export.packages import need

# What the flow's own tests keep whole; the list is new each time, to_edge extends it.
_KEPT = ("linear", "hardsigmoid", "hardsigmoid_", "hardswish", "hardswish_", "silu")
_LAYERS = (
    "2-d convolution or pooling, linear layer, matrix product, addition,"
    " multiplication, softmax, normalisation, activation, LSTM or GRU that int8 for"
    " Cortex-M takes"
)


def quantised(
    model: Any, calibration: Calibration, quantize: str = "int8"
) -> tuple[Any, tuple[str, ...]]:
    """Quantises a model in evaluation mode, calibrated by inputs; the graph, and notes
    about layers that stay in float.

    quantize -- int8, int4w8a or int16x8
    """
    if quantising.is_quantised(model):
        return model, ("the model is quantised already: it keeps its scales",)
    flow = need("executorch.backends.cortex_m.quantizer.quantizer")
    configs = need("executorch.backends.cortex_m.quantizer.quantization_configs")
    activation = configs.INT8_PER_TENSOR_CONFIG.input_activation
    make, rounding = {
        "int8": (flow.CortexMQuantizer, None),
        "int4w8a": (int4.quantizer, int4.round_weights),
        "int16x8": (int16_quantizer.quantizer, None),
    }[quantize]
    notes: list[str] = []
    quantizer = make()
    fusing = quantize != "int16x8"  # recurrent layers and normalisation take int8
    if fusing:
        quantizer = recurrent_integers.fusing(quantizer, activation, notes)
        quantizer = norm_integers.fusing(quantizer, activation)
        quantizer = moves.quantizer(quantizer, activation)
        quantizer = tables.quantizer(quantizer, activation)
    model = quantising.calibrated(
        model,
        calibration,
        quantizer,
        _LAYERS,
        rounding,
        fusing=fusing,
        canonical=True,
    )
    return model, tuple(notes)


def lowered(
    exported: Any, core: str, constants: dict[str, Any], recorded: bool = False
) -> Any:
    """Lowers a quantised graph to the dialect of a core, such as cortex-m55.

    constants -- results of further methods
    recorded -- whether an ETRecord is kept
    """
    torch, exir = need("torch"), need("executorch.exir")
    targets = need("executorch.backends.cortex_m.target_config")
    managers = need("executorch.backends.cortex_m.passes.cortex_m_pass_manager")
    aten = torch.ops.aten
    config = exir.EdgeCompileConfig(
        preserve_ops=[getattr(aten, name).default for name in _KEPT],
        _check_ir_validity=False,
        _core_aten_ops_exception_list=[aten.max_pool2d.default],
    )
    edge = exir.to_edge(
        exported,
        constant_methods=constants or None,
        compile_config=config,
        generate_etrecord=recorded,
    )
    flow = passes.agreeing(passes.fusing(managers.CortexMPassManager.pass_list))
    for narrower in (int4, int16):
        flow = narrower.passes(flow)
    target = targets.CortexMTargetConfig.from_target_string(core)
    manager = managers.CortexMPassManager(edge.exported_program(), flow, target)
    program = manager.transform()
    int4.drop_unused(program)
    passes.check(program.graph)
    if not any(_computes(node) for node in program.graph.nodes):
        raise quantising.NothingQuantisedError(_LAYERS)
    edge._edge_programs["forward"] = program  # there is no public way to put it back
    return edge


def _computes(node: Any) -> bool:
    """Whether this is an operator of the dialect other than a step from or to float."""
    name = str(node.target)
    if "quantize_per_tensor" in name:
        return False
    return "cortex_m" in name or "ember.quantized_" in name
