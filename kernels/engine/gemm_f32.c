// SPDX-License-Identifier: Apache-2.0
// float32 matrix product. Contract: gemm_f32.h.
//
// Blocks of accumulators that fit the registers of a Cortex-M4F and that clang
// turns into Helium, SVE or NEON vectors of four. Loops over a block have constant
// bounds and are unrolled; GCC does not do so by itself at -O2.
#include "kernels/engine/gemm_f32.h"

#include <stddef.h>

enum { LANES = 4 };

// Finishes `width` sums of row i from column j. Not inlined: its time is small compared
// with the sums, and its code would be repeated for each block shape.
static __attribute__((noinline)) void store(const ember_gemm_f32_t *gemm, int32_t i,
                                            int32_t j, const float *sums, int width) {
    const float alpha = gemm->alpha;
    const float *bias = gemm->bias;
    float *c = gemm->c + (ptrdiff_t)i * gemm->c_stride + j;

    if (bias == NULL) {
        for (int w = 0; w < width; w++) {
            c[w] = alpha * sums[w];
        }
        return;
    }
    const float beta = gemm->beta;
    bias += (ptrdiff_t)i * gemm->bias_row + (ptrdiff_t)j * gemm->bias_column;
    for (int w = 0; w < width; w++) {
        c[w] = alpha * sums[w] + beta * *bias;
        bias += gemm->bias_column;
    }
}

// c[i .. i + height, j .. j + width], with b's rows dense.
static inline __attribute__((always_inline)) void
block_rows(const ember_gemm_f32_t *gemm, int32_t i, int32_t j, int height, int width) {
    const float *a = gemm->a + (ptrdiff_t)i * gemm->a_stride;
    const float *a_next = a + (height > 1 ? gemm->a_stride : 0);
    const float *b = gemm->b + j;
    float sums[2][8] = {{0}};

    for (int32_t k = 0; k < gemm->inner; k++) {
        const float x = a[k];
        const float y = a_next[k];
#pragma GCC unroll 8
        for (int w = 0; w < width; w++) {
            sums[0][w] += x * b[w];
        }
        if (height > 1) {
#pragma GCC unroll 8
            for (int w = 0; w < width; w++) {
                sums[1][w] += y * b[w];
            }
        }
        b += gemm->b_stride;
    }
    // A copy, so that the sums themselves stay in registers.
    float row[8], next[8];
#pragma GCC unroll 8
    for (int w = 0; w < width; w++) {
        row[w] = sums[0][w];
        next[w] = sums[1][w];
    }
    store(gemm, i, j, row, width);
    if (height > 1) {
        store(gemm, i + 1, j, next, width);
    }
}

// Columns from j on of one row.
static void row_rest(const ember_gemm_f32_t *gemm, int32_t i, int32_t j) {
    for (; j + 8 <= gemm->columns; j += 8) {
        block_rows(gemm, i, j, 1, 8);
    }
    for (; j + 4 <= gemm->columns; j += 4) {
        block_rows(gemm, i, j, 1, 4);
    }
    for (; j < gemm->columns; j++) {
        block_rows(gemm, i, j, 1, 1);
    }
}

void ember_gemm_f32_rows(const ember_gemm_f32_t *gemm) {
    const int32_t wide = gemm->columns & ~7;
    int32_t i = 0;

    for (; i + 2 <= gemm->rows; i += 2) {
        for (int32_t j = 0; j < wide; j += 8) {
            block_rows(gemm, i, j, 2, 8);
        }
    }
    for (int32_t r = 0; r < gemm->rows; r++) {
        row_rest(gemm, r, r < i ? wide : 0);
    }
}

// c[i, j], with b's columns dense. One sum: GCC keeps it in registers, and clang
// vectorises it, unlike several columns at once.
static float dot(const float *a, const float *b, int32_t count) {
    float sums[LANES] = {0};
    int32_t k = 0;

    for (; k + LANES <= count; k += LANES) {
#pragma GCC unroll 4
        for (int lane = 0; lane < LANES; lane++) {
            sums[lane] += a[k + lane] * b[k + lane];
        }
    }
    for (; k < count; k++) {
        sums[0] += a[k] * b[k];
    }
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

void ember_gemm_f32_columns(const ember_gemm_f32_t *gemm) {
    for (int32_t i = 0; i < gemm->rows; i++) {
        const float *a = gemm->a + (ptrdiff_t)i * gemm->a_stride;
        for (int32_t j = 0; j < gemm->columns; j++) {
            const float *b = gemm->b + (ptrdiff_t)j * gemm->b_stride;
            const float sum = dot(a, b, gemm->inner);
            store(gemm, i, j, &sum, 1);
        }
    }
}
