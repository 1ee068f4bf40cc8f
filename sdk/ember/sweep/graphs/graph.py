"""A graph: inputs, constants and steps that are calls of PyTorch -> a module, text."""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from torch import Tensor, nn

from ember.export.packages import need

torch = need("torch")
need("executorch.kernels.quantized")  # the out variants of
need("torch.ao.quantization.fx._decomposed")  # these


# ---- branches and loops over functions of PyTorch that are given by name -------------
#
# While a graph is exported these are operators of control flow, otherwise plain Python:
# eager PyTorch compiles what is in them.


def _named(name: str) -> Callable[..., Tensor]:
    space, _, rest = name.partition(".")
    first = {"torch": torch, "F": torch.nn.functional}[space]
    named: Callable[..., Tensor] = functools.reduce(getattr, rest.split("."), first)
    return named


def branch(flag: Tensor, yes: str, no: str, *operands: Tensor) -> Tensor:
    """yes(*operands) if the bool is true, else no(*operands)."""
    if not torch.compiler.is_exporting():
        return _named(yes if bool(flag) else no)(*operands)

    def called(name: str) -> Callable[..., Tensor]:
        # a branch may not give what it was given
        return lambda *given: _named(name)(*given).clone()

    result: Tensor = torch.cond(flag, called(yes), called(no), operands)
    return result


def nested(outer: Tensor, inner: Tensor, names: list[str], x: Tensor) -> Tensor:
    """names[0](x), or where `outer` is false names[1](x) or names[2](x) by `inner`."""
    if not torch.compiler.is_exporting():
        return _named(names[0] if bool(outer) else names[2 - bool(inner)])(x)
    result: Tensor = torch.cond(
        outer,
        lambda inner, x: _named(names[0])(x).clone(),
        lambda inner, x: branch(inner, names[1], names[2], x),
        (inner, x),
    )
    return result


def mapped(name: str, rows: Tensor, *others: Tensor) -> Tensor:
    """The function of each row, and of all of the others."""
    if not torch.compiler.is_exporting():
        return torch.stack([_named(name)(row, *others) for row in rows])
    loop = need("functorch.experimental.control_flow").map
    result: Tensor = loop(
        lambda row, *others: _named(name)(row, *others).clone(), rows, *others
    )
    return result


def scanned(name: str, start: Tensor, rows: Tensor) -> tuple[Tensor, Tensor]:
    """The state after all rows, and that after each: name(half of the state, row)."""

    def step(state: Tensor, row: Tensor) -> tuple[Tensor, Tensor]:
        new = _named(name)(state * 0.5, row)
        return new, new.clone()

    if torch.compiler.is_exporting():
        loop = need("torch._higher_order_ops.scan").scan
        last, gathered = loop(step, start, rows)
        return last, gathered
    states = []
    for row in rows:
        start, state = step(start, row)
        states.append(state)
    return start, torch.stack(states)


# ---- graphs --------------------------------------------------------------------------


Values = dict[int, Any]


@dataclass(frozen=True)
class Ref:
    """A value in the arguments of a step."""

    index: int

    def __repr__(self) -> str:
        return f"v{self.index}"


def accumulate(state: Tensor, x: Tensor) -> Tensor:
    """Leaky sum of all x so far; `state` is a mutable buffer of the module."""
    new = state * 0.5 + x
    state.copy_(new)
    return new.clone()


NAMES = {
    "torch": torch,
    "F": torch.nn.functional,
    "Tensor": Tensor,
    "operator": operator,
    "qd": torch.ops.quantized_decomposed,
    "accumulate": accumulate,
    "flow": SimpleNamespace(
        branch=branch, nested=nested, mapped=mapped, scanned=scanned
    ),
}


@dataclass(frozen=True)
class GraphStep:
    """values[outputs] = target(*args, **options)."""

    target: str
    args: Any  # a tuple
    options: Mapping[str, Any]
    outputs: tuple[int, ...]
    unpacked: bool  # the result is a tuple

    def call(self, values: Values) -> tuple[Any, ...]:
        function: Callable[..., Any] = function_of(self.target)
        args = [resolved(item, values) for item in self.args]
        options = {key: resolved(item, values) for key, item in self.options.items()}
        result = function(*args, **options)
        return tuple(result) if self.unpacked else (result,)

    def uses(self) -> list[int]:
        """Numbers of the values that it reads."""
        return list(refs((self.args, tuple(self.options.values()))))

    def __str__(self) -> str:
        items = [repr(item) for item in self.args]
        items += [f"{key}={item!r}" for key, item in self.options.items()]
        left = ", ".join(f"v{index}" for index in self.outputs)
        comma = "," if self.unpacked and len(self.outputs) == 1 else ""
        return f"{left}{comma} = {self.target}({', '.join(items)})"


