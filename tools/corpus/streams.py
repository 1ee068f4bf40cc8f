# SPDX-License-Identifier: Apache-2.0
"""Bundled programs of `ember export` that keep a state between their test cases."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from corpus.case import Case, Exported
from ember.export import cases, flows
from ember.export.flows import Backend, Quantize
from ember.export.source import Source


class Cell(nn.Module):
    """A recurrent layer that starts at a quarter, and counts its calls from three."""

    hidden: Tensor

    def __init__(self, inputs: int, width: int) -> None:
        super().__init__()
        self.mix = nn.Linear(inputs + width, width)
        self.register_buffer("hidden", torch.full((1, width), 0.25))
        self.register_buffer("calls", torch.tensor(3))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        self.hidden = torch.tanh(self.mix(torch.cat([x, self.hidden], dim=1)))
        self.calls.add_(1)
        return self.hidden, self.calls.clone()


class Stream(nn.Module):
    """A layer over the last four frames, then the one that remembers."""

    def __init__(self) -> None:
        super().__init__()
        self.filters = nn.Linear(32, 32)
        self.recurrent = Cell(32, 16)
        self.register_buffer("frames", torch.zeros(1, 4, 8))

    def forward(self, frame: Tensor) -> tuple[Tensor, Tensor]:
        recent = torch.cat([self.frames[:, 1:], frame], dim=1)
        self.frames.copy_(recent)
        return self.recurrent(torch.relu(self.filters(recent.flatten(1))))


def streamed(backend: Backend, quantize: Quantize | None) -> Exported:
    samples: list[tuple[Any, ...]] = [(torch.randn(1, 1, 8),) for _ in range(6)]
    source = Source(Path(__file__), Stream().eval(), samples[0], tuple(samples))
    lowered = flows.lower(source, backend, quantize, "cortex-m55", samples)
    outputs = lowered.outputs([lowered.prepare(sample) for sample in samples])
    return Exported({"model.bpte": cases.bundled(lowered, samples, outputs)})


CASES = [
    Case("bundle_stream", lambda: streamed("portable", None)),
    Case("bundle_stream_int8", lambda: streamed("cortex_m", "int8")),
]
