# SPDX-License-Identifier: Apache-2.0
"""Bundled programs of `ember export` of models with complex numbers inside."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from corpus.case import Case, Exported
from ember.export import cases, flows
from ember.export.source import Source
from ember.frontends import MFCC, Int8, LogMel, Spectrum, Streaming


class Denoise(nn.Module):
    """Short-time spectra, the weak numbers of which are damped, and back."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("window", torch.hann_window(32))

    def forward(self, x: Tensor) -> Tensor:
        options = {"hop_length": 8, "window": self.window}
        z = torch.stft(x, 32, return_complex=True, **options)
        power = z.abs() ** 2
        return torch.istft(z * (power / (power + 1)), 32, **options)


class Correlate(nn.Module):
    """Where one row has moved to in the other: by phases, over an odd length."""

    def forward(self, x: Tensor) -> Tensor:
        z = torch.fft.rfft(x)
        product = z[0] * z[1].conj()
        return torch.fft.irfft(product / (product.abs() + 0.1), n=x.shape[-1])


def exported(model: nn.Module, *sizes: int, calls: int = 1) -> Exported:
    return _exported(model, [torch.randn(sizes) for _ in range(calls)])


def exported_int16(model: nn.Module, *sizes: int, calls: int) -> Exported:
    """Each call is louder than the one before."""
    levels = [2 ** (15 * (call + 1) // calls) for call in range(calls)]
    inputs = [torch.randint(-level, level, sizes) for level in levels]
    return _exported(model, [numbers.to(torch.int16) for numbers in inputs])


def _exported(model: nn.Module, inputs: list[Tensor]) -> Exported:
    samples: list[tuple[Any, ...]] = [(numbers,) for numbers in inputs]
    source = Source(Path(__file__), model.eval(), samples[0], tuple(samples))
    lowered = flows.lower(source, "portable", None, "cortex-m55", samples)
    outputs = lowered.outputs([lowered.prepare(sample) for sample in samples])
    return Exported({"model.bpte": cases.bundled(lowered, samples, outputs)})


CASES = [
    Case("bundle_denoise", lambda: exported(Denoise(), 2, 128)),
    Case("bundle_correlate", lambda: exported(Correlate(), 2, 45)),
    Case(
        "bundle_log_mel_stream",
        lambda: exported(Streaming(LogMel()), 160, calls=5),
    ),
    Case(
        "bundle_mfcc_stream",
        lambda: exported(Streaming(MFCC(window=480, fft=480), (2,)), 2, 160, calls=5),
    ),
    Case(
        "bundle_mfcc_int8_stream",
        lambda: exported_int16(
            Streaming(Int8(MFCC(int16=True), 3.0, 5.0)), 160, calls=5
        ),
    ),
    Case(
        "bundle_spectrum_int16_stream",
        lambda: exported_int16(Streaming(Spectrum(100, 40, 128), (2,)), 2, 40, calls=4),
    ),
]