def function_of(target: str) -> Any:
    """The function called `target`."""
    first, *rest = target.split(".")
    return functools.reduce(getattr, rest, NAMES[first])


def resolved(item: Any, values: Values) -> Any:
    """The argument with values in the place of references."""
    if isinstance(item, Ref):
        return values[item.index]
    if isinstance(item, list | tuple):
        return type(item)(resolved(entry, values) for entry in item)
    return item


def refs(item: Any) -> Iterable[int]:
    """Numbers of all references in an argument."""
    if isinstance(item, Ref):
        yield item.index
    elif isinstance(item, list | tuple):
        yield from itertools.chain.from_iterable(refs(entry) for entry in item)


@dataclass
class RandomGraph:
    """All that is needed to export a graph and to say what it must give."""

    inputs: list[int] = field(default_factory=list)
    constants: dict[int, Tensor] = field(default_factory=dict)
    states: dict[int, Tensor] = field(default_factory=dict)  # all zeros
    steps: list[GraphStep] = field(default_factory=list)
    outputs: list[int] = field(default_factory=list)
    samples: list[list[Tensor]] = field(default_factory=list)  # inputs of each run
    batch: bool = False  # dimension 0 of the inputs in `batched` is dynamic
    batched: set[int] = field(default_factory=set)
    rtol: float = 1e-4
    atol: float = 1e-5

    def module(self) -> nn.Module:
        return Composed(self).eval()

    def source(self) -> str:
        """Python-like text, for people."""
        first = self.samples[0]
        lines = [
            f"v{index}: input {described(entry)}"
            for index, entry in zip(self.inputs, first, strict=True)
        ]
        lines += [
            f"v{i}: constant {described(entry)}" for i, entry in self.constants.items()
        ]
        lines += [f"v{i}: state {described(entry)}" for i, entry in self.states.items()]
        lines += [str(step) for step in self.steps]
        lines.append("return " + ", ".join(f"v{index}" for index in self.outputs))
        return "\n".join(lines) + "\n"

    def part(self, steps: Sequence[GraphStep], known: Sequence[Values]) -> RandomGraph:
        """The graph of some steps; what others computed (`known`) becomes inputs."""
        results = [index for step in steps for index in step.outputs]
        used = dict.fromkeys(index for step in steps for index in step.uses())
        held = {**self.constants, **self.states}
        inputs = [index for index in used if index not in held and index not in results]
        read = set(used)
        last = [
            index for index in results if index not in read or index in self.outputs
        ]
        return RandomGraph(
            inputs=inputs,
            constants={i: entry for i, entry in self.constants.items() if i in read},
            states={i: entry for i, entry in self.states.items() if i in read},
            steps=list(steps),
            outputs=last,
            samples=[[dense(values[i]) for i in inputs] for values in known],
            batch=self.batch,
            batched=self.batched & set(inputs),
            rtol=self.rtol,
            atol=self.atol,
        )


def described(tensor: Tensor) -> str:
    layout = "" if tensor.is_contiguous() else f" strides {tensor.stride()}"
    return f"{str(tensor.dtype).removeprefix('torch.')} {tuple(tensor.shape)}{layout}"


def dense(tensor: Tensor) -> Tensor:
    """The values as an input can hold them: contiguous or channels_last."""
    if tensor.dim() == 4 and tensor.is_contiguous(memory_format=torch.channels_last):
        return tensor
    return tensor.contiguous()


class Composed(nn.Module):  # type: ignore[misc]
    """The steps of a graph, one after the other."""

    def __init__(self, graph: RandomGraph) -> None:
        super().__init__()
        self.graph = graph
        for index, tensor in {**graph.constants, **graph.states}.items():
            self.register_buffer(f"v{index}", tensor.clone())

    def forward(self, *inputs: Tensor) -> tuple[Tensor, ...]:
        graph = self.graph
        values: Values = dict(zip(graph.inputs, inputs, strict=True))
        for index in (*graph.constants, *graph.states):
            values[index] = getattr(self, f"v{index}")
        for step in graph.steps:
            values.update(zip(step.outputs, step.call(values), strict=True))
        return tuple(values[index] for index in graph.outputs)
