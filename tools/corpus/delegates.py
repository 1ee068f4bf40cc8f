# SPDX-License-Identifier: Apache-2.0
"""Programs that call a delegate: blobs inline, in segments, and with named data."""

from __future__ import annotations

import copy
from typing import Any

import torch
from executorch.exir import ExecutorchBackendConfig, to_edge
from torch import Tensor, nn
from torch.export import export

from corpus.case import Case, Exported
from corpus.example_backend import ExamplePartitioner
from corpus.exporting import eager_runs, program_files


class Affine(nn.Module):
    """Delegated: x * w, + b and y + x. Not delegated: tanh."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("weight", torch.randn(2, 3))
        self.register_buffer("bias", torch.tensor([0.5]))

    def forward(self, x: Tensor) -> Tensor:
        y = torch.tanh(x * self.weight + self.bias)
        return y + x


class WholeAdd(nn.Module):
    """Nothing but one delegated addition."""

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return x + y


def delegated(
    module: nn.Module, inputs: int, constants: str = "inline", **options: Any
) -> Exported:
    """Export a module of (2, 3) inputs with the example backend, two runs."""
    samples = [tuple(torch.randn(2, 3) for _ in range(inputs)) for _ in range(2)]
    program = export(copy.deepcopy(module), samples[0])
    edge = to_edge(program).to_backend(ExamplePartitioner(constants))
    manager = edge.to_executorch(ExecutorchBackendConfig(**options))
    return Exported(program_files(manager), eager_runs(module, samples))


CASES = [
    Case("special_delegate", lambda: delegated(Affine(), 1)),
    Case(
        "special_delegate_inline",
        lambda: delegated(Affine(), 1, extract_delegate_segments=False),
    ),
    Case("special_delegate_named_data", lambda: delegated(Affine(), 1, "named")),
    Case("special_delegate_only", lambda: delegated(WholeAdd(), 2)),
]
