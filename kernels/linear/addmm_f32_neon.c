// SPDX-License-Identifier: Apache-2.0
// addmm_f32_neon: beta * self + alpha * product of two matrices. Dense rows, Advanced
// SIMD.
#include "kernels/linear/matmul.h"

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_matmul_t matmul;
    const ember_status_t status = ember_matmul_addmm(&matmul, node);

    return status != EMBER_OK ? status : ember_matmul_f32_prepare(state, node, &matmul);
}

static int32_t run(void *state) {
    ember_matmul_f32_run(state, ember_gemm_f32_rows_neon, ember_gemm_f32_columns_neon);
    return EMBER_OK;
}

EMBER_KERNEL(addmm_f32_neon, ember_matmul_f32_t);
