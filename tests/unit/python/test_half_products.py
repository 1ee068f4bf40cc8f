# SPDX-License-Identifier: Apache-2.0
"""Products of float16 matrices with Advanced SIMD, on the model of its instructions:
the rounded sums for every tail of a block and any strides, nothing written beside."""

from __future__ import annotations

import ctypes
import itertools

import kernels_here
import numpy as np
import pytest

DRIVER = """
#include "kernels/linear/matmul_f16.h"
__attribute__((visibility("default")))
void product(char *const data[4], const int32_t steps[4][3], const int32_t sizes[4],
             const int32_t block[2], float alpha, float beta, float *scratch) {
    ember_matrices_t m[4];
    for (int i = 0; i < 4; i++) {
        m[i] = (ember_matrices_t){data[i], steps[i][0], steps[i][1], steps[i][2]};
    }
    const ember_matmul_f16_t half = {
        .matmul = {m[0], m[1], m[2], m[3], sizes[0], sizes[1], sizes[2], sizes[3]},
        .scratch = scratch,
        .height = block[0],
        .width = block[1],
        .b_columns = steps[1][2] != 2 && sizes[3] > 1,
        .alpha = alpha,
        .beta = beta,
    };
    ember_matmul_f16_run_neon(&half);
}
"""
SOURCES = (
    "linear/matmul_f16_neon.c",
    *("engine/neon/gemm_f32_neon.c", "engine/gemm_f32.c"),
)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    return kernels_here.library(tmp_path_factory.mktemp("halves"), DRIVER, SOURCES)


def matrices(
    random: np.random.Generator, shape: tuple[int, ...], order: int
) -> np.ndarray:
    """Random numbers, dense along the last dimension, the one before it, or none."""
    if order == 1:
        return matrices(random, (shape[0], shape[2], shape[1]), 0).transpose(0, 2, 1)
    wide = random.normal(size=(*shape[:2], shape[2] * (order + 1) + 3))
    return wide.astype(np.float16)[:, :, : shape[2] * (order + 1) : order + 1]


@pytest.mark.parametrize("order", range(3), ids=("rows", "columns", "strided"))
@pytest.mark.parametrize("bias", range(4), ids=("none", "row", "column", "whole"))
def test_products(library: ctypes.CDLL, order: int, bias: int) -> None:
    sizes = itertools.product((1, 2), (1, 5, 17), (0, 3, 21), (1, 6, 35))
    for seed, (batches, rows, inner, columns) in enumerate(sizes):
        random = np.random.default_rng(seed)
        a = matrices(random, (batches, rows, inner), seed % 3)
        b = matrices(random, (batches, inner, columns), order)
        shape = ((1, columns), (1, columns), (rows, 1), (rows, columns))[bias]
        added = random.normal(size=(batches, *shape)).astype(np.float16)
        spread = np.broadcast_to(added, (batches, rows, columns))
        room = np.full((batches, rows, 2 * columns + 1), 77, np.float16)
        c = room[:, :, : 2 * columns : 2] if seed % 2 else room[:, :, :columns]
        c[:] = 5
        height, width = min(rows, 4 + 12 * (seed % 2)), min(columns, 32)
        needed = (height + width) * inner + 2 * height * width
        scratch = np.full(needed + 4, 77, np.float32)
        steps = [(0, 0, 0) if x.size == 0 else x.strides for x in (a, b, c, spread)]
        steps[1] = (0, 2 * columns, 2) if b.size == 0 else steps[1]
        pointers = [x.ctypes.data for x in (a, b, c, added)]
        pointers[3] = pointers[3] if bias else 0
        library.product(
            (ctypes.c_void_p * 4)(*pointers),
            ((ctypes.c_int32 * 3) * 4)(*((ctypes.c_int32 * 3)(*s) for s in steps)),
            (ctypes.c_int32 * 4)(batches, rows, inner, columns),
            (ctypes.c_int32 * 2)(height, width),
            ctypes.c_float(0.5),
            ctypes.c_float(-2.0),
            ctypes.c_void_p(scratch.ctypes.data),
        )
        want = 0.5 * (a.astype(np.float64) @ b.astype(np.float64))
        want = want - 2 * spread.astype(np.float64) if bias else want
        size = np.abs(a).astype(np.float64) @ np.abs(b).astype(np.float64) + 4
        assert (np.abs(c - want) <= np.abs(want) * 2**-11 + size * 1e-6).all()
        assert (scratch[needed:] == 77).all()
        c[:] = 77
        assert (room == 77).all()  # nothing beside them
