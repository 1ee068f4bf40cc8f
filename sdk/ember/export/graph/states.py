"""States that a model keeps between calls become explicit, with their initial values.

Every run from which outputs are taken starts at the values that the model was given
with, and its calls follow one another, as those of a program on a board do.

The exporter records what is changed in place. It forgets a buffer that is assigned and
returned, and treats any other attribute as a constant: settled() makes such buffers
states, or refuses.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ember.errors import SdkError
from ember.export import faults
from ember.export.graph import first, named, rest, results, set_results
from ember.export.packages import need
from ember.export.source import Sample

_CELLS = ("lstm_cell", "gru_cell", "rnn_tanh_cell", "rnn_relu_cell")
Run = Callable[[Sequence[Sample]], list[Any]]  # the outputs of calls in a row


def run_of(model: Any, changed: Sequence[int] = ()) -> Run:
    """Calls a copy of a module: neither its state nor changed inputs are kept.

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
    """The inputs that a call of a graph changes, in the order of its outputs."""
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

    The exporter leaves them out, because it treats the initial value of every state as
    meaningless. A state of zeros stays out, because its memory is zero when a program
    is loaded.

    `passes` run before the exporter's last ones.
    """
    exir = need("executorch.exir")
    names = _started(edge.exported_program()) if faults.has("states") else frozenset()
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
    """Does what ExecuTorch's InitializedMutableBufferPass does, by exact names."""
    for node in graph.graph.nodes:
        if node.op == "placeholder" and node.target in names:
            node.meta["et_init_buffer"] = True
    return need("torch.fx.passes.infra.pass_manager").PassResult(graph, bool(names))


# ---- for a quantiser -----------------------------------------------------------------


@dataclass(frozen=True)
class Explicit:
    """A graph for a quantiser, in which states are inputs and outputs.

    Quantisers treat what a module holds as constants, and fold it into the graph.
    """

    graph: Any
    states: dict[str, Any]  # by the name in the model: the values at the start

    def calibrate(self, prepared: Any, samples: Sequence[Sample]) -> None:
        """Calls an observed graph, passing the states of each call to the next.

        Observers of states also see those that the last sample leaves, so that
        quantisation does not depend on how a recording is cut into calls.
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

    def inputs(self, sample: Sample) -> list[Any]:
        """The tensors that the graph takes for a call with this sample, flat."""
        leaves = need("torch.utils._pytree").tree_leaves((sample, {}))
        return [*leaves, *self.states.values()]

    def narrowed(self, graph: Any) -> Explicit:
        """The same with states as integers, if a graph quantises them first and
        dequantises them last: int16, and int8 of recurrent layers."""
        if not self.states:
            return self
        inputs = [node for node in graph.graph.nodes if node.op == "placeholder"]
        returned, states = results(graph.graph), dict(self.states)
        edge = len(returned) - len(states)
        for at, name in enumerate(states):
            node, result = inputs[at - len(states)], returned[edge + at]
            steps = _steps_to_integers(node, result)
            if steps:
                states[name] = steps[0].target(states[name], *rest(steps[0]))
                returned[edge + at] = first(result)
            for step in steps:
                step.replace_all_uses_with(node)
                graph.graph.erase_node(step)
        set_results(graph.graph, returned)
        graph.graph.eliminate_dead_code()
        graph.recompile()
        return Explicit(self.graph, states)

    def bound(self, graph: Any) -> Any:
        """The quantised graph as a module that keeps its states itself."""
        return _keeper(graph, self.states) if self.states else graph


def explicit(model: Any, sample: Sample, *, cells_stay: bool = False) -> Explicit:
    """The graph of a model, without in-place operators. Recurrent cells become linear
    layers unless `cells_stay`."""
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
    """Turns the recurrent cells of a graph, each one operator, into linear layers,
    which a quantiser can find.

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
    """The users of a state, if all quantise it as `result` was quantised."""
    int16, users = need("torch").int16, list(state.users)
    if "dequantize_per_tensor" not in str(getattr(result, "target", "")):
        return []
    same = all(
        "quantize_per_tensor" in str(user.target)
        and first(user) is state
        and rest(user) == rest(result)
        and (named(user)["dtype"] == int16 or _feeds_layers(user))
        for user in users
    )
    return users if same else []


