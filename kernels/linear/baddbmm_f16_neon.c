// SPDX-License-Identifier: Apache-2.0
// baddbmm_f16_neon: beta * self + alpha * products of two batches of
// matrices. float16, Advanced SIMD.
#include "kernels/linear/matmul_f16.h"

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_matmul_t matmul;
    const ember_status_t status = ember_matmul_baddbmm(&matmul, node);

    return status != EMBER_OK ? status : ember_matmul_f16_prepare(state, node, &matmul);
}

static int32_t run(void *state) {
    ember_matmul_f16_run_neon(state);
    return EMBER_OK;
}

EMBER_KERNEL(baddbmm_f16_neon, ember_matmul_f16_t);
