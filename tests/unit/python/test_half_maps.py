# SPDX-License-Identifier: Apache-2.0
"""Element-wise kernels of float16 with Advanced SIMD, on the model of its instructions:
float32's result, rounded, for any steps and every tail; nothing written beside it."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

import kernels_here
import numpy as np
import pytest

DRIVER = """
#include "kernels/elementwise/clamp_f16_neon.c"
#include "kernels/engine/neon/map_f16_neon.h"
#define SHOWN __attribute__((visibility("default")))
#define PAIR(NAME)                                                                 \\
    int32_t ember_run_##NAME##_f16_neon(void *state);                              \\
    SHOWN void NAME(char *y, char *a, char *b, float number, const int32_t *table) { \\
        ember_map_f16_2_t s = {{y, a, b}, number, b == NULL, 2, {0}};              \\
        memcpy(s.table, table, 8 * sizeof(*table));                                \\
        ember_run_##NAME##_f16_neon(&s);                                           \\
    }
#include <string.h>
PAIR(add)
PAIR(sub)
PAIR(mul)
PAIR(div)
int32_t ember_run_relu_f16_neon(void *state);
SHOWN void one(void *y, const void *a, uint32_t count, float low, float high) {
    clamp_t s = {{a, y, count, true}, low, high};
    low == 0 ? ember_run_relu_f16_neon(&s.map) : run(&s);
}
"""
NAMES = ("add", "sub", "mul", "div", "relu")
SOURCES = [f"elementwise/{name}_f16_neon.c" for name in NAMES]
SOURCES += [
    "engine/neon/map_f16_neon.c",
    "engine/neon/fours_neon.c",
    "engine/strided.c",
]
SPECIAL = np.array([0.0, -0.0, np.nan, np.inf, -np.inf, 65504, 6e-8], np.float16)
OPERATIONS: dict[str, Callable[[np.ndarray, np.ndarray | np.float32], np.ndarray]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    return kernels_here.library(tmp_path_factory.mktemp("halves"), DRIVER, SOURCES)


def numbers(random: np.random.Generator, *shape: int) -> np.ndarray:
    values = random.normal(0, 3, shape).astype(np.float16)
    values.flat[random.integers(0, values.size, 2)] = random.choice(SPECIAL, 2)
    return values


def address(array: np.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def check(got: np.ndarray, want: np.ndarray) -> None:
    bits = [floats.astype(np.float16).view(np.uint16) for floats in (got, want)]
    got_bits, want_bits = (np.where(np.isnan(want), 0, pattern) for pattern in bits)
    assert np.array_equal(got_bits, want_bits)
    assert np.array_equal(np.isnan(got), np.isnan(want))


@pytest.mark.parametrize("name", OPERATIONS)
def test_pairs(library: ctypes.CDLL, name: str) -> None:
    random = np.random.default_rng(5)
    for columns in (*range(1, 10), 64, 131):
        # Whole, each repeated along rows or columns, transposed, and a Scalar.
        for kind in range(7):
            a, b = numbers(random, 3, columns), numbers(random, 3, columns)
            a = a[:, :1] if kind == 1 else a[:1] if kind == 2 else a
            b = b[:, :1] if kind in (1, 3) else b[:1] if kind == 4 else b
            a = numbers(random, columns, 3).T if kind == 5 else a
            y = np.full((3, columns + 1), 77, np.float16)
            spread = [np.broadcast_to(operand, (3, columns)) for operand in (a, b)]
            table = [
                (size, *(array.strides[d] for array in (y, *spread)))
                for d, size in enumerate((3, columns))
            ]
            given = (ctypes.c_int32 * 8)(*table[0], *table[1])
            number = np.float32(0.1)
            scalar = ctypes.c_float(float(number))
            right = ctypes.c_void_p() if kind == 6 else address(b)
            with np.errstate(all="ignore"):
                other = number if kind == 6 else spread[1].astype(np.float32)
                want = OPERATIONS[name](spread[0].astype(np.float32), other)
                want = want.astype(np.float16)
            library[name](address(y), address(a), right, scalar, given)
            check(y[:, :-1], want)
            assert (y[:, -1] == 77).all()


@pytest.mark.parametrize(("low", "high"), [(-1.5, 2.0), (0.0, np.inf)])
def test_bounds(library: ctypes.CDLL, low: float, high: float) -> None:
    random = np.random.default_rng(6)
    for count in range(1, 20):
        x = numbers(random, count)
        y = np.full(count + 4, 77, np.float16)
        bounds = ctypes.c_float(low), ctypes.c_float(high)
        library.one(address(y), address(x), count, *bounds)
        want = np.where(np.isnan(x), x, np.clip(x, low, high)).astype(np.float16)
        assert np.array_equal(y[:count], want, equal_nan=True)
        assert (y[count:] == 77).all()
