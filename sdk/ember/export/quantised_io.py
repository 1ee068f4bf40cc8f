"""A quantised graph with float at its edges becomes one whose edges stay integers.

A quantiser leaves the step from and to float inside. It is removed here, and its scales
are reported: to whoever fills the inputs, and in the program, as constant methods with
the names of executorch.exir.passes.quantize_io_pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ember.errors import SdkError
from ember.export import blame
from ember.export.packages import need
from ember.export.source import Sample


@dataclass(frozen=True)
class Quantisation:
    """How integers stand for numbers: (q - zero_point) * scale."""

    scale: float
    zero_point: int
    low: int
    high: int
    dtype: Any  # of torch


@dataclass(frozen=True)
class Edges:
    """The steps of inputs and outputs, flat; None: it is as the model has it."""

    inputs: tuple[Quantisation | None, ...] = ()
    outputs: tuple[Quantisation | None, ...] = ()

    def quantised(self, sample: Sample) -> Sample:
        """The inputs of the model as the program takes them."""
        if not self.inputs:
            return sample
        leaves, shape = need("torch.utils._pytree").tree_flatten(sample)
        quantised = _each(leaves, self.inputs, _quantised)
        return tuple(need("torch.utils._pytree").tree_unflatten(quantised, shape))

    def real(self, outputs: Sequence[Any]) -> list[Any]:
        """The outputs of the program as the numbers that they stand for."""
        leaves, _ = need("torch.utils._pytree").tree_flatten(list(outputs))
        return _each(leaves, self.outputs, _real)

    def constants(self) -> dict[str, Any]:
        """What constant methods of the program tell."""
        io = need("executorch.exir.passes.quantize_io_pass")
        methods = {}
        for kind, steps in (("input", self.inputs), ("output", self.outputs)):
            for index, step in enumerate(steps):
                if step is None:
                    continue
                # Its other keys say what the type of the tensor does; each is a method.
                for key, value in (("scale", step.scale), ("zp", step.zero_point)):
                    methods[io.get_config_method_name(None, kind, index, key)] = value
        return methods


def _each(
    values: Sequence[Any], steps: Sequence[Quantisation | None], change: Any
) -> list[Any]:
    if not steps:
        return list(values)
    return [
        change(value, step) if step is not None else value
        for value, step in zip(values, steps, strict=True)
    ]


def _quantised(value: Any, step: Quantisation) -> Any:
    ops = need("torch").ops.quantized_decomposed
    words = (step.scale, step.zero_point, step.low, step.high, step.dtype)
    return ops.quantize_per_tensor(value, *words)


def _real(value: Any, step: Quantisation) -> Any:
    ops = need("torch").ops.quantized_decomposed
    words = (step.scale, step.zero_point, step.low, step.high, step.dtype)
    return ops.dequantize_per_tensor(value, *words)


def take_off(exported: Any) -> Edges:
    """Change an exported graph; an SdkError for an edge that is not quantised."""
    graph, signature = exported.graph, exported.graph_signature
    if signature.user_inputs_to_mutate:
        raise SdkError(
            "--io: a call changes an input, which then is also an output",
            hint="keep the state in a buffer of the model",
        )
    nodes = {node.name: node for node in graph.nodes}
    inputs = [
        _take_off_input(index, nodes[name])
        for index, name in enumerate(signature.user_inputs)
        if name in nodes
    ]
    outputs = _take_off_outputs(graph, signature)
    graph.eliminate_dead_code()
    exported.graph_module.recompile()
    return Edges(tuple(inputs), tuple(outputs))


def _take_off_input(index: int, node: Any) -> Quantisation | None:
    torch = need("torch")
    value = node.meta["val"]
    if not isinstance(value, torch.Tensor) or not value.is_floating_point():
        return None
    users = list(node.users)
    others = [user for user in users if not _is(user, "quantize_per_tensor")]
    steps = {user.args[1:] for user in users if user not in others}
    if others or len(steps) > 1:
        culprit = others[0] if others else users[1]
        raise _stays_float(f"input {index}", "goes to", culprit)
    if not steps:
        return None  # nothing reads it
    step = Quantisation(*steps.pop())
    for user in users:
        user.replace_all_uses_with(node)
        user.graph.erase_node(user)
    node.meta["val"] = value.to(step.dtype)
    return step


def _take_off_outputs(graph: Any, signature: Any) -> list[Quantisation | None]:
    torch, specs = need("torch"), need("torch.export.graph_signature")
    last = graph.output_node()
    results = list(last.args[0])
    steps: list[Quantisation | None] = []
    for at, spec in enumerate(signature.output_specs):
        if spec.kind != specs.OutputKind.USER_OUTPUT:
            continue
        node = results[at]
        value = node.meta["val"] if hasattr(node, "meta") else None
        if not isinstance(value, torch.Tensor) or not value.is_floating_point():
            steps.append(None)
            continue
        if not _is(node, "dequantize_per_tensor"):
            raise _stays_float(f"output {len(steps)}", "comes from", node)
        steps.append(Quantisation(*node.args[1:6]))
        results[at] = node.args[0]
        spec.arg = specs.TensorArgument(name=results[at].name)
    last.args = (tuple(results),)
    return steps


def _is(node: Any, name: str) -> bool:
    return str(node.target).endswith(f"quantized_decomposed.{name}.default")


def _stays_float(what: str, how: str, node: Any) -> SdkError:
    line = blame.line_in(node.meta.get("stack_trace") or "")
    where = f" at {line}" if line else ""
    return SdkError(
        f"--io: {what} stays float: it {how} {node.target}{where}",
        hint="leave that operator to the application, or leave out --io",
    )
