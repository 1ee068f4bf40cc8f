"""Features of samples in fixed point, called once each; running this file writes the
cases again. What is expected is computed number by number, as headers of kernels state
it; all of it is exact."""

from collections.abc import Sequence
from math import log2
from pathlib import Path

import numpy as np
from numpy_calls import write

from ember.export.operators import roots
from ember.files.tensors import Array

random = np.random.default_rng(1)


# ---- rfft_s16: complex numbers, whose parts are whole --------------------------------


def bits_of(row: Sequence[complex]) -> int:
    """The least k with all of a row in [-2^k, 2^k)."""
    parts = [int(part) for number in row for part in (number.real, number.imag)]
    return next(k for k in range(32) if all(-(2**k) <= part < 2**k for part in parts))


def halved(number: complex, times: int) -> complex:
    return complex(int(number.real) >> times, int(number.imag) >> times)


def rounded(number: complex) -> complex:
    parts = [(int(part) + 2**14) >> 15 for part in (number.real, number.imag)]
    return complex(*parts)


def butterflies(
    x: list[complex], radix: int, twist: Array, halvings: int, step: int
) -> list[complex]:
    m = len(x) // radix // step
    y = [0j] * len(x)
    for p in range(m):
        for q in range(step):
            v = [x[q + step * (p + m * i)] for i in range(radix)]
            if radix == 4:
                first, second = min(halvings, 1), max(halvings - 1, 0)
                even, half = halved(v[0] + v[2], first), halved(v[0] - v[2], first)
                odd, back = halved(v[1] + v[3], first), halved(v[1] - v[3], first)
                sums = [even + odd, half - 1j * back, even - odd, half + 1j * back]
                sums = [halved(number, second) for number in sums]
            else:
                sums = [halved(v[0] + v[1], halvings), halved(v[0] - v[1], halvings)]
            for u, total in enumerate(sums):
                at = q + step * (radix * p + u)
                y[at] = total
                if u > 0 and p > 0:
                    y[at] = rounded(total * twist[(p - 1) * (radix - 1) + u - 1])
    return y


