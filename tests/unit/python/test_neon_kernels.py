# SPDX-License-Identifier: Apache-2.0
"""Kernels with Advanced SIMD, on the model of its instructions: the bits of those
without, for every length of a tail, and nothing written behind it."""

from __future__ import annotations

import ctypes

import kernels_here
import numpy as np
import pytest

MAPS = ("erf", "exp", "gelu", "gelu_tanh", "sigmoid", "silu", "tanh")
SOFTMAX, VARIANTS = ("softmax", "log_softmax"), ("_f32", "_neon")
DRIVER = """
#include "kernels/elementwise/gelu_neon.c"
#include "kernels/engine/half.h"
#include "kernels/engine/map_f32.h"
#include "kernels/norm/layer_norm_rows.h"
#include "kernels/reduction/softmax_lines_neon.h"
#define SHOWN __attribute__((visibility("default")))

static float ember_siluf(float x) { return x / (1.0f + ember_expf(-x)); }

#define MAP(NAME, STATE, FILL)                                                     \\
    int32_t ember_run_##NAME##_neon(void *state);                                  \\
    SHOWN void NAME##_neon(void *y, const void *a, uint32_t count, bool half) {    \\
        STATE s = FILL;                                                            \\
        ember_run_##NAME##_neon(&s);                                               \\
    }
#define EACH(NAME)                                                                 \\
    SHOWN void NAME##_plain(void *y, const void *a, uint32_t count, bool half) {   \\
        for (uint32_t i = 0; i < count; i++) {                                     \\
            if (half) {                                                            \\
                const float x = ember_half_widen(((const uint16_t *)a)[i]);        \\
                ((uint16_t *)y)[i] = ember_half_narrow(ember_##NAME##f(x));        \\
            } else {                                                               \\
                ((float *)y)[i] = ember_##NAME##f(((const float *)a)[i]);          \\
            }                                                                      \\
        }                                                                          \\
    }
#define ONE {a, y, count, half}
#define GELU {{a, y, count, half}, false}
MAP(erf, ember_map_float_1_t, ONE)
MAP(exp, ember_map_float_1_t, ONE)
MAP(gelu, gelu_t, GELU)
MAP(sigmoid, ember_map_float_1_t, ONE)
MAP(silu, ember_map_float_1_t, ONE)
MAP(tanh, ember_map_float_1_t, ONE)
SHOWN void gelu_tanh_neon(void *y, const void *a, uint32_t count, bool half) {
    gelu_t s = {{a, y, count, half}, true};
    ember_run_gelu_neon(&s);
}
EACH(erf) EACH(exp) EACH(gelu) EACH(gelu_tanh) EACH(sigmoid) EACH(silu) EACH(tanh)

int32_t ember_run_layer_norm_f32(void *state);
int32_t ember_run_layer_norm_f16(void *state);
int32_t ember_run_layer_norm_neon(void *state);
SHOWN void layer_norm(ember_layer_norm_rows_t *rows, bool half) {
    half ? ember_run_layer_norm_f16(rows) : ember_run_layer_norm_f32(rows);
}
SHOWN void layer_norm_neon(ember_layer_norm_rows_t *rows, bool half) {
    struct { ember_layer_norm_rows_t rows; bool half; } s = {*rows, half};
    ember_run_layer_norm_neon(&s);
}

#define SOFTMAX(NAME)                                                              \\
    int32_t ember_run_##NAME##_f32(void *state);                                   \\
    int32_t ember_run_##NAME##_neon(void *state);                                  \\
    SHOWN void NAME(char *y, const char *x, uint32_t rows, uint32_t count,         \\
                    uint32_t inner, bool half, float *line, bool neon) {           \\
        const uint8_t size = half ? 2 : 4, dtype = half ? EMBER_F16 : EMBER_F32;   \\
        ember_softmax_lines_t s = {                                                \\
            {x, y, rows, count, inner, dtype, dtype, size, size}, line};           \\
        neon ? ember_run_##NAME##_neon(&s) : ember_run_##NAME##_f32(&s.axis);      \\
    }
SOFTMAX(softmax)
SOFTMAX(log_softmax)
"""
SOURCES = [
    *(f"elementwise/{name}_neon.c" for name in MAPS if not name.startswith("gelu")),
    *("engine/neon/fours_neon.c", "engine/half.c", "engine/mathf_erf.c"),
    *("engine/mathf_exp.c", "norm/layer_norm_f16.c", "norm/layer_norm_f32.c"),
    *("norm/layer_norm_neon.c", "engine/mathf_log.c"),
    *(f"reduction/{name}{variant}.c" for name in SOFTMAX for variant in VARIANTS),
]
SPECIAL = [0.0, -0.0, np.nan, np.inf, -np.inf, 65504, -65504, 6e-8, -6e-8, 1e-4]
DTYPES = pytest.mark.parametrize("dtype", [np.float32, np.float16])


