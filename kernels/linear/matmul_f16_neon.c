// SPDX-License-Identifier: Apache-2.0
// float16 matrix products with NEON. Contract: matmul_f16.h.
#include "kernels/engine/neon/widen_neon.h"
#include "kernels/linear/matmul_f16.h"

// Sizes of a block: a column of b is widened once, a row of a once for each block.
enum { HEIGHT = 16, WIDTH = 32, SIZE = 2 };

// Elements of a row from which on blocks are smaller, and the maximum.
enum { LONG = 1024, LONGEST = 65536 };

static int32_t least(int32_t a, int32_t b) {
    return a < b ? a : b;
}

ember_status_t ember_matmul_f16_prepare(ember_matmul_f16_t *half, ember_node_t *node,
                                        const ember_matmul_t *matmul) {
    if (matmul->dtype != EMBER_F16) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "matmul: not float16");
    }
    if (matmul->inner > LONGEST) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "matmul: rows are too long");
    }
    const int32_t parts = matmul->inner > LONG ? 2 : 1; // less scratch
    half->matmul = *matmul;
    half->height = least(matmul->rows, HEIGHT / parts);
    half->width = least(matmul->columns, WIDTH / parts);
    half->b_columns = matmul->b.column != SIZE && matmul->columns > 1;
    half->alpha = ember_scalar_f32(matmul->alpha);
    half->beta = ember_scalar_f32(matmul->beta);
    const size_t lines = (size_t)half->height + (size_t)half->width;
    const size_t results = (size_t)half->height * (size_t)half->width;
    half->scratch = ember_node_scratch(
        node, (lines * (size_t)matmul->inner + 2 * results) * sizeof(float));
    return ember_node_status(node);
}

// Rows of a matrix from `from` on, one after the other.
static void widen_rows(float *to, const char *from, int32_t row, int32_t column,
                       int32_t rows, int32_t columns) {
    for (; rows > 0; rows--) {
        ember_neon_widen(to, from, column, columns, true);
        to += columns;
        from += row;
    }
}

static const char *at(const ember_matrices_t *m, int32_t n, int32_t row,
                      int32_t column) {
    return m->data + (ptrdiff_t)n * m->batch + (ptrdiff_t)row * m->row +
           (ptrdiff_t)column * m->column;
}

// The columns of b for a block, in their own form.
static void widen_b(const ember_matmul_f16_t *half, float *to, int32_t n, int32_t j,
                    int32_t width) {
    const ember_matrices_t *b = &half->matmul.b;
    const int32_t inner = half->matmul.inner;

    if (half->b_columns) {
        widen_rows(to, at(b, n, 0, j), b->column, b->row, width, inner);
    } else {
        widen_rows(to, at(b, n, 0, j), b->row, b->column, inner, width);
    }
}

// Rounds a block of results to c.
static void put(const ember_matmul_f16_t *half, const ember_gemm_f32_t *gemm, int32_t n,
                int32_t i, int32_t j) {
    const ember_matrices_t *c = &half->matmul.c;
    const float *from = gemm->c;
    char *to = (char *)(uintptr_t)at(c, n, i, j);

    for (int32_t row = 0; row < gemm->rows; row++) {
        ember_neon_narrow(to, c->column, from, gemm->columns, true);
        from += gemm->columns;
        to += c->row;
    }
}

// The bias of a block; a single row if all are the same.
static void take_bias(const ember_matmul_f16_t *half, ember_gemm_f32_t *gemm,
                      float *room, int32_t n, int32_t i, int32_t j) {
    const ember_matrices_t *bias = &half->matmul.bias;

    gemm->bias = bias->data == NULL ? NULL : room;
    if (gemm->bias != NULL) {
        gemm->bias_row = bias->row == 0 ? 0 : gemm->columns;
        widen_rows(room, at(bias, n, i, j), bias->row, bias->column,
                   bias->row == 0 ? 1 : gemm->rows, gemm->columns);
    }
}

static void run_columns(const ember_matmul_f16_t *half, int32_t n, int32_t j) {
    const ember_matmul_t *matmul = &half->matmul;
    const int32_t inner = matmul->inner;
    const int32_t width = least(half->width, matmul->columns - j);
    float *a = half->scratch;
    float *b = a + (ptrdiff_t)half->height * inner;
    float *c = b + (ptrdiff_t)half->width * inner;
    float *bias = c + (ptrdiff_t)half->height * half->width;

    widen_b(half, b, n, j, width);
    for (int32_t i = 0; i < matmul->rows; i += half->height) {
        ember_gemm_f32_t gemm = {
            .a = a,
            .b = b,
            .c = c,
            .rows = least(half->height, matmul->rows - i),
            .inner = inner,
            .columns = width,
            .a_stride = inner,
            .b_stride = half->b_columns ? inner : width,
            .c_stride = width,
            .bias_column = 1,
            .alpha = half->alpha,
            .beta = half->beta,
        };
        if (j == 0 || half->height < matmul->rows) { // else it is there already
            widen_rows(a, at(&matmul->a, n, i, 0), matmul->a.row, matmul->a.column,
                       gemm.rows, inner);
        }
        take_bias(half, &gemm, bias, n, i, j);
        if (half->b_columns) {
            ember_gemm_f32_columns_neon(&gemm);
        } else {
            ember_gemm_f32_rows_neon(&gemm);
        }
        put(half, &gemm, n, i, j);
    }
}

void ember_matmul_f16_run_neon(const ember_matmul_f16_t *half) {
    for (int32_t n = 0; n < half->matmul.batches; n++) {
        for (int32_t j = 0; j < half->matmul.columns; j += half->width) {
            run_columns(half, n, j);
        }
    }
}