def split(x: list[complex], table: Array, halvings: int) -> list[complex]:
    h = len(x)
    z = [0j] * (h + 1)
    z[0] = halved(x[0].real + x[0].imag + 0j, halvings)
    z[h] = halved(x[0].real - x[0].imag + 0j, halvings)
    z[h // 2] = halved(x[h // 2].conjugate(), halvings)
    for k in range(1, h // 2):
        a, b = x[k], x[h - k].conjugate()
        even, twisted = halved(a + b, 1), rounded(halved(a - b, 1) * table[k - 1])
        z[k] = halved(even + twisted, halvings)
        z[h - k] = halved((even - twisted).conjugate(), halvings)
    return z


def spectrum(
    row: Array, window: Array, table: Array, n: int
) -> tuple[list[complex], int]:
    products = [int(a) * int(b) for a, b in zip(row, window, strict=True)]
    shift = max(bits_of([complex(product, 0) for product in products]) - 14, 0)
    samples = [(product + 2**shift // 2) >> shift for product in products]
    samples += [0] * (n - len(samples))
    x = [complex(*samples[i : i + 2]) for i in range(0, n, 2)]
    exponent, step, left, at = shift - 15, 1, n // 2, 0
    for radix in roots.radices(n // 2):
        left //= radix
        least = 12 if radix == 4 else 13
        halvings = min(max(bits_of(x) - least, 0), 2 if radix == 4 else 1)
        x = butterflies(x, radix, table[at:], halvings, step)
        exponent += halvings
        at += (left - 1) * (radix - 1)
        step *= radix
    halvings = min(max(bits_of(x) - 13, 0), 1)
    return split(x, table[at:], halvings), exponent + halvings


for n, width, rows, level in (
    (4, 3, (), 32768),
    (8, 8, (3,), 32768),
    (16, 16, (1,), 3000),
    (32, 20, (2, 2), 200),
    (64, 64, (2,), 32768),
    (128, 100, (), 32768),
    (256, 256, (1,), 2000),
    (512, 400, (1,), 32768),
):
    x = random.integers(-level, level, (*rows, width)).astype(np.int16)
    if n == 64:
        x[0], x[1] = 0, np.where(np.arange(width) % 8 < 4, 32767, -32768)
    if n == 512:
        x[0] = np.round(32767 * np.sin(np.arange(width) * 0.4))
    window = roots.fixed(np.hanning(width + 1)[1:] if n > 8 else np.ones(width))
    table = roots.of_real_s16(n)
    z, exponents = np.zeros((*rows, n // 2 + 1, 2), np.int16), np.zeros(rows, np.int32)
    for place in np.ndindex(rows):
        numbers, exponents[place] = spectrum(x[place], window, table @ [1, 1j], n)
        z[place] = np.array([(a.real, a.imag) for a in numbers]).astype(np.int16)
    write(
        Path(f"rfft_{n}"), "ember::rfft_s16.out", [x, window, table, n], [z, exponents]
    )


# ---- log_bands_s16 -------------------------------------------------------------------


def log_of(total: int) -> int:
    whole = total.bit_length() - 1
    part = (total << 16 >> whole) - 2**16
    low, high = (round(2**15 * log2(1 + (part // 2048 + i) / 32)) for i in (0, 1))
    return 2**15 * whole + low + (((high - low) * (part % 2048) + 1024) >> 11)


def log_bands(
    z: Array, exponent: int, bands: Array, weights: Array, floor: int
) -> list[int]:
    at, out = 0, []
    for first, length in bands.tolist():
        ranged = z[first : first + length].astype(object)
        energies = (ranged**2).sum(axis=1) if length else np.zeros(0, object)
        factors = weights[at : at + length].astype(object)
        total = int((energies * factors).sum())
        at += length
        total = (total >> 2 * max(-exponent, 0)) + (floor >> 2 * max(exponent, 0))
        log = log_of(max(total, 1)) + 2**15 * (2 * max(exponent, 0) - 45)
        out.append(min(max((log + 16) >> 5, -32768), 32767))
    return out


bands = np.array([(0, 3), (2, 7), (0, 0), (9, 1), (5, 16), (0, 21)], np.int32)
weights = random.integers(0, 32768, bands[:, 1].sum()).astype(np.int16)
for name, level, listed_exponents, floor in (
    ("logs", 20000, [-14, -3, 0, 2, 9, 16], 35184372),
    ("logs_of_noise", 3, [-14, -9, -1, 0, 1, 16], 35184),
    ("logs_of_all", 23170, [16, 12, 31, -31, 3, -5], 2**45),
):
    z = random.integers(-level, level + 1, (2, 3, 21, 2)).astype(np.int16)
    z[1] = 0 if level == 3 else z[1]
    powers = np.array(listed_exponents, np.int32).reshape(2, 3)
    out = np.zeros((2, 3, 6), np.int16)
    for place in np.ndindex(2, 3):
        out[place] = log_bands(z[place], int(powers[place]), bands, weights, floor)
    write(
        Path(name),
        "ember::log_bands_s16.out",
        [z, powers, bands, weights, floor],
        [out],
    )
z = random.integers(-9000, 9000, (5, 2)).astype(np.int16)
band = np.array([(1, 4)], np.int32)
out = np.array(log_bands(z, -2, band, weights, 99), np.int16)
exponent = np.array(-2, np.int32)
write(
    Path("logs_of_one"),
    "ember::log_bands_s16.out",
    [z, exponent, band, weights, 99],
    [out],
)


# ---- affine_s16 ----------------------------------------------------------------------

for name, shape, of_weights, shift, bits in (
    ("matrix", (2, 3, 24), (13, 24), 17, 16),
    ("matrix_s8", (2, 24), (12, 24), 24, 8),
    ("matrix_1", (1,), (1, 1), 1, 16),
    ("matrix_31", (31,), (2, 31), 31, 8),
    ("each", (3, 40), (40,), 15, 16),
    ("each_s8", (2, 2, 7), (7,), 20, 8),
    ("each_saturates", (9,), (9,), 1, 8),
):
    x = random.integers(-32768, 32768, shape).astype(np.int16)
    factors = random.integers(-32768, 32768, of_weights).astype(np.int16)
    x.flat[:1], factors.flat[:1] = -32768, -32768
    bias = random.integers(-(2**31), 2**31, of_weights[:1]).astype(np.int32)
    wide, wide_factors = x.astype(np.int64), factors.astype(np.int64)
    sums = wide * factors if len(of_weights) == 1 else wide @ wide_factors.T
    least, most = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
    shifted = (sums + bias + (1 << (shift - 1))) >> shift
    out = np.clip(shifted, least, most).astype(np.int16 if bits == 16 else np.int8)
    write(name, "ember::affine_s16.out", [x, factors, bias, shift, bits], [out])
