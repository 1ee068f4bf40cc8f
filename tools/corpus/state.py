# SPDX-License-Identifier: Apache-2.0
"""Programs with memory: counters, caches, several methods, shared mutable buffers."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from executorch.exir import ExecutorchBackendConfig
from executorch.exir.passes import MemoryPlanningPass
from executorch.exir.passes.init_mutable_pass import InitializedMutableBufferPass
from torch import Tensor, nn
from torch.export import export

from corpus.case import Case, Exported
from corpus.exporting import eager_run, exported_module, lowered, program_files
from corpus.modules import Apply, Net

# ---- what is kept, and by which functions --------------------------------------------


def counted(m: Any, x: Tensor) -> Tensor:
    """Adds its input to a number that it keeps."""
    m.total.add_(x)
    return m.total * 1.0


def counter_from(start: float) -> nn.Module:
    return Net(counted, total=torch.full((2,), start))


def executions(m: Any, x: Tensor) -> tuple[Tensor, Tensor]:
    """Counts them in a 0-d int64 buffer."""
    m.count.add_(1)
    return x * m.count, m.count.clone()


def attention(m: Any, x: Tensor, position: Tensor) -> Tensor:
    """Single-head, over keys and values stored at a given position."""
    q, k, v = m.mix(x).chunk(3, dim=-1)
    m.keys[:, position] = k
    m.values[:, position] = v
    scores = q @ m.keys.transpose(1, 2) / 2.0
    hidden = (m.steps > position).reshape(1, 1, -1)
    weights = torch.softmax(scores.masked_fill(hidden, float("-inf")), dim=-1)
    return weights @ m.values


def delayed(m: Any, x: Tensor) -> Tensor:
    """Gives back its input of three executions ago."""
    oldest = m.line[0].clone()
    m.line.copy_(torch.cat([m.line[1:], x.unsqueeze(0)]))
    return oldest


def bumped(x: Tensor) -> Tensor:
    """Changes its input in place."""
    x.add_(1.0)
    return x * 2


def put(m: Any, x: Tensor) -> Tensor:
    m.state.copy_(x)
    return x + 0.0


def accumulate(m: Any, x: Tensor) -> Tensor:
    m.state.add_(x)
    return m.state * 1.0


def encode(m: Any, x: Tensor) -> Tensor:
    return torch.tanh(m.first(x))


def decode(m: Any, x: Tensor) -> Tensor:
    return m.second(x)


# ---- programs ------------------------------------------------------------------------


def methods(
    parts: dict[str, Any],
    calls: Sequence[tuple[Callable[..., Any], tuple[Any, ...]]],
    config: ExecutorchBackendConfig | None = None,
) -> Exported:
    """Export every function of `calls` as a method of a module with `parts`, and run
    the calls in order."""
    owner = Net(encode, **parts)
    copied = copy.deepcopy(owner)
    runs = [eager_run(f.__name__, partial(f, copied), inputs) for f, inputs in calls]
    examples = dict(reversed(calls))
    programs = {
        function.__name__: export(
            Net(lambda m, x, of=function: of(m.owner, x), owner=copy.deepcopy(owner)),
            examples[function],
        )
        for function in sorted(examples, key=lambda function: function.__name__)
    }
    return Exported(program_files(lowered(programs, config)), runs)


def counter(start: float, *passes: Any, **options: Any) -> Exported:
    config = ExecutorchBackendConfig(passes=list(passes), **options)
    inputs = [(torch.tensor([float(i), -0.5]),) for i in range(1, 5)]
    return exported_module(counter_from(start), *inputs, config=config)


def cache(steps: int = 6, width: int = 4) -> Exported:
    inputs = [(torch.randn(1, 1, width), torch.tensor([i])) for i in range(steps)]
    module = Net(
        attention,
        mix=nn.Linear(width, 3 * width),
        keys=torch.zeros(1, steps, width),
        values=torch.zeros(1, steps, width),
        steps=torch.arange(steps),
    )
    return exported_module(module, *inputs)


def integer_counter() -> Exported:
    module = Net(executions, count=torch.zeros((), dtype=torch.int64))
    return exported_module(module, *[(torch.ones(2),)] * 3)


def delay() -> Exported:
    inputs = [(torch.tensor([i, 10.0 * i]),) for i in range(1, 7)]
    return exported_module(Net(delayed, line=torch.zeros(3, 2)), *inputs)


def input_mutation() -> Exported:
    exported = exported_module(Apply(bumped), (torch.randn(3),))
    run = exported.runs[0]
    changed = eager_run("forward", lambda x: (x + 1.0, (x + 1.0) * 2), (run.inputs[0],))
    return Exported(exported.files, [changed])


def two_methods() -> Exported:
    calls = [
        (function, (torch.randn(2, size),))
        for function, size in ((encode, 5), (decode, 4), (encode, 5))
    ]
    return methods({"first": nn.Linear(5, 4), "second": nn.Linear(4, 5)}, calls)


def shared_buffers() -> Exported:
    planning = MemoryPlanningPass(share_mutable_buffers=True)
    config = ExecutorchBackendConfig(
        memory_planning_pass=planning, emit_mutable_buffer_names=True
    )
    order = (accumulate, put, accumulate, accumulate, put, accumulate)
    calls = [(function, (torch.randn(3),)) for function in order]
    return methods({"state": torch.zeros(3)}, calls, config)


CASES = [
    Case("special_counter", lambda: counter(0.0)),
    Case(
        "special_counter_initial",
        lambda: counter(3.0, InitializedMutableBufferPass(["total"])),
    ),
    Case("special_counter_named", lambda: counter(0.0, emit_mutable_buffer_names=True)),
    Case("special_counter_integer", integer_counter),
    Case("special_kv_cache", cache),
    Case("special_delay_line", delay),
    Case("special_input_mutation", input_mutation),
    Case("special_methods", two_methods),
    Case("special_methods_shared_buffers", shared_buffers),
]
