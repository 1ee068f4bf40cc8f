// SPDX-License-Identifier: Apache-2.0
// quantized_batch_matmul_hvx: with Hexagon's vectors.
#include "kernels/engine/hvx/matmul_s8_hvx.h"

static int32_t run(void *state) {
    ember_matmul_s8_hvx_run(state, NULL);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_matmul_s8_hvx_t *hvx = state;
    const ember_status_t status = ember_matmul_s8_bmm(&hvx->matmul, node);

    return status != EMBER_OK ? status : ember_matmul_s8_hvx_prepare(hvx, node);
}

EMBER_KERNEL(quantized_batch_matmul_hvx, ember_matmul_s8_hvx_t);
