"""The operators ember::* that make features of samples in fixed point, as PyTorch
computes them: bit for bit what kernels do.

ember::rfft_s16(x, window, roots, n)       (.., width) -> (.., n / 2 + 1, 2), (..)
ember::log_bands_s16(z, exponents, bands, weights, floor)
                                           (.., bins, 2), (..) -> (.., m)
ember::affine_s16(x, weights, bias, shift, bits)
                                           (.., n) -> (.., m), int16 or int8

kernels/signal/rfft_s16.h, log_bands_s16.h and affine_s16.h have the formulas.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ember.export.packages import need
from ember.export.signal.roots import radices

SCHEMAS = {
    "rfft_s16": "Tensor x, Tensor window, Tensor roots, int n",
    "log_bands_s16": (
        "Tensor z, Tensor exponents, Tensor bands, Tensor weights, int floor"
    ),
    "affine_s16": "Tensor x, Tensor weights, Tensor bias, int shift, int bits",
}
RESULTS = {"rfft_s16": 2}  # others have one
FRACTION = 15  # bits of a window, of roots and of weights of bands
LOG_FRACTION = 10  # bits of a logarithm
FLOOR_FRACTION = 45  # bits of a floor
INTERVALS = 32  # of the table of logarithms
_LOG2 = np.round(2**15 * np.log2(1 + np.arange(INTERVALS + 1) / INTERVALS))


# ---- spectra -------------------------------------------------------------------------


def rfft_s16(x: Any, window: Any, roots: Any, n: int) -> tuple[Any, Any]:
    torch = need("torch")
    products = x.reshape(-1, x.shape[-1]).to(torch.int64) * window
    shift = (_bits(products) - 14).clamp(min=0)
    shifted = (products + (1 << shift[:, None] >> 1)) >> shift[:, None]
    shifted = torch.nn.functional.pad(shifted, (0, n - x.shape[-1]))
    z = shifted.reshape(len(products), n // 2, 2).unbind(-1)
    z, exponents = _spectrum(z, roots.to(torch.int64), n // 2, shift - FRACTION)
    shape = x.shape[:-1]
    pairs = torch.stack(z, dim=-1).to(torch.int16).reshape(*shape, n // 2 + 1, 2)
    return pairs, exponents.to(torch.int32).reshape(shape)


def rfft_s16_shape(x: Any, window: Any, roots: Any, n: int) -> tuple[Any, Any]:
    torch = need("torch")
    shape = x.shape[:-1]
    pairs = x.new_empty((*shape, n // 2 + 1, 2))
    return pairs, x.new_empty(shape, dtype=torch.int32)


def _spectrum(z: Any, roots: Any, half: int, exponents: Any) -> tuple[Any, Any]:
    """All passes over rows of complex numbers, and the split."""
    torch = need("torch")
    step, left, at = 1, half, 0
    for radix in radices(half):
        left //= radix
        halvings = _halvings(z, 2 if radix == 4 else 1)
        exponents = exponents + halvings
        count = (left - 1) * (radix - 1)
        twist = roots[at : at + count].reshape(left - 1, radix - 1, 2)
        parts = [part.reshape(-1, radix, left, step) for part in z]
        butterfly = _four if radix == 4 else _two
        outputs = _twisted(butterfly(parts, halvings[:, None, None]), twist)
        stacked = [
            torch.stack(list(column), dim=2) for column in zip(*outputs, strict=True)
        ]
        z = [part.reshape(len(exponents), half) for part in stacked]
        step, at = step * radix, at + count
    halvings = _halvings(z, 1)
    return _split(z, roots[at:], halvings[:, None]), exponents + halvings


def _four(parts: Any, halvings: Any) -> list[tuple[Any, Any]]:
    first, second = halvings.clamp(max=1), (halvings - 1).clamp(min=0)
    (a, b, c, d), (ai, bi, ci, di) = (part.unbind(1) for part in parts)
    even, half = _sums((a, ai), (c, ci), first)
    odd, back = _sums((b, bi), (d, di), first)
    zeroth, two = _sums(even, odd, second)
    quarter, three = _sums(half, (back[1], -back[0]), second)
    return [zeroth, quarter, two, three]


def _two(parts: Any, halvings: Any) -> list[tuple[Any, Any]]:
    (a, b), (ai, bi) = (part.unbind(1) for part in parts)
    return list(_sums((a, ai), (b, bi), halvings))


def _sums(a: Any, b: Any, halvings: Any) -> tuple[Any, Any]:
    """a + b and a - b, perhaps halved, rounded down."""
    plus = tuple((x + y) >> halvings for x, y in zip(a, b, strict=True))
    minus = tuple((x - y) >> halvings for x, y in zip(a, b, strict=True))
    return plus, minus


def _twisted(outputs: list[Any], twist: Any) -> list[Any]:
    """All but the first output of all but the first butterfly, times their roots."""
    torch = need("torch")
    turned = [outputs[0]]
    for index, (re, im) in enumerate(outputs[1:]):
        product = _product((re[:, 1:], im[:, 1:]), twist[:, index, None, :])
        both = zip((re, im), product, strict=True)
        turned.append(tuple(torch.cat([x[:, :1], y], dim=1) for x, y in both))
    return turned


def _product(a: Any, w: Any) -> tuple[Any, Any]:
    half = 1 << (FRACTION - 1)
    re, im = a[0] * w[..., 0] - a[1] * w[..., 1], a[0] * w[..., 1] + a[1] * w[..., 0]
    return (re + half) >> FRACTION, (im + half) >> FRACTION


def _split(z: Any, roots: Any, halvings: Any) -> tuple[Any, Any]:
    torch = need("torch")
    re, im = z
    h = re.shape[1]
    k, back = torch.arange(1, h // 2), torch.arange(h - 1, h // 2, -1)
    even = (re[:, k] + re[:, back]) >> 1, (im[:, k] - im[:, back]) >> 1
    odd = (re[:, k] - re[:, back]) >> 1, (im[:, k] + im[:, back]) >> 1
    twisted = _product(odd, roots)
    low = [(x + y) >> halvings for x, y in zip(even, twisted, strict=True)]
    high = (even[0] - twisted[0]) >> halvings, (twisted[1] - even[1]) >> halvings
    first, middle = slice(0, 1), slice(h // 2, h // 2 + 1)
    zero = torch.zeros_like(re[:, first])
    ends = [(re[:, first] + sign * im[:, first]) >> halvings for sign in (1, -1)]
    turned = re[:, middle] >> halvings, -im[:, middle] >> halvings
    whole = [ends[0], low[0], turned[0], high[0].flip(1), ends[1]]
    return (
        torch.cat(whole, dim=1),
        torch.cat([zero, low[1], turned[1], high[1].flip(1), zero], dim=1),
    )


def _bits(numbers: Any) -> Any:
    """Of each row the least k with all numbers in [-2^k, 2^k)."""
    torch = need("torch")
    most = torch.where(numbers < 0, ~numbers, numbers).amax(-1)
    return (most[:, None] >= 2 ** torch.arange(31, device=most.device)).sum(-1)


def _halvings(z: Any, most: int) -> Any:
    """How often each row is halved, so that no number of a pass exceeds 16 bits."""
    torch = need("torch")
    return (_bits(torch.cat(list(z), dim=-1)) - (14 - most)).clamp(0, most)


# ---- bands and features --------------------------------------------------------------


def log_bands_s16(z: Any, exponents: Any, bands: Any, weights: Any, floor: int) -> Any:
    torch = need("torch")
    matrix, at = torch.zeros(z.shape[-2], len(bands), dtype=torch.int64), 0
    for column, (first, length) in enumerate(bands.tolist()):
        matrix[first : first + length, column] = weights[at : at + length]
        at += length
    sums = z.to(torch.int64).square().sum(-1) @ matrix
    twice = 2 * exponents.to(torch.int64)[..., None]
    small, large = (-twice).clamp(min=0), twice.clamp(min=0)
    total = (sums >> small) + (torch.tensor(floor) >> large)
    log = _log2(total.clamp(min=1)) + ((large - FLOOR_FRACTION) << 15)
    return _rounded(log, torch.tensor(15 - LOG_FRACTION)).to(torch.int16)


def log_bands_s16_shape(
    z: Any, exponents: Any, bands: Any, weights: Any, floor: int
) -> Any:
    return z.new_empty([*z.shape[:-2], bands.shape[0]])


def _log2(total: Any) -> Any:
    """With 15 fraction bits, by a table and straight lines."""
    torch = need("torch")
    table = torch.from_numpy(_LOG2.astype(np.int64))
    whole = (total[..., None] >= 2 ** torch.arange(1, 63)).sum(-1)
    mantissa = total << (62 - whole)
    index, rest = (mantissa >> 57) & (INTERVALS - 1), (mantissa >> 46) & 2047
    low, high = table[index], table[index + 1]
    return (whole << 15) + low + (((high - low) * rest + 1024) >> 11)


def affine_s16(x: Any, weights: Any, bias: Any, shift: int, bits: int) -> Any:
    torch = need("torch")
    wide, factors = x.to(torch.int64), weights.to(torch.int64)
    sums = wide * factors if weights.dim() == 1 else wide @ factors.T
    return _rounded(sums + bias, torch.tensor(shift), bits).to(_type(bits))


def affine_s16_shape(x: Any, weights: Any, bias: Any, shift: int, bits: int) -> Any:
    return x.new_empty([*x.shape[:-1], len(bias)], dtype=_type(bits))


def _type(bits: int) -> Any:
    torch = need("torch")
    return torch.int16 if bits == 16 else torch.int8


def _rounded(numbers: Any, shift: Any, bits: int = 16) -> Any:
    most = 1 << (bits - 1)
    return ((numbers + (1 << (shift - 1))) >> shift).clamp(-most, most - 1)


SHAPES: dict[str, Callable[..., Any]] = {
    "rfft_s16": rfft_s16_shape,
    "log_bands_s16": log_bands_s16_shape,
    "affine_s16": affine_s16_shape,
}