class Rows(ctypes.Structure):
    """ember_layer_norm_rows_t"""

    _fields_ = [
        *((name, ctypes.c_void_p) for name in ("x", "y", "weight", "bias")),
        *(("mean", ctypes.c_void_p), ("rstd", ctypes.c_void_p)),
        *(("rows", ctypes.c_uint32), ("count", ctypes.c_uint32)),
        ("eps", ctypes.c_float),
    ]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    return kernels_here.library(
        tmp_path_factory.mktemp("neon"), DRIVER, SOURCES, "-O2", "-fno-math-errno"
    )


def pointer(array: np.ndarray | None) -> ctypes.c_void_p | None:
    return None if array is None else array.ctypes.data_as(ctypes.c_void_p)


def same_bits(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """By element; NaN is NaN, whatever its bits."""
    bits = f"u{a.itemsize}"
    return np.asarray((a.view(bits) == b.view(bits)) | (np.isnan(a) & np.isnan(b)))


def normal(random: np.random.Generator, count: int, dtype: type) -> np.ndarray:
    return random.normal(0.5, 3, count).astype(dtype)


@DTYPES
@pytest.mark.parametrize("name", MAPS)
def test_maps(library: ctypes.CDLL, name: str, dtype: type) -> None:
    random = np.random.default_rng(7)
    for count in (*range(14), 65536):
        x = normal(random, count, dtype)
        if count == 65536 and dtype == np.float16:
            x = np.arange(count, dtype=np.uint16).view(np.float16)  # all there are
        at = random.permutation(count)[: len(SPECIAL) // 2]
        x[at] = random.choice(SPECIAL, len(at)).astype(dtype)
        results = []
        for suffix in ("_plain", "_neon"):
            y = np.full(count + 4, 77, dtype)
            library[name + suffix](pointer(y), pointer(x), count, dtype == np.float16)
            results.append(y)
        assert same_bits(*results).all()
        assert (results[1][count:] == 77).all()
        library[f"{name}_neon"](pointer(x), pointer(x), count, dtype == np.float16)
        assert same_bits(x, results[0][:count]).all()  # over its argument


@pytest.mark.parametrize("name", SOFTMAX)
@pytest.mark.parametrize("special", [False, True])
@pytest.mark.parametrize("inner", [1, 3])
def test_softmax(library: ctypes.CDLL, name: str, special: bool, inner: int) -> None:
    random = np.random.default_rng(9)
    for count in (*range(20), 131):
        x = random.normal(0, 9, 5 * count * inner).astype(np.float32)
        if special and count > 0:
            x[random.integers(0, len(x), 3)] = random.choice(SPECIAL, 3)
            x[:count] = -np.inf
        line = np.full(count + 4, 77, np.float32)
        rest = (5, count, inner, False, pointer(line) if inner > 1 else None)
        results = []
        for neon in (False, True):
            y = np.full(len(x) + 4, 77, np.float32)
            library[name](pointer(y), pointer(x), *rest, neon)
            results.append(y)
        assert same_bits(*results).all()
        assert (results[1][len(x) :] == 77).all()
        sums = results[1][: len(x)].reshape(5, count, inner).astype(np.float64)
        sums = (sums if name == "softmax" else np.exp(sums)).sum(1)
        assert special or count == 0 or np.allclose(sums, 1, 1e-5)
        library[name](pointer(x), pointer(x), *rest, True)
        assert same_bits(x, results[0][: len(x)]).all()  # over its argument
        assert (line[count:] == 77).all()


@pytest.mark.parametrize("name", SOFTMAX)
def test_softmax_of_half(library: ctypes.CDLL, name: str) -> None:
    random = np.random.default_rng(9)
    for count, inner in ((1, 1), (7, 1), (64, 1), (9, 3)):
        x = random.normal(0, 3, 5 * count * inner).astype(np.float16)
        y = np.full(len(x) + 4, 77, np.float16)
        line = np.empty(count, np.float32)
        rest = (5, count, inner, True, pointer(line), True)
        library[name](pointer(y), pointer(x), *rest)
        wide = x.reshape(5, count, inner).astype(np.float64)
        want = wide - np.log(np.exp(wide).sum(1, keepdims=True))
        want = np.exp(want) if name == "softmax" else want
        assert np.allclose(y[:-4], want.ravel(), 2**-10, 1e-7)
        assert (y[-4:] == 77).all()


def normalised(
    function: object, tensors: list[np.ndarray | None], rows: int, dtype: type
) -> list[np.ndarray]:
    """The result, means and reciprocal deviations, with guards behind each."""
    x = tensors[0]
    assert x is not None
    results: list[np.ndarray] = [
        np.full(n + 4, 77, dtype) for n in (len(x), rows, rows)
    ]
    fields = [x, results[0], *tensors[1:], results[1], results[2]]
    state = Rows(*map(pointer, fields), rows, len(x) // rows, 1e-5)
    function(ctypes.byref(state), dtype == np.float16)  # type: ignore[operator]
    assert all((result[-4:] == 77).all() for result in results)
    return results


@DTYPES
@pytest.mark.parametrize("special", [False, True])
def test_layer_norm(library: ctypes.CDLL, dtype: type, special: bool) -> None:
    random = np.random.default_rng(8)
    for count in (*range(1, 20), 64, 257):
        for given in range(4):
            x = normal(random, 3 * count, dtype)
            x[:count] = 2  # zeros, which get the signs of weights
            if special:
                x[random.integers(0, 3 * count, 2)] = random.choice(SPECIAL, 2)
            weight, bias = (
                normal(random, count, dtype) if given & bit else None for bit in (1, 2)
            )
            tensors = [x, weight, bias]
            want = normalised(library.layer_norm, tensors, 3, dtype)
            got = normalised(library.layer_norm_neon, tensors, 3, dtype)
            assert all(map(np.all, map(same_bits, got, want)))
            with np.errstate(all="ignore"):
                check(want, x.reshape(3, count), weight, bias, special)


def check(
    got: list[np.ndarray],
    x: np.ndarray,
    weight: np.ndarray | None,
    bias: np.ndarray | None,
    special: bool,
) -> None:
    """The portable kernel computes what the definition says; with large numbers, to
    which the others are lost, at least NaN where it has it."""
    wide = x.astype(np.float64)
    mean = wide.mean(1, keepdims=True)
    rstd = 1 / np.sqrt(((wide - mean) ** 2).mean(1, keepdims=True) + 1e-5)
    want = (wide - mean) * rstd
    want = want if weight is None else want * weight.astype(np.float64)
    want = want if bias is None else want + bias.astype(np.float64)
    rough = 1e-3 if x.dtype == np.float16 else 1e-5
    for padded, exact in zip(got, (want, mean, rstd), strict=True):
        computed = padded[:-4].astype(np.float64)
        assert np.array_equal(np.isnan(computed), np.isnan(exact.ravel()))
        assert special or np.allclose(computed, exact.ravel(), rough, rough)
