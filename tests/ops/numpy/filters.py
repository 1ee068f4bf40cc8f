"""Filters of samples, called once each; running this file writes the cases again. What
is expected is computed sample by sample, in float32 in the order that kernels state, or
in integers; all of it is exact."""

from pathlib import Path

import numpy as np
from numpy_calls import write

from ember.files.tensors import Array

random = np.random.default_rng(1)


def sum_of(products: Array) -> int | np.float32:
    if products.dtype == np.int64:
        return min(max((int(products.sum()) + 16384) // 32768, -32768), 32767)
    total = np.float32(0)
    for product in products:
        total = np.float32(total + product)
    return total


def resampled(window: Array, taps: Array, up: int, down: int) -> Array:
    reach = taps.shape[1]
    count = (window.shape[-1] - reach + 1) * up // down
    wide = np.int64 if window.dtype == np.int16 else np.float32
    out = np.zeros((*window.shape[:-1], count), window.dtype)
    for place in np.ndindex(out.shape):
        sample, phase = divmod(place[-1] * down, up)
        x = window[(*place[:-1], slice(sample, sample + reach))].astype(wide)
        out[place] = sum_of(x * taps[phase].astype(wide))
    return out


def filtered(x: Array, held: Array, sections: Array) -> tuple[Array, Array]:
    y, state = x.copy(), held.copy()
    for row in np.ndindex(x.shape[:-1]):
        for k, (b0, b1, b2, a1, a2) in enumerate(sections):
            p, q = state[(*row, k)]
            for i, sample in enumerate(y[row].copy()):
                out = b0 * sample + p
                p = (b1 * sample - a1 * out) + q
                q = b2 * sample - a2 * out
                y[(*row, i)] = out
            state[(*row, k)] = p, q
    return y, state


for name, shape, taps, up, down in (
    ("fir", (2, 3, 20), (1, 5), 1, 1),
    ("fir_1", (7,), (1, 1), 1, 1),
    ("fir_16", (2, 21), (1, 16), 1, 1),
    ("fir_23", (2, 26), (1, 23), 1, 1),
    ("third", (2, 17), (1, 6), 1, 3),
    ("triple", (9,), (3, 4), 3, 1),
    ("three_halves", (2, 11), (3, 4), 3, 2),
    ("two_thirds", (2, 14), (2, 3), 2, 3),
):
    window = random.standard_normal(shape).astype(np.float32)
    factors = random.standard_normal(taps).astype(np.float32)
    y = resampled(window, factors, up, down)
    write(name, "ember::resample.out", [window, factors, up, down], [y])
    window = random.integers(-32768, 32768, shape).astype(np.int16)
    factors = random.integers(-32768, 32768, taps).astype(np.int16)
    window.flat[:6], factors.flat[:5] = -32768, -32768  # saturates
    y = resampled(window, factors, up, down)
    write(f"{name}_s16", "ember::resample.out", [window, factors, up, down], [y])

for name, shape, count in (("biquad", (12,), 1), ("biquads", (2, 3, 9), 3)):
    x = random.standard_normal(shape).astype(np.float32)
    held = random.standard_normal((*shape[:-1], count, 2)).astype(np.float32)
    sections = (random.standard_normal((count, 5)) * 0.4).astype(np.float32)
    write(
        Path(name),
        "ember::biquads.out",
        [x, held, sections],
        filtered(x, held, sections),
    )
