# SPDX-License-Identifier: Apache-2.0
"""Programs with memory: counters, caches, several methods, shared mutable buffers."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import torch
from executorch.exir import ExecutorchBackendConfig
from executorch.exir.passes import MemoryPlanningPass
from executorch.exir.passes.init_mutable_pass import InitializedMutableBufferPass
from torch import Tensor, nn
from torch.export import export

from corpus.case import Case, Exported
from corpus.exporting import eager_run, exported_module, lowered, program_files


class Counter(nn.Module):
    """Adds its input to a number that it keeps."""

    def __init__(self, start: float) -> None:
        super().__init__()
        self.register_buffer("total", torch.full((2,), start))

    def forward(self, x: Tensor) -> Tensor:
        self.total.add_(x)
        return self.total * 1.0


class IntegerCounter(nn.Module):
    """Counts its executions in a 0-d int64 buffer."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("count", torch.zeros((), dtype=torch.int64))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        self.count.add_(1)
        return x * self.count, self.count.clone()


class Cache(nn.Module):
    """Single-head attention over keys and values stored at a given position."""

    def __init__(self, steps: int = 6, width: int = 4) -> None:
        super().__init__()
        self.mix = nn.Linear(width, 3 * width)
        self.register_buffer("keys", torch.zeros(1, steps, width))
        self.register_buffer("values", torch.zeros(1, steps, width))
        self.register_buffer("steps", torch.arange(steps), persistent=False)

    def forward(self, x: Tensor, position: Tensor) -> Tensor:
        q, k, v = self.mix(x).chunk(3, dim=-1)
        self.keys[:, position] = k
        self.values[:, position] = v
        scores = q @ self.keys.transpose(1, 2) / 2.0
        hidden = (self.steps > position).reshape(1, 1, -1)
        weights = torch.softmax(scores.masked_fill(hidden, float("-inf")), dim=-1)
        return weights @ self.values


class Delay(nn.Module):
    """Gives back its input of three executions ago."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("line", torch.zeros(3, 2))

    def forward(self, x: Tensor) -> Tensor:
        oldest = self.line[0].clone()
        self.line.copy_(torch.cat([self.line[1:], x.unsqueeze(0)]))
        return oldest


class Bump(nn.Module):
    """Changes its input in place."""

    def forward(self, x: Tensor) -> Tensor:
        x.add_(1.0)
        return x * 2


class Method(nn.Module):
    """One method of a module, as a module that can be exported."""

    def __init__(self, owner: nn.Module, name: str) -> None:
        super().__init__()
        self.owner = owner
        self.name = name

    def forward(self, *inputs: Any) -> Any:
        return getattr(self.owner, self.name)(*inputs)


class Register(nn.Module):
    """Two methods around one buffer."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("state", torch.zeros(3))

    def put(self, x: Tensor) -> Tensor:
        self.state.copy_(x)
        return x + 0.0

    def accumulate(self, x: Tensor) -> Tensor:
        self.state.add_(x)
        return self.state * 1.0


class Pair(nn.Module):
    """Two methods without state that share a layer."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(5, 4)
        self.second = nn.Linear(4, 5)

    def encode(self, x: Tensor) -> Tensor:
        return torch.tanh(self.first(x))

    def decode(self, x: Tensor) -> Tensor:
        return self.second(x)


def methods(
    owner: nn.Module,
    calls: Sequence[tuple[str, tuple[Any, ...]]],
    config: ExecutorchBackendConfig | None = None,
) -> Exported:
    """Export every method that `calls` names and run the calls in order."""
    copied = copy.deepcopy(owner)
    runs = [eager_run(name, getattr(copied, name), inputs) for name, inputs in calls]
    examples = dict(reversed(calls))
    programs = {
        name: export(Method(copy.deepcopy(owner), name), examples[name])
        for name in sorted(examples)
    }
    return Exported(program_files(lowered(programs, config)), runs)


def counter(start: float, *passes: Any, **options: Any) -> Exported:
    config = ExecutorchBackendConfig(passes=list(passes), **options)
    inputs = [(torch.tensor([float(i), -0.5]),) for i in range(1, 5)]
    return exported_module(Counter(start), *inputs, config=config)


def cache() -> Exported:
    inputs = [(torch.randn(1, 1, 4), torch.tensor([i])) for i in range(6)]
    return exported_module(Cache(), *inputs)


def integer_counter() -> Exported:
    return exported_module(IntegerCounter(), *[(torch.ones(2),)] * 3)


def delay() -> Exported:
    inputs = [(torch.tensor([i, 10.0 * i]),) for i in range(1, 7)]
    return exported_module(Delay(), *inputs)


def input_mutation() -> Exported:
    exported = exported_module(Bump(), (torch.randn(3),))
    run = exported.runs[0]
    changed = eager_run("forward", lambda x: (x + 1.0, (x + 1.0) * 2), (run.inputs[0],))
    return Exported(exported.files, [changed])


def two_methods() -> Exported:
    calls = [
        ("encode", (torch.randn(2, 5),)),
        ("decode", (torch.randn(2, 4),)),
        ("encode", (torch.randn(2, 5),)),
    ]
    return methods(Pair(), calls)


def shared_buffers() -> Exported:
    planning = MemoryPlanningPass(share_mutable_buffers=True)
    config = ExecutorchBackendConfig(
        memory_planning_pass=planning, emit_mutable_buffer_names=True
    )
    names = ("accumulate", "put", "accumulate", "accumulate", "put", "accumulate")
    calls = [(name, (torch.randn(3),)) for name in names]
    return methods(Register(), calls, config)


CASES = [
    Case("special_counter", lambda: counter(0.0)),
    Case(
        "special_counter_initial",
        lambda: counter(3.0, InitializedMutableBufferPass(["total"])),
    ),
    Case(
        "special_counter_named",
        lambda: counter(0.0, emit_mutable_buffer_names=True),
    ),
    Case("special_counter_integer", integer_counter),
    Case("special_kv_cache", cache),
    Case("special_delay_line", delay),
    Case("special_input_mutation", input_mutation),
    Case("special_methods", two_methods),
    Case("special_methods_shared_buffers", shared_buffers),
]
