// SPDX-License-Identifier: Apache-2.0
// mm_f32_fpu: the product of two matrices. Dense rows, scalar unit.
#include "kernels/linear/matmul.h"

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_matmul_t matmul;
    const ember_status_t status = ember_matmul_mm(&matmul, node);

    return status != EMBER_OK ? status : ember_matmul_f32_prepare(state, node, &matmul);
}

static int32_t run(void *state) {
    ember_matmul_f32_run(state, ember_gemm_f32_rows_fpu, ember_gemm_f32_columns_fpu);
    return EMBER_OK;
}

EMBER_KERNEL(mm_f32_fpu, ember_matmul_f32_t);
