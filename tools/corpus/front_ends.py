# SPDX-License-Identifier: Apache-2.0
"""Bundled programs of `ember export` of models with complex numbers inside."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from corpus.bundles import by_flow
from corpus.case import Case, Exported
from corpus.modules import Apply, Net
from ember.frontends import MFCC, Int8, LogMel, Spectrum, Streaming


def denoised(m: Any, x: Tensor) -> Tensor:
    """Short-time spectra, the weak numbers of which are damped, and back."""
    options = {"hop_length": 8, "window": m.window}
    z = torch.stft(x, 32, return_complex=True, **options)
    power = z.abs() ** 2
    return torch.istft(z * (power / (power + 1)), 32, **options)


def correlated(x: Tensor) -> Tensor:
    """Where one row has moved to in the other: by phases, over an odd length."""
    z = torch.fft.rfft(x)
    product = z[0] * z[1].conj()
    return torch.fft.irfft(product / (product.abs() + 0.1), n=x.shape[-1])


def denoiser() -> nn.Module:
    return Net(denoised, window=torch.hann_window(32))


def exported(model: nn.Module, *sizes: int, calls: int = 1) -> Exported:
    return by_flow(model, [(torch.randn(sizes),) for _ in range(calls)])


def exported_int16(model: nn.Module, *sizes: int, calls: int) -> Exported:
    """Each call is louder than the one before."""
    levels = [2 ** (15 * (call + 1) // calls) for call in range(calls)]
    inputs = [torch.randint(-level, level, sizes) for level in levels]
    return by_flow(model, [(numbers.to(torch.int16),) for numbers in inputs])


CASES = [
    Case("bundle_denoise", lambda: exported(denoiser(), 2, 128)),
    Case("bundle_correlate", lambda: exported(Apply(correlated), 2, 45)),
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