def _feeds_layers(step: Any) -> bool:
    return all(str(user.target).startswith("ember.quantized_") for user in step.users)


def is_in_place(node: Any) -> bool:
    schema = getattr(node.target, "_schema", None)
    return schema is not None and bool(schema.is_mutable)


def _apart(model: Any, names: Sequence[str]) -> Any:
    """A module of (inputs, states) that returns (outputs, new states)."""
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


# ---- attributes that a call assigns --------------------------------------------------


Attributes = dict[tuple[str, str], Any]  # by the names of module and attribute


def settled(model: Any, sample: Sample) -> Any:
    """The model with its buffers changed in place. Raises SdkError for other
    attributes."""
    _refuse_random(model, sample)
    copied = copy.deepcopy(model)
    buffers = dict(copied.named_buffers())
    before = _attributes(copied)
    copied(*copy.deepcopy(sample))
    changed = [
        key for key, value in _attributes(copied).items() if _is_new(before, key, value)
    ]
    if changed and _matters(copied, before, changed, sample):
        raise SdkError(
            f"a call of the model changes {_listed(changed)}, which the exporter"
            " treats as a constant",
            hint="make it a buffer with self.register_buffer() and change it in place",
        )
    now = dict(copied.named_buffers())
    names = [name for name, tensor in buffers.items() if now[name] is not tensor]
    return _in_place(model, names) if names else model


def _refuse_random(model: Any, sample: Sample) -> None:
    run = run_of(model)
    if not _same(run([sample]), run([sample])):
        raise SdkError(
            "two calls of the model with the same inputs give different outputs: it"
            " uses random numbers",
            hint="F.dropout needs training=self.training",
        )


def _attributes(model: Any) -> Attributes:
    """Copies of what modules hold besides parameters, buffers and modules."""
    usual = vars(need("torch").nn.Module())
    return {
        (name, key): copy.deepcopy(value)
        for name, module in model.named_modules()
        for key, value in vars(module).items()
        if key not in usual and _is_data(value)
    }


def _is_data(value: Any) -> bool:
    leaves = need("torch.utils._pytree").tree_flatten(value)[0]
    tensor = need("torch").Tensor
    return all(isinstance(leaf, tensor | int | float | None) for leaf in leaves)


def _is_new(before: Attributes, key: tuple[str, str], value: Any) -> bool:
    return key in before and not _same(before[key], value)


def _same(old: Any, new: Any) -> bool:
    torch, trees = need("torch"), need("torch.utils._pytree")
    first, shape = trees.tree_flatten(old)
    second, other = trees.tree_flatten(new)
    if shape != other or len(first) != len(second):
        return False
    return all(
        _same_tensor(x, y)
        if isinstance(x, torch.Tensor) and isinstance(y, torch.Tensor)
        else type(x) is type(y) and x == y
        for x, y in zip(first, second, strict=True)
    )


def _same_tensor(old: Any, new: Any) -> bool:
    if old.shape != new.shape or old.dtype != new.dtype:
        return False
    return bool(((old == new) | (old.isnan() & new.isnan())).all())


def _matters(
    called: Any, before: Attributes, changed: Sequence[tuple[str, str]], sample: Sample
) -> bool:
    """Whether another call returns something else with the previous attributes."""
    again = copy.deepcopy(called)
    for name, key in changed:
        setattr(again.get_submodule(name), key, before[name, key])
    outputs = [kept(module(*copy.deepcopy(sample))) for module in (called, again)]
    return not _same(*outputs)


def _listed(changed: Sequence[tuple[str, str]]) -> str:
    names = (f"{name}.{key}" if name else f"self.{key}" for name, key in changed)
    return ", ".join(names)


def _in_place(model: Any, names: Sequence[str]) -> Any:
    """A module around the model that copies what it assigns into its buffers."""
    torch = need("torch")

    class InPlace(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, *inputs: Any) -> Any:
            buffers = dict(self.model.named_buffers())
            states = {name: buffers[name] for name in names}
            held = dict(states)  # functional_call puts what is assigned into it
            outputs = torch.func.functional_call(self.model, held, inputs)
            for name, state in states.items():
                state.copy_(held[name])
            return outputs

    return InPlace()
