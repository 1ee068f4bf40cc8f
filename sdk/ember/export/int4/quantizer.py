"""ExecuTorch's Cortex-M quantizer becomes one that gives weights of int4.

Linear layers and convolutions of one group get them, with a scale for each filter;
depthwise and transposed convolutions, which have few weights, stay int8.
"""

from __future__ import annotations

from typing import Any

from ember.export.int4 import operators
from ember.export.int4.operators import STEP
from ember.export.packages import need

LEAST, MOST = -8 * STEP, 7 * STEP  # of a weight, in int8
_TRIED = 64  # scales of a filter
_SMALLEST = 0.4  # of them, beside that which fits the largest weight


def quantizer() -> Any:
    """CortexMQuantizer, with int4 where there are layers for it."""
    flow = need("executorch.backends.cortex_m.quantizer.quantizer")

    class Int4Quantizer(flow.CortexMQuantizer):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            known = self.quantizers[0]
            finder = _layers(known.node_finder.targets)
            config = flow.PatternQuantizer(_config(), finder, known.pattern_matcher)
            self.quantizers.insert(0, config)

    return Int4Quantizer()


def round_weights(graph: Any) -> None:
    """Weights of a converted graph become what int4 can say, where it is asked for."""
    for node in graph.graph.nodes:
        name = getattr(node.target, "__name__", "")
        if not name.startswith("dequantize_per_channel") or not _is_int4(node):
            continue
        source = node.args[0]
        owner, _, attribute = source.target.rpartition(".")
        weights = getattr(graph.get_submodule(owner), attribute)
        rows = operators.rows_of(weights.detach())
        last = (len(weights), *weights.shape[2:], weights.shape[1])
        weights.data.copy_(operators.rounded(rows).reshape(last).movedim(-1, 1))


def _is_int4(dequantize: Any) -> bool:
    return tuple(dequantize.args[4:6]) == (LEAST, MOST)


def _layers(targets: Any) -> Any:
    finders = need("executorch.backends.cortex_m.quantizer.node_finders")
    aten = need("torch").ops.aten
    convolution = aten.conv2d.default
    others = [target for target in targets if target is not aten.conv_transpose2d.input]

    class Layers(finders.NodeTargetNodeFinder):  # type: ignore[misc, name-defined]
        def find_nodes(self, model: Any) -> Any:
            for node in super().find_nodes(model):
                groups = node.args[6] if len(node.args) > 6 else 1
                if node.target is not convolution or groups == 1:
                    yield node

    return Layers([*others, aten.linear.default])


def _config() -> Any:
    torch = need("torch")
    configs = need("executorch.backends.cortex_m.quantizer.quantization_configs")
    specs = need("torchao.quantization.pt2e.quantizer")
    weights = specs.QuantizationSpec(
        dtype=torch.int8,
        observer_or_fake_quant_ctr=_observer(),
        quant_min=LEAST,
        quant_max=MOST,
        qscheme=torch.per_channel_symmetric,
        ch_axis=0,
    )
    plain = configs.INT8_PER_CHANNEL_CONFIG
    return configs.CortexMQuantizationConfig(
        plain.input_activation,
        plain.output_activation,
        weights,
        plain.bias,
        "INT4_WEIGHTS",
    )


def _observer() -> Any:
    """Looks at weights for the scale of each filter that loses least."""
    torch, pt2e = need("torch"), need("torchao.quantization.pt2e")

    class Closest(pt2e.PerChannelMinMaxObserver):  # type: ignore[misc, name-defined]
        weights: Any = None

        def forward(self, weights: Any) -> Any:
            self.weights = weights.detach().flatten(1).clone()
            return super().forward(weights)

        def calculate_qparams(self) -> Any:
            scales = _closest(self.weights) / STEP
            return scales, torch.zeros(len(scales), dtype=torch.int32)

    return Closest


def _closest(weights: Any) -> Any:
    """The scale of each row with which int4 is closest to it, by squares."""
    torch = need("torch")
    most = weights.abs().amax(1).clamp(min=1e-20)
    best, loss = most / 7, torch.full_like(most, torch.inf)
    for share in torch.linspace(_SMALLEST, 1, _TRIED):
        scales = share * most / 7
        levels = (weights / scales[:, None]).round().clamp(-8, 7)
        error = (levels * scales[:, None] - weights).square().sum(1)
        better = error < loss
        best, loss = (
            torch.where(better, scales, best),
            torch.where(better, error, loss),
        )
    return best
