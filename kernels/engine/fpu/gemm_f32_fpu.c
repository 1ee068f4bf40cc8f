// SPDX-License-Identifier: Apache-2.0
// float32 matrix product in the scalar unit of Cortex-M. Contract: gemm_f32.h; the bits
// of the portable forms.
//
// _rows: 4 x 4 sums, or 8 or 12 columns of a single row; _columns: four dot products.
// The remaining rows and columns are computed together with some of the previous ones
// again. Matrices smaller than a block are left to the portable forms.
#include <arm_fpu.h>
#include <stdbool.h>
#include <stddef.h>

#include "kernels/engine/gemm_f32.h"

enum { BLOCK = 4, WIDE = 8, WIDEST = 12, SUMS = 16 };

static int32_t least(int32_t a, int32_t b) {
    return a < b ? a : b;
}

// Finishes `height` rows of `width` sums from element (i, j) on.
static __attribute__((noinline)) void finish(const ember_gemm_f32_t *gemm, int32_t i,
                                             int32_t j, const float *sums,
                                             int32_t height, int32_t width) {
    const float alpha = gemm->alpha, beta = gemm->beta;

    for (int32_t row = i; row < i + height; row++) {
        const float *bias = gemm->bias;
        float *c = gemm->c + (ptrdiff_t)row * gemm->c_stride + j;
        if (bias == NULL) {
            for (int32_t left = width; left > 0; left--) {
                *c++ = alpha * *sums++;
            }
            continue;
        }
        bias += (ptrdiff_t)row * gemm->bias_row + (ptrdiff_t)j * gemm->bias_column;
        for (int32_t left = width; left > 0; left--) {
            *c++ = alpha * *sums++ + beta * *bias;
            bias += gemm->bias_column;
        }
    }
}

// The same for a block whose rows have one bias each, or none.
static void finish_block(const ember_gemm_f32_t *gemm, int32_t i, int32_t j,
                         const float sums[SUMS]) {
    float *c = gemm->c + (ptrdiff_t)i * gemm->c_stride + j;
    const int32_t step = gemm->c_stride * (int32_t)sizeof(float);

    if (gemm->bias == NULL) {
        ember_fpu_scale_4x4(c, step, sums, gemm->alpha);
    } else if (gemm->bias_column == 0) {
        const float *bias = gemm->bias + (ptrdiff_t)i * gemm->bias_row;
        float added[BLOCK];
        for (int32_t row = 0; row < BLOCK; row++) {
            added[row] = gemm->beta * bias[(ptrdiff_t)row * gemm->bias_row];
        }
        ember_fpu_affine_4x4(c, step, sums, gemm->alpha, added);
    } else {
        finish(gemm, i, j, sums, BLOCK, BLOCK);
    }
}

// c[i .. i + 4, j .. j + 4], with b's rows dense.
static void block_rows(const ember_gemm_f32_t *gemm, int32_t i, int32_t j) {
    const float *a = gemm->a + (ptrdiff_t)i * gemm->a_stride;
    const ptrdiff_t stride = gemm->a_stride;
    float sums[SUMS];
    const ember_fpu_tile_t tile = {
        .a = {a, a + stride, a + 2 * stride, a + 3 * stride},
        .b = gemm->b + j,
        .step = gemm->b_stride * (int32_t)sizeof(float),
        .inner = gemm->inner,
        .sums = sums,
    };

    ember_fpu_rows_4x4(&tile);
    finish_block(gemm, i, j, sums);
}

// c[i, j .. j + width], 8 or 12.
static void wide_row(const ember_gemm_f32_t *gemm, int32_t i, int32_t j,
                     int32_t width) {
    float sums[SUMS];
    const ember_fpu_tile_t tile = {
        .a = {gemm->a + (ptrdiff_t)i * gemm->a_stride},
        .b = gemm->b + j,
        .step = gemm->b_stride * (int32_t)sizeof(float),
        .inner = gemm->inner,
        .sums = sums,
    };

    if (width == WIDEST) {
        ember_fpu_rows_1x12(&tile);
    } else {
        ember_fpu_rows_1x8(&tile);
    }
    finish(gemm, i, j, sums, 1, width);
}

// A row of at least eight columns.
static void one_row(const ember_gemm_f32_t *gemm, int32_t i) {
    for (int32_t j = 0; j < gemm->columns;) {
        const int32_t left = gemm->columns - j;
        const bool fits = left > WIDE && gemm->columns >= WIDEST;
        const int32_t width = fits ? WIDEST : WIDE;
        wide_row(gemm, i, least(j, gemm->columns - width), width);
        j += width;
    }
}

void ember_gemm_f32_rows_fpu(const ember_gemm_f32_t *gemm) {
    const int32_t rows = gemm->rows, columns = gemm->columns;

    if (rows >= BLOCK && columns >= BLOCK) {
        for (int32_t i = 0; i < rows; i += BLOCK) {
            for (int32_t j = 0; j < columns; j += BLOCK) {
                block_rows(gemm, least(i, rows - BLOCK), least(j, columns - BLOCK));
            }
        }
    } else if (columns >= WIDE) {
        for (int32_t i = 0; i < rows; i++) {
            one_row(gemm, i);
        }
    } else {
        ember_gemm_f32_rows(gemm);
    }
}

// Four dot products of `line` with rows of `rows`.
static void four_dots(const float *rows, ptrdiff_t stride, const float *line,
                      int32_t inner, float *made) {
    float sums[SUMS];
    const ember_fpu_tile_t tile = {
        .a = {rows, rows + stride, rows + 2 * stride, rows + 3 * stride},
        .b = line,
        .inner = inner,
        .sums = sums,
    };

    ember_fpu_dots_4(&tile);
    for (int32_t d = 0; d < BLOCK; d++) {
        const float *sum = sums + (ptrdiff_t)BLOCK * d;
        made[d] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
    }
}

void ember_gemm_f32_columns_fpu(const ember_gemm_f32_t *gemm) {
    const int32_t rows = gemm->rows, columns = gemm->columns;
    float made[BLOCK];

    if (columns >= BLOCK) {
        for (int32_t i = 0; i < rows; i++) {
            const float *a = gemm->a + (ptrdiff_t)i * gemm->a_stride;
            for (int32_t j = 0; j < columns; j += BLOCK) {
                const int32_t at = least(j, columns - BLOCK);
                four_dots(gemm->b + (ptrdiff_t)at * gemm->b_stride, gemm->b_stride, a,
                          gemm->inner, made);
                finish(gemm, i, at, made, 1, BLOCK);
            }
        }
    } else if (rows >= BLOCK) {
        for (int32_t j = 0; j < columns; j++) {
            const float *b = gemm->b + (ptrdiff_t)j * gemm->b_stride;
            for (int32_t i = 0; i < rows; i += BLOCK) {
                const int32_t at = least(i, rows - BLOCK);
                four_dots(gemm->a + (ptrdiff_t)at * gemm->a_stride, gemm->a_stride, b,
                          gemm->inner, made);
                finish(gemm, at, j, made, BLOCK, 1);
            }
        }
    } else {
        ember_gemm_f32_columns(gemm);
    }
}
