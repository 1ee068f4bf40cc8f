# SPDX-License-Identifier: Apache-2.0
"""Bundled programs of `ember export` that keep a state between their test cases."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from corpus.bundles import by_flow
from corpus.case import Case, Exported
from corpus.modules import Net
from ember.export.flows import Quantize


def remembering(m: Any, x: Tensor) -> tuple[Tensor, Tensor]:
    """A recurrent layer that starts at a quarter, and counts its calls from three."""
    m.hidden = torch.tanh(m.mix(torch.cat([x, m.hidden], dim=1)))
    m.calls.add_(1)
    return m.hidden, m.calls.clone()


def framed(m: Any, frame: Tensor) -> tuple[Tensor, Tensor]:
    """A layer over the last four frames, then the one that remembers."""
    recent = torch.cat([m.frames[:, 1:], frame], dim=1)
    m.frames.copy_(recent)
    return m.recurrent(torch.relu(m.filters(recent.flatten(1))))


def streamed(quantize: Quantize | None) -> Exported:
    samples = [(torch.randn(1, 1, 8),) for _ in range(6)]
    filters, mix = nn.Linear(32, 32), nn.Linear(32 + 16, 16)
    hidden, calls = torch.full((1, 16), 0.25), torch.tensor(3)
    cell = Net(remembering, mix=mix, hidden=hidden, calls=calls)
    frames = torch.zeros(1, 4, 8)
    model = Net(framed, filters=filters, recurrent=cell, frames=frames)
    return by_flow(model, samples, quantize)


CASES = [
    Case("bundle_stream", lambda: streamed(None)),
    Case("bundle_stream_int8", lambda: streamed("int8")),
]
