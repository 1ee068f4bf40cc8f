"""The length of a Fourier transform becomes the roots of unity that its kernel reads.

`kernels/signal/fft.h` has the formula of a pass and the order of its roots. All are
computed in float64 from angles within one turn, and rounded once.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ember.files.tensors import Array


def radices(n: int) -> Iterator[int]:
    """The radix of each pass: 4 as often as it divides, 2, then odd prime factors."""
    while n > 1:
        radix = 4 if n % 4 == 0 else 2 if n % 2 == 0 else _smallest_odd(n)
        yield radix
        n //= radix


def of_complex(n: int) -> Array:
    """Roots of a transform of n complex numbers: (count, 2) float32."""
    parts = [np.empty(0, np.complex128)]
    for radix in radices(n):
        if radix % 2:
            parts.append(_turn(np.arange(radix), radix))
        steps = n // radix
        products = np.outer(np.arange(1, steps), np.arange(1, radix))
        parts.append(_turn(products.reshape(-1), n))
        n = steps
    return _pairs(np.concatenate(parts))


def of_real(n: int) -> Array:
    """Roots of a transform of n real numbers to n // 2 + 1, or back."""
    if n % 2:
        return of_complex(n)
    half = n // 2
    split = _turn(np.arange(1, half // 2 + 1), n)
    return np.concatenate([of_complex(half), _pairs(split)])


def of_real_s16(n: int) -> Array:
    """Roots of a transform of n real int16, a power of 2: (count, 2) with 15 fraction
    bits, in the order of kernels/signal/rfft_s16.h."""
    half = n // 2
    split = -1j * _turn(np.arange(1, half // 2), n)
    return fixed(np.concatenate([of_complex(half), _pairs(split)]))


def fixed(numbers: Any) -> Array:
    """Numbers from -1 to 1 as int16 with 15 fraction bits."""
    scaled: Array = np.round(np.asarray(numbers, np.float64) * 2**15)
    return np.clip(scaled, -(2**15), 2**15 - 1).astype(np.int16)


def _turn(numerator: Any, n: int) -> Any:
    """exp(-2 pi i numerator / n)."""
    return np.exp(-2j * np.pi * (numerator % n) / n)


def _pairs(numbers: Any) -> Array:
    return np.stack([numbers.real, numbers.imag], axis=-1).astype(np.float32)


def _smallest_odd(n: int) -> int:
    factor = 3
    while factor * factor <= n:
        if n % factor == 0:
            return factor
        factor += 2
    return n
