"""A family and a seed become a graph of 2 to 12 steps, always the same one."""

from __future__ import annotations

import random
from collections.abc import Callable
from types import ModuleType

import torch

from ember.sweep.graphs import (
    control,
    elementwise,
    layers,
    movement,
    parts,
    quantised,
    reductions,
)
from ember.sweep.graphs.builder import Reject, Traits
from ember.sweep.graphs.graph import RandomGraph, Values
from ember.sweep.graphs.picker import FLOATS, WIDER, Picker
from ember.sweep.settings import Family

ROOMS = [elementwise, reductions, layers, movement, parts]
TRIES = 400
Operators = list[tuple[Callable[[Picker], None], int]]


def generated(
    family: Family, seed: int, attempt: int = 0
) -> tuple[RandomGraph, list[Values]]:
    """The graph of a seed, and its values in each sample, by number.

    `attempt` counts graphs of this seed that the exporter refused.
    """
    name = "graph" if family == "core" else family
    rng = random.Random(f"{name} {seed} {attempt}")  # noqa: S311 - no secret
    builder, operators = _STYLES[family](rng)
    wanted = rng.randint(2, 12)
    names, weights = zip(*operators, strict=True)
    for _ in range(TRIES):
        if len(builder.graph.steps) >= wanted:
            break
        _try_step(builder, rng.choices(names, weights)[0])
    _finish(builder)
    return builder.graph, builder.known()


# ---- families ------------------------------------------------------------------------


def _of(*rooms: ModuleType) -> Operators:
    return [entry for room in rooms for entry in room.OPERATORS]


def _core(rng: random.Random) -> tuple[Picker, Operators]:
    """All operators; at times other floats, dynamic shapes, states, quantised parts."""
    operators = _of(*ROOMS)
    kind = rng.random()
    sizes = [5] if kind < 0.75 else [5, 2, 8] if kind < 0.87 else [4, 4, 4]
    builder = Picker(rng, sizes, special=rng.random() < 0.1)
    if rng.random() < 0.15:
        builder.floats = [*FLOATS, rng.choice(WIDER)]
    builder.channels_last = rng.random() < 0.25
    if rng.random() < 0.15:
        operators += [(entry, 4 * weight) for entry, weight in quantised.OPERATORS]
    if kind >= 0.87:
        operators.append((state, 20))
    return builder, operators


def _half(rng: random.Random) -> tuple[Picker, Operators]:
    builder = Picker(rng, [5], special=False)
    builder.floats = [torch.float16]
    return builder, _of(*ROOMS)


def _integer(rng: random.Random) -> tuple[Picker, Operators]:
    """Integers and bools wherever an operator takes them; much indexing."""
    builder = Picker(rng, [5], special=False)
    builder.preferred = "ib"
    return builder, [*_of(*ROOMS), *_of(parts, parts, movement)]


def _dynamic(rng: random.Random) -> tuple[Picker, Operators]:
    return Picker(rng, [5, 2, 8], special=False), _of(*ROOMS)


def _control(rng: random.Random) -> tuple[Picker, Operators]:
    more = [(entry, 4 * weight) for entry, weight in control.OPERATORS]
    return Picker(rng, [4, 4, 4], special=False), [*_of(*ROOMS), *more]


def _xnnpack(rng: random.Random) -> tuple[Picker, Operators]:
    """What XNNPACK takes, much of it in a row."""
    builder = Picker(rng, [4, 4], special=False)
    builder.channels_last = rng.random() < 0.25
    return builder, _of(elementwise, layers, layers, layers, movement)


def _cortex_m(rng: random.Random) -> tuple[Picker, Operators]:
    return Picker(rng, [1, 1], special=False), list(quantised.INT8_LAYERS)


_STYLES: dict[Family, Callable[[random.Random], tuple[Picker, Operators]]] = {
    "core": _core,
    "half": _half,
    "integer": _integer,
    "dynamic": _dynamic,
    "control": _control,
    "xnnpack": _xnnpack,
    "cortex_m": _cortex_m,
}


# ---- steps ---------------------------------------------------------------------------


def state(b: Picker) -> None:
    """A mutable buffer that gathers what it sees, from one execution to the next."""
    if len(b.graph.states) == 2:
        raise Reject("states")
    x = b.value("f", None, lambda entry: bool(entry.dtype == torch.float32))
    buffer = b.add_state(torch.zeros(x.shape))
    b.call("accumulate", buffer, x, traits=Traits(stateful=True, sums=True))


def _try_step(builder: Picker, operator: Callable[[Picker], None]) -> None:
    """Run one operator; what it made before it was refused stays, unless unused."""
    states = dict(builder.graph.states)
    try:
        operator(builder)
    except Reject:
        builder.graph.states = states


def _finish(builder: Picker) -> None:
    """Choose the outputs, and drop what nothing reads."""
    graph = builder.graph
    results = [index for step in graph.steps for index in step.outputs]
    read = {index for step in graph.steps for index in step.uses()}
    graph.outputs = [index for index in results if index not in read]
    spare = [index for index in results if index in read]
    if spare and builder.chance(0.3):
        graph.outputs.append(builder.one_of(spare))
    graph.constants = {i: entry for i, entry in graph.constants.items() if i in read}
    kept = [position for position, i in enumerate(graph.inputs) if i in read]
    graph.inputs = [graph.inputs[position] for position in kept]
    graph.samples = [[entry[position] for position in kept] for entry in graph.samples]
    graph.samples = graph.samples or [[] for _ in builder.sizes]
