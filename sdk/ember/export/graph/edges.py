"""Inputs and outputs of a graph become integers or constants that a program can have.

A quantiser leaves the steps from and to float inside the graph. Those at its edges are
removed here, and their scales reported: to whoever fills the inputs, and in the
program, as constant methods with the names of executorch.exir.passes.quantize_io_pass.

XNNPACK keeps the constants that it reads for itself; the exporter then refuses one that
is also an output, and a copy of one crashes the interpreter. So outputs that follow
only from constants become separate constants.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ember.errors import SdkError
from ember.export import blame, faults
from ember.export.graph import first, named, results, set_results, states
from ember.export.packages import need
from ember.export.source import Sample


@dataclass(frozen=True)
class Quantisation:
    """How integers represent numbers: (q - zero_point) * scale."""

    scale: float
    zero_point: int
    low: int
    high: int
    dtype: Any  # of torch


@dataclass(frozen=True)
class Edges:
    """The steps of inputs and outputs, flat; None: the edge is as in the model."""

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
        """The outputs of the program as real numbers."""
        leaves, _ = need("torch.utils._pytree").tree_flatten(list(outputs))
        return _each(leaves, self.outputs, _real)

    def constants(self) -> dict[str, Any]:
        """The constant methods that report the scales."""
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
    """Removes the steps at a graph's edges. Raises SdkError for an edge that is not
    quantised."""
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
    steps = {_step(user) for user in users if user not in others}
    if others or len(steps) > 1:
        culprit = others[0] if others else users[1]
        raise _stays_float(f"input {index}", "goes to", culprit)
    if not steps:
        return None  # nothing reads it
    step = steps.pop()
    for user in users:
        user.replace_all_uses_with(node)
        user.graph.erase_node(user)
    node.meta["val"] = value.to(step.dtype)
    return step


def _take_off_outputs(graph: Any, signature: Any) -> list[Quantisation | None]:
    torch, specs = need("torch"), need("torch.export.graph_signature")
    returned = results(graph)
    steps: list[Quantisation | None] = []
    for at, spec in enumerate(signature.output_specs):
        if spec.kind != specs.OutputKind.USER_OUTPUT:
            continue
        node = returned[at]
        value = node.meta["val"] if hasattr(node, "meta") else None
        if not isinstance(value, torch.Tensor) or not value.is_floating_point():
            steps.append(None)
            continue
        if not _is(node, "dequantize_per_tensor"):
            raise _stays_float(f"output {len(steps)}", "comes from", node)
        steps.append(_step(node))
        returned[at] = first(node)
        spec.arg = specs.TensorArgument(name=returned[at].name)
    set_results(graph, returned)
    return steps


def _step(node: Any) -> Quantisation:
    """The quantisation of a step from or to float."""
    given = named(node)
    return Quantisation(
        given["scale"],
        given["zero_point"],
        given["quant_min"],
        given["quant_max"],
        given["dtype"],
    )


def _is(node: Any, name: str) -> bool:
    return str(node.target).endswith(f"quantized_decomposed.{name}.default")


def _stays_float(what: str, how: str, node: Any) -> SdkError:
    return SdkError(
        f"--io: {what} stays float: it {how} {node.target}{blame.where(node)}",
        hint="leave that operator to the application, or leave out --io",
    )


# ---- outputs that are constants ------------------------------------------------------


def separate_outputs(exported: Any) -> None:
    """Turns outputs of an exported graph that are constants into separate constants."""
    if not faults.has("constant outputs"):
        return
    known = _constants_of(exported)
    outputs, constant = results(exported.graph), _derived(exported.graph, known)
    specs = exported.graph_signature.output_specs
    for number, (node, spec) in enumerate(zip(outputs, specs, strict=True)):
        if node in constant:
            value = _value(node, known).detach().clone()
            outputs[number] = _added(exported, f"constant_output_{number}", value)
            spec.arg.name = outputs[number].name
    set_results(exported.graph, outputs)
    exported.graph.eliminate_dead_code()
    exported.graph_module.recompile()


def _constants_of(exported: Any) -> Mapping[str, Any]:
    """The constants of a graph by the names of their nodes, without states."""
    signature = exported.graph_signature
    changed = set(signature.buffers_to_mutate.values())
    names = dict(signature.inputs_to_parameters)
    if not any(map(states.is_in_place, exported.graph.nodes)):  # which change buffers
        names |= signature.inputs_to_buffers
        names |= signature.inputs_to_lifted_tensor_constants
    values = {**exported.constants, **exported.state_dict}
    return {node: values[name] for node, name in names.items() if name not in changed}


def _derived(graph: Any, known: Mapping[str, Any]) -> set[Any]:
    """The nodes that follow only from constants."""
    fixed: set[Any] = set()
    for node in graph.nodes:
        inputs = node.all_input_nodes
        if node.name in known or (inputs and fixed.issuperset(inputs)):
            fixed.add(node)
    return fixed


def _value(node: Any, known: Mapping[str, Any]) -> Any:
    if node.op == "placeholder":
        return known[node.name]

    def value(argument: Any) -> Any:
        return _value(argument, known)

    map_arg = need("torch.fx.node").map_arg
    return node.target(*map_arg(node.args, value), **map_arg(node.kwargs, value))


def _added(exported: Any, name: str, value: Any) -> Any:
    utils = need("executorch.backends.transforms.utils")
    kinds = need("torch.export.graph_signature").InputKind
    first = next(iter(exported.graph.nodes))
    with exported.graph.inserting_before(first):
        return utils.create_constant_placeholder(
            exported, exported.graph, name, kinds.BUFFER, value, persistent_buffer=True
        )
