# SPDX-License-Identifier: Apache-2.0
"""Bundled programs of networks over time: of whole recordings, and a hop at a time.

`bundle_NAME` takes a recording, `bundle_NAME_hops` the same in hops: its
outputs one after the other are those of the first, bit by bit.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any
from unittest import mock

import torch
from executorch.backends.cortex_m.quantizer import quantization_configs
from torch import Tensor, nn
from torchao.quantization.pt2e import MinMaxObserver

from corpus.bundles import by_flow
from corpus.case import Case, Exported
from corpus.modules import Net
from ember.export.flows import Quantize
from ember.frontends import FIR, Biquads, Causal, Resample, streamed


def temporal() -> nn.Module:
    """Dilated convolutions, and a sum of what two of them give."""

    def forward(m: Any, x: Tensor) -> Tensor:
        x = torch.relu(m.first(x))
        x = x + torch.relu(m.second(x))
        return m.last(torch.relu(m.third(x)))

    return Net(
        forward,
        first=Causal(nn.Conv2d(4, 8, (3, 1))),
        second=Causal(nn.Conv2d(8, 8, (3, 1), dilation=(2, 1))),
        third=Causal(nn.Conv2d(8, 8, (2, 1), dilation=(4, 1), groups=8)),
        last=nn.Conv2d(8, 3, 1),
    )


def separable() -> nn.Module:
    """A depthwise separable network over spectra, which halves the frames twice."""

    def forward(m: Any, x: Tensor) -> Tensor:
        x = torch.relu(m.first(x))
        x = torch.relu(m.normal(m.depthwise(x)))
        return m.pool(torch.relu(m.pointwise(x)))

    return Net(
        forward,
        first=Causal(nn.Conv2d(1, 6, (4, 3), stride=(2, 2), padding=(0, 1))),
        depthwise=Causal(nn.Conv2d(6, 6, 3, padding=(0, 1), groups=6)),
        normal=nn.BatchNorm2d(6),
        pointwise=nn.Conv2d(6, 8, 1),
        pool=Causal(nn.AvgPool2d((2, 5))),
    )


def recurrent() -> nn.Module:
    return Net(
        lambda m, x: m.last(m.gated(m.long(x)[0])[0]),
        long=nn.LSTM(5, 6, batch_first=True),
        gated=nn.GRU(6, 7, batch_first=True),
        last=nn.Linear(7, 3),
    )


def filters() -> nn.Module:
    """Without the mean and what is fast, a third of the samples, and a difference."""
    low = [0.2, 0.4, 0.2, 1, -0.4, 0.2]
    return nn.Sequential(
        Biquads([[1, -1, 0, 1, -0.95, 0], low]),
        Resample(1, 3, crossings=4),
        FIR([1, 0, -1]),
    )


def integer_filters() -> nn.Module:
    smooth = FIR([0.25, 0.5, 0.25], int16=True)
    return nn.Sequential(smooth, Resample(3, 2, crossings=4, int16=True))


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


def pair(
    name: str,
    make: Callable[[], nn.Module],
    recording: Callable[[], Tensor],
    axis: int,
    hop: int,
    quantize: Quantize | None = None,
) -> list[Case]:
    """A recording, whose frames are dimension `axis`, and its hops."""

    def recorded(*, in_hops: bool) -> Exported:
        torch.manual_seed(1)
        model: Any = make().eval()
        samples = [(recording(),)]
        if in_hops:
            samples = [(each.clone(),) for each in samples[0][0].split(hop, axis)]
            model = streamed(model, *samples[0])
        with scales_of_extremes():
            return by_flow(model, samples, quantize)

    return [
        Case(f"bundle_{name}", partial(recorded, in_hops=False)),
        Case(f"bundle_{name}_hops", partial(recorded, in_hops=True)),
    ]


FRAMES = partial(noise, 1, 4, 20, 1)
CASES = [
    *pair("temporal", temporal, FRAMES, 2, 1),
    *pair("temporal_int8", temporal, FRAMES, 2, 2, "int8"),
    *pair("separable_int8", separable, partial(noise, 1, 1, 24, 10), 2, 4, "int8"),
    *pair("recurrent", recurrent, partial(noise, 1, 4, 5), 1, 1),
    *pair("filters", filters, partial(noise, 2, 96), 1, 12),
    *pair("filters_int16", integer_filters, partial(samples_of_16_bits, 48), 0, 8),
]
