"""A model that keeps values between calls: found, run from its start, told apart.

Every run that an output is taken from starts at the values the model was given with,
and its calls follow one another, as those of a program on a board do.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ember.export.packages import need
from ember.export.source import Sample

_CELLS = ("lstm_cell", "gru_cell", "rnn_tanh_cell", "rnn_relu_cell")
Run = Callable[[Sequence[Sample]], list[Any]]  # the outputs of calls in a row


def run_of(model: Any, changed: Sequence[int] = ()) -> Run:
    """Calls on a copy: neither state nor inputs that are changed carry over.

    The inputs `changed`, counted flat, are outputs before the others, as in a program.
    """

    def run(samples: Sequence[Sample]) -> list[Any]:
        module = copy.deepcopy(model)
        return [called(module, copy.deepcopy(sample)) for sample in samples]

    def called(module: Any, inputs: Sample) -> Any:
        outputs = module(*inputs)
        leaves = need("torch.utils._pytree").tree_flatten(inputs)[0]
        return kept([*(leaves[index] for index in changed), outputs])

    return run


def changed_inputs(program: Any) -> tuple[int, ...]:
    """Which of the inputs a call of a graph changes, in the order of its outputs."""
    signature = program.graph_signature
    inputs = list(signature.user_inputs)
    names = signature.user_inputs_to_mutate.values()
    return tuple(map(inputs.index, names))


def kept(tree: Any) -> Any:
    """A copy of outputs, which may be views of what the next call changes."""
    torch = need("torch")
    return need("torch.utils._pytree").tree_map_only(
        torch.Tensor, lambda tensor: tensor.detach().clone(), tree
    )


# ---- in a program --------------------------------------------------------------------


def written(edge: Any, passes: Sequence[Any] = ()) -> Any:
    """The program of a lowered graph, with the states that do not start at zero.

    The exporter leaves them out: it takes every state for meaningless at the start. A
    state of zeros stays out, since its memory is zero when a program is loaded.

    `passes` run before the exporter's last ones.
    """
    exir = need("executorch.exir")
    names = _started(edge.exported_program())
    config = exir.ExecutorchBackendConfig(
        passes=[*passes, lambda graph: _marked(graph, names)]
    )
    return edge.to_executorch(config)


def _started(program: Any) -> frozenset[str]:
    """The placeholders of the states that have a bit set at the start."""
    signature = program.graph_signature
    changed = set(signature.buffers_to_mutate.values())
    values = {**program.constants, **program.state_dict}
    return frozenset(
        placeholder
        for placeholder, name in signature.inputs_to_buffers.items()
        if name in changed and _has_bits(values[name])
    )


def _has_bits(tensor: Any) -> bool:
    torch = need("torch")
    plain = tensor.detach().clone(memory_format=torch.contiguous_format)
    return bool(plain.reshape(-1).view(torch.uint8).any())


def _marked(graph: Any, names: frozenset[str]) -> Any:
    """What ExecuTorch's InitializedMutableBufferPass does, by exact names."""
    for node in graph.graph.nodes:
        if node.op == "placeholder" and node.target in names:
            node.meta["et_init_buffer"] = True
    return need("torch.fx.passes.infra.pass_manager").PassResult(graph, bool(names))


# ---- for a quantiser -----------------------------------------------------------------


@dataclass(frozen=True)
class Explicit:
    """A graph for a quantiser, in which states are inputs and outputs.

    Quantisers take what a module holds for constants, and fold it into the graph.
    """

    graph: Any
    states: dict[str, Any]  # by the name in the model: the values at the start

    def calibrate(self, prepared: Any, samples: Sequence[Sample]) -> None:
        """Call an observed graph, the states of each call going into the next.

        Observers of states see those that the last sample leaves, too, and nothing else
        does: what is quantised does not depend on how a recording is cut into calls.
        """
        if not self.states:
            for sample in samples:
                prepared(*sample)
            return
        held = [tensor.clone() for tensor in self.states.values()]
        for sample in samples:
            _, held = prepared(sample, held)
            held = [tensor.clone() for tensor in held]
        inputs = [node for node in prepared.graph.nodes if node.op == "placeholder"]
        for node, state in zip(inputs[-len(held) :], held, strict=True):
            for user in node.users:
                if user.op == "call_module":
                    observer = prepared.get_submodule(user.target)
                    if hasattr(observer, "calculate_qparams"):
                        observer(state)

    def narrowed(self, graph: Any) -> Explicit:
        """With integers for states that a graph takes to them first, and from them
        last: int16, and int8 of recurrent layers."""
        if not self.states:
            return self
        inputs = [node for node in graph.graph.nodes if node.op == "placeholder"]
        last = graph.graph.output_node()
        results, states = list(last.args[0]), dict(self.states)
        first = len(results) - len(states)
        for at, name in enumerate(states):
            node, result = inputs[at - len(states)], results[first + at]
            steps = _steps_to_integers(node, result)
            if steps:
                states[name] = steps[0].target(states[name], *steps[0].args[1:])
                results[first + at] = result.args[0]
            for step in steps:
                step.replace_all_uses_with(node)
                graph.graph.erase_node(step)
        last.args = (type(last.args[0])(results),)
        graph.graph.eliminate_dead_code()
        graph.recompile()
        return Explicit(self.graph, states)

    def bound(self, graph: Any) -> Any:
        """The quantised graph as a module that keeps its states itself."""
        return _keeper(graph, self.states) if self.states else graph


