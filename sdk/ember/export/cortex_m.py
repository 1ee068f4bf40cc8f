"""ExecuTorch's Cortex-M flow: int8 by its quantizer, then its own operators.

Weights are laid out, and kernel sums and scratch added, for the instruction set of one
core; other cores run the program, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ember.export import fusion
from ember.export.packages import need

# What the flow's own tests keep whole; the list is new each time, to_edge extends it.
_KEPT = ("linear", "hardsigmoid", "hardsigmoid_", "hardswish", "hardswish_", "silu")


def quantised(model: Any, calibration: Sequence[tuple[Any, ...]]) -> Any:
    """Quantise a model in evaluation mode to int8, calibrated by inputs."""
    torch = need("torch")
    quantizer = need("executorch.backends.cortex_m.quantizer.quantizer")
    steps = need("torchao.quantization.pt2e.quantize_pt2e")
    graph = torch.export.export(model, calibration[0], strict=True)
    module = graph.module(check_guards=False)
    prepared = steps.prepare_pt2e(module, quantizer.CortexMQuantizer())
    for sample in calibration:
        prepared(*sample)
    return steps.convert_pt2e(prepared)


def lowered(model: Any, sample: tuple[Any, ...], core: str) -> Any:
    """Take a quantised model to the dialect of a core, cortex-m55 for example."""
    torch, exir = need("torch"), need("executorch.exir")
    targets = need("executorch.backends.cortex_m.target_config")
    passes = need("executorch.backends.cortex_m.passes.cortex_m_pass_manager")
    aten = torch.ops.aten
    config = exir.EdgeCompileConfig(
        preserve_ops=[getattr(aten, name).default for name in _KEPT],
        _check_ir_validity=False,
        _core_aten_ops_exception_list=[aten.max_pool2d.default],
    )
    edge = exir.to_edge(torch.export.export(model, sample), compile_config=config)
    target = targets.CortexMTargetConfig.from_target_string(core)
    manager = passes.CortexMPassManager(
        edge.exported_program(),
        fusion.passes(passes.CortexMPassManager.pass_list),
        target,
    )
    program = manager.transform()
    fusion.check(program.graph)
    edge._edge_programs["forward"] = program  # there is no public way to put it back
    return edge
