"""Layers of the Cortex-M flow become ember::quantized_*_int4, with int8 activations.

Linear layers and convolutions of one group get weights of int4, with a scale for each
filter; depthwise and transposed convolutions, which have few weights, stay int8.
Weights of int4 stand for some values of int8: sums, scales and their rounding are those
of int8, and the program has half of the bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ember.export.cortex_m.passes import name
from ember.export.graph import first, named
from ember.export.operators import int4, library
from ember.export.operators.int4 import STEP, packed, rows_of
from ember.export.packages import need

# ---- the quantizer -------------------------------------------------------------------

LEAST, MOST = -8 * STEP, 7 * STEP  # of a weight, in int8
_TRIED = 64  # scales of a filter
_SMALLEST = 0.4  # of them, beside that which fits the largest weight


def quantizer() -> Any:
    """A CortexMQuantizer with int4 weights in the layers that can have them."""
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
    """Rounds the weights of a converted graph to values of int4, where requested."""
    for node in graph.graph.nodes:
        name = getattr(node.target, "__name__", "")
        if not name.startswith("dequantize_per_channel") or not _has_int4(node):
            continue
        source = first(node)
        owner, _, attribute = source.target.rpartition(".")
        weights = getattr(graph.get_submodule(owner), attribute)
        rows = int4.rows_of(weights.detach())
        last = (len(weights), *weights.shape[2:], weights.shape[1])
        weights.data.copy_(int4.rounded(rows).reshape(last).movedim(-1, 1))


def _has_int4(dequantize: Any) -> bool:
    step = named(dequantize)
    return (step["quant_min"], step["quant_max"]) == (LEAST, MOST)


def _layers(targets: Any) -> Any:
    finders = need("executorch.backends.cortex_m.quantizer.node_finders")
    aten = need("torch").ops.aten
    convolution = aten.conv2d.default
    others = [target for target in targets if target is not aten.conv_transpose2d.input]

    class Layers(finders.NodeTargetNodeFinder):  # type: ignore[misc, name-defined]
        def find_nodes(self, model: Any) -> Any:
            for node in super().find_nodes(model):
                if node.target is not convolution or named(node)["groups"] == 1:
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
    """An observer that finds the scale of each filter with the least error."""
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
    """The scale of each row with the smallest squared error of int4."""
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


# ---- lowering ------------------------------------------------------------------------

_LINEAR, _CONVOLUTION = "aten.linear.default", "aten.convolution.default"


def passes(flow: list[type]) -> list[type]:
    """The passes of the flow, with ours before those that replace layers of int8."""
    at = [pass_.__name__ for pass_ in flow].index("ActivationFusionPass") + 1
    return [*flow[:at], Int4Layers, *flow[at:]]


def drop_unused(program: Any) -> None:
    """Removes weights that others replaced, of int4 or laid out for int16."""
    targets = [str(node.target) for node in program.graph.nodes]
    if not any("int4" in target or "int16" in target for target in targets):
        return
    utils = need("executorch.backends.transforms.utils")
    constants = program.graph_signature.inputs_to_parameters
    constants = {**constants, **program.graph_signature.inputs_to_buffers}
    for node in list(program.graph.nodes):
        if node.op == "placeholder" and node.name in constants and not node.users:
            utils.delete_constant_placeholder(program, node)


class Int4Layers:
    """Replaces linear layers and convolutions whose weights are of int4."""

    def __init__(self, exported_program: Any) -> None:
        self.program = exported_program

    def __call__(self, module: Any) -> Any:
        results = need("torch.fx.passes.infra.pass_base")
        layers = [node for node in module.graph.nodes if _is_int4(node)]
        for node in layers:
            self._replace(node)
        if layers:
            module.recompile()
        return results.PassResult(module, bool(layers))

    def _replace(self, node: Any) -> None:
        library.defined()
        ember = need("executorch.exir.dialects._ops").ops.edge.ember
        linear = name(node) == _LINEAR
        arguments = (self._linear if linear else self._convolution)(node)
        target = ember.quantized_linear_int4 if linear else ember.quantized_conv2d_int4
        with node.graph.inserting_before(node):
            layer = node.graph.call_function(target.default, arguments)
        layer.meta = dict(node.meta)
        node.replace_all_uses_with(layer)
        node.graph.erase_node(node)

    def _linear(self, node: Any) -> tuple[Any, ...]:
        """A linear layer is never padded: its zero point is a constant part of the
        bias."""
        torch = need("torch")
        given = named(node)
        weights = self._constant(given["weight"])
        offset = -_scaled(node, "input_qparams", 0).zp
        bias = weights.to(torch.int32).sum(1, dtype=torch.int32) * offset
        if given["bias"] is not None:
            bias = bias + self._constant(given["bias"])
        layer = (self._packed(node, weights), self._hold(node, "bias", bias), 0)
        return (given["input"], *layer, *self._scales(node))

    def _convolution(self, node: Any) -> tuple[Any, ...]:
        given = named(node)
        weights = self._constant(given["weight"])
        window = (given["stride"], given["padding"], given["dilation"])
        lists = (*window, list(weights.shape[2:]))
        offset = -_scaled(node, "input_qparams", 0).zp
        rows = self._packed(node, weights)
        return (
            given["input"],
            rows,
            given["bias"],
            *lists,
            offset,
            *self._scales(node),
        )

    def _packed(self, node: Any, weights: Any) -> Any:
        return self._hold(node, "weights_int4", packed(rows_of(weights)))

    def _scales(self, node: Any) -> tuple[Any, ...]:
        torch = need("torch")
        utils = need("executorch.backends.cortex_m.passes.passes_utils")
        x = _scaled(node, "input_qparams", 0).scale
        result = _scaled(node, "output_qparams", 0)
        pairs = [
            utils.quantize_multiplier_aot(x * scale / result.scale)
            for scale in _scaled(node, "input_qparams", 1).scale
        ]
        held = (
            self._hold(node, role, torch.tensor(numbers, dtype=torch.int32))
            for role, numbers in zip(
                ("multipliers", "shifts"), zip(*pairs, strict=True), strict=True
            )
        )
        return (result.zp, *held, result.qmin, result.qmax)

    def _constant(self, node: Any) -> Any:
        utils = need("executorch.backends.transforms.utils")
        return utils.get_param_tensor(self.program, node)

    def _hold(self, node: Any, role: str, tensor: Any) -> Any:
        """Adds a constant to the program, before its inputs."""
        utils = need("executorch.backends.transforms.utils")
        kinds = need("torch.export.graph_signature").InputKind
        with node.graph.inserting_before(_first(node.graph.nodes)):
            return utils.create_constant_placeholder(
                self.program, node.graph, f"{node.name}_{role}", kinds.PARAMETER, tensor
            )


def _first(nodes: Sequence[Any]) -> Any:
    return next(node for node in nodes if node.op == "placeholder")


def _scaled(node: Any, role: str, index: int) -> Any:
    return node.meta[role][index]


def _is_int4(node: Any) -> bool:
    if node.op != "call_function" or name(node) not in (_LINEAR, _CONVOLUTION):
        return False
    weights = (node.meta.get("input_qparams") or {}).get(1)
    result = (node.meta.get("output_qparams") or {}).get(0)
    if weights is None or result is None:
        return False
    return (weights.qmin, weights.qmax) == (LEAST, MOST)
