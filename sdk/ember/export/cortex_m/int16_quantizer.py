"""The quantizer of int16 activations: the Cortex-M flow's own with other settings.

It finds the operators of int8 except those without a kernel of int16, which stay float,
between steps from and to it. Biases also stay float, until lowering knows how far sums
reach.
"""

from __future__ import annotations

from typing import Any

from ember.export.operators.int16 import MOST
from ember.export.packages import need

_SMALLEST = 2.0**-60  # a scale; the observers' own would take from small activations
_ROOM = 2  # the range, beside what samples reach: a bit of sixteen
_FLOAT = ("bmm", "conv_transpose", "hardsigmoid", "hardswish", "max_pool2d", "softmax")
# Operators whose results are elements of their inputs, or limited by numbers.
_SHARED = (
    *("clone", "contiguous", "alias", "alias_copy", "lift_fresh_copy", "detach_copy"),
    *("view", "view_copy", "_unsafe_view", "reshape", "flatten", "unflatten"),
    *("squeeze", "squeeze_copy", "unsqueeze", "unsqueeze_copy"),
    *("permute", "permute_copy", "transpose", "transpose_copy", "t", "t_copy"),
    *("expand", "expand_copy", "repeat", "select", "select_copy", "slice"),
    *("slice_copy", "split", "split_with_sizes", "split_copy", "chunk", "unbind"),
    *("flip", "cat", "concatenate", "stack", "pixel_shuffle", "pixel_unshuffle"),
    *("pad", "constant_pad_nd", "dropout", "dropout_", "max_pool2d"),
    *("relu", "relu_", "clamp", "hardtanh", "hardtanh_", "relu6"),
)
# What the exporter keeps whole of functions of one number.
TABLES = (
    *("sigmoid", "tanh", "silu", "hardsigmoid", "hardswish", "gelu", "elu"),
    "leaky_relu",
)


def quantizer() -> Any:
    """A CortexMQuantizer with other settings."""
    flow = need("executorch.backends.cortex_m.quantizer.quantizer")
    finders = need("executorch.backends.cortex_m.quantizer.node_finders")
    matching = need("executorch.backends.cortex_m.quantizer.pattern_matcher")

    class Int16Quantizer(flow.CortexMQuantizer):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            matcher = matching.PatternMatcher(_patterns())
            self.quantizers = [
                flow.PatternQuantizer(_config(), finders.GlobalNodeFinder(), matcher),
                flow.SharedQspecQuantizer(_shared()),
            ]

    return Int16Quantizer()


def _patterns() -> dict[Any, Any]:
    """The flow's patterns, with only its checks of shapes and layouts."""
    support = need("executorch.backends.cortex_m.quantizer.quantizer_support")
    aten = need("torch").ops.aten
    supported = support.CORTEX_M_QUANTIZER_SUPPORT_DICT
    patterns = {
        pattern: _accepting(check)
        for pattern, check in supported.items()
        if not any(word in str(target) for target in pattern for word in _FLOAT)
    }
    plain, named = aten.hardtanh.default, aten.relu6.default
    sixes = {
        (*pattern[:-1], named): check
        for pattern, check in patterns.items()
        if pattern[-1] is plain
    }
    table = patterns[(aten.sigmoid.default,)]
    tables = {(getattr(aten, name).default,): table for name in TABLES}
    return {**patterns, **sixes, **tables}


def _accepting(check: Any) -> Any:
    class Accepting(check):  # type: ignore[misc]
        @classmethod
        def check_quantization_config(cls, pattern: Any, config: Any) -> bool:
            return True

    return Accepting


def _shared() -> list[Any]:
    aten = need("torch").ops.aten
    packets = [getattr(aten, name) for name in _SHARED]
    operators = [
        getattr(packet, overload)
        for packet in packets
        for overload in packet.overloads()
        if not overload.endswith("out") and overload != "Tensor_Tensor"
    ]
    return [*operators, need("operator").getitem]


def _config() -> Any:
    torch = need("torch")
    configs = need("executorch.backends.cortex_m.quantizer.quantization_configs")
    specs = need("torchao.quantization.pt2e.quantizer")
    pt2e = need("torchao.quantization.pt2e")
    activations = specs.QuantizationSpec(
        dtype=torch.int16,
        observer_or_fake_quant_ctr=_observer(),
        quant_min=-MOST,
        quant_max=MOST,
        qscheme=torch.per_tensor_symmetric,
    )
    weights = specs.QuantizationSpec(
        dtype=torch.int8,
        observer_or_fake_quant_ctr=pt2e.PerChannelMinMaxObserver,
        quant_min=-127,
        quant_max=127,
        qscheme=torch.per_channel_symmetric,
        ch_axis=0,
    )
    return configs.CortexMQuantizationConfig(
        activations, activations, weights, None, "INT16_ACTIVATIONS"
    )


def _observer() -> Any:
    """An observer of activations, with a wider range than the samples have."""
    pt2e = need("torchao.quantization.pt2e")

    class Roomy(pt2e.MinMaxObserver):  # type: ignore[misc, name-defined]
        def calculate_qparams(self) -> Any:
            scale, zero_point = super().calculate_qparams()
            return scale * _ROOM, zero_point

    return Roomy.with_args(eps=_SMALLEST)
