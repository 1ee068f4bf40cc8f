"""ExecuTorch's Cortex-M flow: int8 by its quantizer, then its own operators.

Weights are laid out, and kernel sums and scratch added, for the instruction set of one
core; other cores run the program, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ember.export import fusion, orders, quantising
from ember.export.damage import Damage
from ember.export.int4 import lowering
from ember.export.int4 import quantizer as int4
from ember.export.packages import need
from ember.export.recurrent import quantizer as recurrent
from ember.export.source import Sample

# What the flow's own tests keep whole; the list is new each time, to_edge extends it.
_KEPT = ("linear", "hardsigmoid", "hardsigmoid_", "hardswish", "hardswish_", "silu")
_LAYERS = (
    "2-d convolution or pooling, linear layer, matrix product, addition,"
    " multiplication, softmax, activation, LSTM or GRU that int8 for Cortex-M takes"
)


def quantised(
    model: Any,
    calibration: Sequence[Sample],
    damage: Damage | None = None,
    *,
    narrow: bool = False,
) -> tuple[Any, tuple[str, ...]]:
    """Quantise a model in evaluation mode to int8, calibrated by inputs; if `narrow`,
    with weights of int4. And what to say of layers that stay in float."""
    flow = need("executorch.backends.cortex_m.quantizer.quantizer")
    configs = need("executorch.backends.cortex_m.quantizer.quantization_configs")
    activation = configs.INT8_PER_TENSOR_CONFIG.input_activation
    known = int4.quantizer() if narrow else flow.CortexMQuantizer()
    notes: list[str] = []
    model = quantising.calibrated(
        model,
        calibration,
        recurrent.fusing(known, activation, notes),
        _LAYERS,
        damage,
        int4.round_weights if narrow else None,
        fusing=True,
    )
    return model, tuple(notes)


def lowered(
    exported: Any, core: str, constants: dict[str, Any], recorded: bool = False
) -> Any:
    """Take a quantised graph to the dialect of a core, cortex-m55 for example, with
    methods that give `constants`, and with an ETRecord if `recorded`."""
    torch, exir = need("torch"), need("executorch.exir")
    targets = need("executorch.backends.cortex_m.target_config")
    passes = need("executorch.backends.cortex_m.passes.cortex_m_pass_manager")
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
    flow = passes.CortexMPassManager.pass_list
    target = targets.CortexMTargetConfig.from_target_string(core)
    manager = passes.CortexMPassManager(
        edge.exported_program(),
        orders.passes(lowering.passes(fusion.passes(flow))),
        target,
    )
    program = manager.transform()
    lowering.drop_unused(program)
    fusion.check(program.graph)
    if not any(_computes(node) for node in program.graph.nodes):
        raise quantising.NothingQuantisedError(_LAYERS)
    edge._edge_programs["forward"] = program  # there is no public way to put it back
    return edge


def _computes(node: Any) -> bool:
    """Whether this is of the dialect, and no change from or to float alone."""
    name = str(node.target)
    if "quantize_per_tensor" in name:
        return False
    return "cortex_m" in name or "ember.quantized_" in name
