"""Layers of the Cortex-M flow with weights of int4 become ember::quantized_*_int4."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ember.export.int4.operators import packed, rows_of
from ember.export.int4.quantizer import LEAST, MOST
from ember.export.orders import name
from ember.export.packages import need
from ember.export.signal import operators

_LINEAR, _CONVOLUTION = "aten.linear.default", "aten.convolution.default"


def passes(flow: list[type]) -> list[type]:
    """The passes of the flow, with ours before those that replace layers of int8."""
    at = [pass_.__name__ for pass_ in flow].index("AtenToCortexMPass")
    return [*flow[:at], Int4Layers, *flow[at:]]


def drop_unused(program: Any) -> None:
    """Weights go when others stand for them, of int4 or laid out for int16."""
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
        operators.defined()
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
        """No padding: what the zero point adds is constant, a part of the bias."""
        torch = need("torch")
        weights = self._constant(node.args[1])
        offset = -_scaled(node, "input_qparams", 0).zp
        bias = weights.to(torch.int32).sum(1, dtype=torch.int32) * offset
        if len(node.args) > 2 and node.args[2] is not None:
            bias = bias + self._constant(node.args[2])
        own = (self._packed(node, weights), self._hold(node, "bias", bias), 0)
        return (node.args[0], *own, *self._scales(node))

    def _convolution(self, node: Any) -> tuple[Any, ...]:
        x, weight, bias, stride, padding, dilation = node.args[:6]
        weights = self._constant(weight)
        lists = (stride, padding, dilation, list(weights.shape[2:]))
        offset = -_scaled(node, "input_qparams", 0).zp
        rows = self._packed(node, weights)
        return (x, rows, bias, *lists, offset, *self._scales(node))

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
        """A constant of the program: before its inputs."""
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