def explicit(model: Any, sample: Sample, *, cells_stay: bool = False) -> Explicit:
    """The graph of a model; without in-place operators, if it has any. Recurrent cells
    become linear layers unless `cells_stay`."""
    torch = need("torch")
    # not strict: that forgets, with a warning, the states that a model assigns
    exported = torch.export.export(model, copy.deepcopy(sample), strict=False)
    layers = {} if cells_stay else _layers_of_cells(exported.graph)
    changes = exported.graph_signature.buffers_to_mutate
    if not changes and not layers and not any(map(is_in_place, exported.graph.nodes)):
        return Explicit(exported.module(check_guards=False), {})
    exported = exported.run_decompositions(layers)
    names = dict.fromkeys(exported.graph_signature.buffers_to_mutate.values())
    if not names:
        return Explicit(exported.module(check_guards=False), {})
    buffers = dict(model.named_buffers(remove_duplicate=False))
    states = {name: buffers[name].detach().clone() for name in names}
    apart = torch.export.export(
        _apart(model, tuple(states)), (copy.deepcopy(sample), list(states.values()))
    )
    return Explicit(
        apart.run_decompositions(layers).module(check_guards=False),
        {name: tensor.clone() for name, tensor in states.items()},
    )


def _layers_of_cells(graph: Any) -> dict[Any, Any]:
    """What makes linear layers of the recurrent cells of a graph: each is one operator,
    in which a quantiser finds no layer.

    A cell that starts each call at zero stays: the flows leave its zeros in float.
    """
    known = need("torch.export").default_decompositions()
    cells = {node.target for node in graph.nodes if _name(node) in _CELLS}
    cells -= {
        user.target
        for node in graph.nodes
        if _name(node) == "zeros"
        for user in node.users
    }
    return {cell: known[cell] for cell in cells}


def _name(node: Any) -> str:
    packet = getattr(node.target, "overloadpacket", None)
    return str(packet).removeprefix("aten.")


def _steps_to_integers(state: Any, result: Any) -> list[Any]:
    """The users of a state, if all take it to integers as `result` comes from there."""
    int16, users = need("torch").int16, list(state.users)
    if "dequantize_per_tensor" not in str(getattr(result, "target", "")):
        return []
    same = all(
        "quantize_per_tensor" in str(user.target)
        and user.args[0] is state
        and user.args[1:] == result.args[1:]
        and (user.args[5] == int16 or _feeds_layers(user))
        for user in users
    )
    return users if same else []


def _feeds_layers(step: Any) -> bool:
    return all(str(user.target).startswith("ember.quantized_") for user in step.users)


def is_in_place(node: Any) -> bool:
    schema = getattr(node.target, "_schema", None)
    return schema is not None and bool(schema.is_mutable)


def _apart(model: Any, names: Sequence[str]) -> Any:
    """A module of (inputs, states) that gives (outputs, new states)."""
    torch = need("torch")

    class Apart(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, inputs: Sample, states: list[Any]) -> Any:
            # functional_call puts what the model assigns into `held`
            held = {name: x.clone() for name, x in zip(names, states, strict=True)}
            outputs = torch.func.functional_call(self.model, held, tuple(inputs))
            return outputs, [held[name] for name in names]

    return Apart()


def _keeper(graph: Any, states: dict[str, Any]) -> Any:
    """A module that holds the states between calls of a graph made by _apart()."""
    torch = need("torch")
    names = [name.replace(".", "_") for name in states]

    class Keeper(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.body = graph
            for name, tensor in zip(names, states.values(), strict=True):
                self.register_buffer(name, tensor.clone())

        def forward(self, *inputs: Any) -> Any:
            held = [getattr(self, name) for name in names]
            with torch.fx.traceback.preserve_node_meta():  # what is quantised, and how
                outputs, new = torch.fx.Interpreter(self.body).run(inputs, held)
            for state, tensor in zip(held, new, strict=True):
                state.copy_(tensor)
            return outputs

    return Keeper()
