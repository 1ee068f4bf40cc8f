// SPDX-License-Identifier: Apache-2.0
// float32 matrix products. Contract: matmul.h.
#include "kernels/linear/matmul.h"

enum { SIZE = (int32_t)sizeof(float) };

// Whether elements along a dimension of `count` with this step are dense.
static bool dense(int32_t count, int32_t step) {
    return count <= 1 || step == SIZE;
}

ember_status_t ember_matmul_f32_prepare(ember_matmul_f32_t *fast, ember_node_t *node,
                                        const ember_matmul_t *matmul) {
    if (matmul->dtype != EMBER_F32) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "matmul: not float32");
    }
    const bool b_rows = dense(matmul->columns, matmul->b.column);
    const bool b_columns = dense(matmul->inner, matmul->b.row);
    if (!dense(matmul->inner, matmul->a.column) ||
        !dense(matmul->columns, matmul->c.column) || (!b_rows && !b_columns)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "matmul: strides");
    }
    // A single column of dense elements is treated as a column.
    fast->b_columns = b_columns && (!b_rows || matmul->columns == 1);
    fast->batches = matmul->batches;
    fast->a_batch = matmul->a.batch / SIZE;
    fast->b_batch = matmul->b.batch / SIZE;
    fast->c_batch = matmul->c.batch / SIZE;
    fast->bias_batch = matmul->bias.batch / SIZE;
    fast->gemm = (ember_gemm_f32_t){
        .a = (const void *)matmul->a.data,
        .b = (const void *)matmul->b.data,
        .bias = (const void *)matmul->bias.data,
        .c = (void *)matmul->c.data,
        .rows = matmul->rows,
        .inner = matmul->inner,
        .columns = matmul->columns,
        .a_stride = matmul->a.row / SIZE,
        .b_stride = (fast->b_columns ? matmul->b.column : matmul->b.row) / SIZE,
        .c_stride = matmul->c.row / SIZE,
        .bias_row = matmul->bias.row / SIZE,
        .bias_column = matmul->bias.column / SIZE,
        .alpha = ember_scalar_f32(matmul->alpha),
        .beta = ember_scalar_f32(matmul->beta),
    };
    return EMBER_OK;
}

void ember_matmul_f32_run(const ember_matmul_f32_t *fast, ember_gemm_f32_fn rows,
                          ember_gemm_f32_fn columns) {
    const ember_gemm_f32_fn product = fast->b_columns ? columns : rows;
    ember_gemm_f32_t gemm = fast->gemm;

    for (int32_t n = 0; n < fast->batches; n++) {
        product(&gemm);
        if (n + 1 < fast->batches) {
            gemm.a += fast->a_batch;
            gemm.b += fast->b_batch;
            gemm.c += fast->c_batch;
            gemm.bias = gemm.bias == NULL ? NULL : gemm.bias + fast->bias_batch;
        }
    }
}
