# SPDX-License-Identifier: Apache-2.0
"""Bundled programs of networks over time: of whole recordings, and a hop at a time.

`bundle_NAME` takes a recording, `bundle_NAME_hops` the same in hops: its
outputs one after the other are those of the first, bit by bit.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import torch
from executorch.backends.cortex_m.quantizer import quantization_configs
from torch import Tensor, nn
from torchao.quantization.pt2e import MinMaxObserver

from corpus.case import Case, Exported
from ember.export import cases, flows
from ember.export.flows import Backend, Quantize
from ember.export.source import Source
from ember.frontends import FIR, Biquads, Causal, Resample, streamed


class Temporal(nn.Module):
    """Dilated convolutions, and a sum of what two of them give."""

    def __init__(self) -> None:
        super().__init__()
        self.first = Causal(nn.Conv2d(4, 8, (3, 1)))
        self.second = Causal(nn.Conv2d(8, 8, (3, 1), dilation=(2, 1)))
        self.third = Causal(nn.Conv2d(8, 8, (2, 1), dilation=(4, 1), groups=8))
        self.last = nn.Conv2d(8, 3, 1)

    def forward(self, x: Tensor) -> Tensor:
        x = torch.relu(self.first(x))
        x = x + torch.relu(self.second(x))
        return self.last(torch.relu(self.third(x)))


class Separable(nn.Module):
    """A depthwise separable network over spectra, which halves the frames twice."""

    def __init__(self) -> None:
        super().__init__()
        self.first = Causal(nn.Conv2d(1, 6, (4, 3), stride=(2, 2), padding=(0, 1)))
        self.depthwise = Causal(nn.Conv2d(6, 6, 3, padding=(0, 1), groups=6))
        self.normal = nn.BatchNorm2d(6)
        self.pointwise = nn.Conv2d(6, 8, 1)
        self.pool = Causal(nn.AvgPool2d((2, 5)))

    def forward(self, x: Tensor) -> Tensor:
        x = torch.relu(self.first(x))
        x = torch.relu(self.normal(self.depthwise(x)))
        return self.pool(torch.relu(self.pointwise(x)))


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.long = nn.LSTM(5, 6, batch_first=True)
        self.gated = nn.GRU(6, 7, batch_first=True)
        self.last = nn.Linear(7, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.last(self.gated(self.long(x)[0])[0])


class Filters(nn.Module):
    """Without the mean and what is fast, a third of the samples, and a difference."""

    def __init__(self) -> None:
        super().__init__()
        low = [0.2, 0.4, 0.2, 1, -0.4, 0.2]
        self.sections = Biquads([[1, -1, 0, 1, -0.95, 0], low])
        self.rate = Resample(1, 3, crossings=4)
        self.difference = FIR([1, 0, -1])

    def forward(self, x: Tensor) -> Tensor:
        return self.difference(self.rate(self.sections(x)))


class Integers(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.smooth = FIR([0.25, 0.5, 0.25], int16=True)
        self.rate = Resample(3, 2, crossings=4, int16=True)

    def forward(self, x: Tensor) -> Tensor:
        return self.rate(self.smooth(x))


def noise(*sizes: int) -> Tensor:
    return torch.randn(sizes)


def samples_of_16_bits(*sizes: int) -> Tensor:
    return torch.randint(-32768, 32768, sizes).to(torch.int16)


@contextlib.contextmanager
def scales_of_extremes() -> Iterator[None]:
    """Histograms depend on how a recording is cut; the least and the largest do not."""
    spec = quantization_configs.INT8_ACTIVATION_PER_TENSOR_QSPEC
    with mock.patch.dict(spec.__dict__, observer_or_fake_quant_ctr=MinMaxObserver):
        yield


def exported(
    model: nn.Module, samples: list[tuple[Tensor, ...]], quantize: Quantize | None
) -> Exported:
    backend: Backend = "cortex_m" if quantize else "portable"
    source = Source(Path(__file__), model.eval(), samples[0], tuple(samples))
    with scales_of_extremes():
        lowered = flows.lower(source, backend, quantize, "cortex-m55", samples)
    outputs = lowered.outputs([lowered.prepare(sample) for sample in samples])
    return Exported({"model.bpte": cases.bundled(lowered, samples, outputs)})


def pair(
    name: str,
    make: Callable[[], nn.Module],
    recording: Callable[[], Tensor],
    axis: int,
    hop: int,
    quantize: Quantize | None = None,
) -> list[Case]:
    """A recording, whose frames are dimension `axis`, and its hops."""

    def whole() -> Exported:
        return recorded(in_hops=False)

    def hops() -> Exported:
        return recorded(in_hops=True)

    def recorded(*, in_hops: bool) -> Exported:
        torch.manual_seed(1)
        model: Any = make().eval()
        samples = [(recording(),)]
        if in_hops:
            samples = [(each.clone(),) for each in samples[0][0].split(hop, axis)]
            model = streamed(model, *samples[0])
        return exported(model, samples, quantize)

    return [Case(f"bundle_{name}", whole), Case(f"bundle_{name}_hops", hops)]


FRAMES = partial(noise, 1, 4, 20, 1)
CASES = [
    *pair("temporal", Temporal, FRAMES, 2, 1),
    *pair("temporal_int8", Temporal, FRAMES, 2, 2, "int8"),
    *pair("separable_int8", Separable, partial(noise, 1, 1, 24, 10), 2, 4, "int8"),
    *pair("recurrent", Recurrent, partial(noise, 1, 4, 5), 1, 1),
    *pair("filters", Filters, partial(noise, 2, 96), 1, 12),
    *pair("filters_int16", Integers, partial(samples_of_16_bits, 48), 0, 8),
]
