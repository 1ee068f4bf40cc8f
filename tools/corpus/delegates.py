# SPDX-License-Identifier: Apache-2.0
"""Programs that call a delegate: blobs inline, in segments, and with named data."""

from __future__ import annotations

import copy
from functools import partial
from typing import Any

import torch
from executorch.exir import ExecutorchBackendConfig, to_edge
from torch import Tensor, nn
from torch.export import export

from corpus.case import Case, Exported
from corpus.example_backend import ExamplePartitioner
from corpus.exporting import eager_runs, program_files
from corpus.modules import Apply, Net


def affine(m: Any, x: Tensor) -> Tensor:
    """Delegated: x * w, + b and y + x. Not delegated: tanh."""
    return torch.tanh(x * m.weight + m.bias) + x


def delegated(
    module: nn.Module, inputs: int, constants: str = "inline", **options: Any
) -> Exported:
    """Export a module of (2, 3) inputs with the example backend, two runs."""
    samples = [tuple(torch.randn(2, 3) for _ in range(inputs)) for _ in range(2)]
    program = export(copy.deepcopy(module), samples[0])
    edge = to_edge(program).to_backend(ExamplePartitioner(constants))
    manager = edge.to_executorch(ExecutorchBackendConfig(**options))
    return Exported(program_files(manager), eager_runs(module, samples))


def affine_delegated(*constants: str, **options: Any) -> Exported:
    module = Net(affine, weight=torch.randn(2, 3), bias=torch.tensor([0.5]))
    return delegated(module, 1, *constants, **options)


CASES = [
    Case("special_delegate", affine_delegated),
    Case(
        "special_delegate_inline",
        partial(affine_delegated, extract_delegate_segments=False),
    ),
    Case("special_delegate_named_data", partial(affine_delegated, "named")),
    Case("special_delegate_only", lambda: delegated(Apply(torch.add), 2)),
]
