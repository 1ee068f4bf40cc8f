// SPDX-License-Identifier: Apache-2.0
// cortex_m::quantized_batch_matmul.out
#include "kernels/engine/int8/matmul_s8.h"

static int32_t run(void *state) {
    ember_matmul_s8_run(state);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_matmul_s8_bmm(state, node);
}

EMBER_KERNEL(quantized_batch_matmul, ember_matmul_s8_t);
