// SPDX-License-Identifier: Apache-2.0
// quantized_linear_mve: with Helium.
#include "kernels/engine/mve/matmul_s8_mve.h"

static int32_t run(void *state) {
    ember_matmul_s8_mve_run(state, NULL);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_matmul_s8_mve_t *mve = state;
    const ember_status_t status = ember_matmul_s8_linear(&mve->matmul, node);

    return status != EMBER_OK ? status : ember_matmul_s8_mve_prepare(mve, node);
}

EMBER_KERNEL(quantized_linear_mve, ember_matmul_s8_mve_t);
