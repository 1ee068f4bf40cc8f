"""float16 and bfloat16 conversions of the kernels, over every value there is."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from ember import paths

DRIVER = """
#include "kernels/engine/element.h"
void widen_f16(const uint16_t *x, float *y, int n);
void widen_bf16(const uint16_t *x, float *y, int n);
void narrow_f16(const float *x, uint16_t *y, int n);
void narrow_bf16(const float *x, uint16_t *y, int n);
void widen_f16(const uint16_t *x, float *y, int n) {
    for (int i = 0; i < n; i++) y[i] = ember_f32_from_f16(x[i]);
}
void widen_bf16(const uint16_t *x, float *y, int n) {
    for (int i = 0; i < n; i++) y[i] = ember_f32_from_bf16(x[i]);
}
void narrow_f16(const float *x, uint16_t *y, int n) {
    for (int i = 0; i < n; i++) y[i] = ember_f16_from_f32(x[i]);
}
void narrow_bf16(const float *x, uint16_t *y, int n) {
    for (int i = 0; i < n; i++) y[i] = ember_bf16_from_f32(x[i]);
}
"""
ALL = np.arange(65536, dtype=np.uint16)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    folder = tmp_path_factory.mktemp("half")
    (folder / "driver.c").write_text(DRIVER)
    engine = paths.kernels() / "engine"
    include = [f"-I{paths.root()}", f"-I{paths.runtime() / 'include'}"]
    flags = ["-std=c11", "-O2", "-ffp-contract=off", "-fPIC", "-shared", *include]
    sources = [str(folder / "driver.c"), str(engine / "half.c")]
    words = ["cc", *flags, "-o", str(folder / "half.so"), *sources]
    subprocess.run(words, check=True)
    return ctypes.CDLL(str(Path(folder / "half.so")))


def converted(
    function: Callable[..., object], x: np.ndarray, dtype: type
) -> np.ndarray:
    y: np.ndarray = np.empty(x.shape, dtype)
    function(
        x.ctypes.data_as(ctypes.c_void_p), y.ctypes.data_as(ctypes.c_void_p), len(x)
    )
    return y


def bits(x: np.ndarray) -> np.ndarray:
    return x.view(np.uint32)


def widened_bf16(x: np.ndarray) -> np.ndarray:
    return (x.astype(np.uint32) << 16).view(np.float32)


def around(values: np.ndarray) -> np.ndarray:
    """All values, the middles between neighbours, and the floats next to those."""
    ordered = np.unique(values[np.isfinite(values)])
    middles = (ordered[:-1].astype(np.float64) + ordered[1:]) / 2
    half = middles.astype(np.float32)
    infinity = np.float32(np.inf)
    sides = [np.nextafter(half, infinity), np.nextafter(half, -infinity)]
    random = np.random.default_rng(1).integers(0, 2**32, 1_000_000, dtype=np.uint64)
    every = [values, half, *sides, random.astype(np.uint32).view(np.float32)]
    return np.concatenate(every)


def rounded_bf16(x: np.ndarray) -> np.ndarray:
    """To the nearest of the two bfloat16 around x, by distance; ties to even bits."""
    low = (bits(x) >> 16).astype(np.uint16)
    high = low + np.uint16(1)
    # One step beyond the largest number counts as the power of two that it would be.
    wide = np.abs(widened_bf16(high).astype(np.float64))
    wide[high & 0x7FFF == 0x7F80] = 2.0**128
    size = np.abs(x.astype(np.float64))
    down = size - np.abs(widened_bf16(low).astype(np.float64))
    up = wide - size
    upward = (up < down) | ((up == down) & (low & 1 == 1))
    return np.where(upward, high, low).astype(np.uint16)


def test_every_float16_widens(library: ctypes.CDLL) -> None:
    got = converted(library.widen_f16, ALL, np.float32)
    want = ALL.view(np.float16).astype(np.float32)
    number = ~np.isnan(want)
    assert np.array_equal(np.isnan(got), np.isnan(want))
    assert np.array_equal(bits(got)[number], bits(want)[number])


def test_every_bfloat16_widens(library: ctypes.CDLL) -> None:
    got = converted(library.widen_bf16, ALL, np.float32)
    assert np.array_equal(bits(got), bits(widened_bf16(ALL)))


def test_float16_rounds_to_even(library: ctypes.CDLL) -> None:
    x = around(ALL.view(np.float16).astype(np.float32))
    got = converted(library.narrow_f16, x, np.uint16)
    with np.errstate(over="ignore", invalid="ignore"):
        want = x.astype(np.float16)
    nan = np.isnan(x)
    assert np.isnan(got.view(np.float16)[nan]).all()
    assert np.array_equal(got[~nan], want.view(np.uint16)[~nan])


def test_bfloat16_rounds_to_even(library: ctypes.CDLL) -> None:
    x = around(widened_bf16(ALL))
    got = converted(library.narrow_bf16, x, np.uint16)
    finite = np.isfinite(x)
    assert np.isnan(widened_bf16(got)[np.isnan(x)]).all()
    assert np.array_equal(widened_bf16(got)[np.isinf(x)], x[np.isinf(x)])
    assert np.array_equal(got[finite], rounded_bf16(x[finite]))
