// SPDX-License-Identifier: Apache-2.0
// linear: input times transposed weight, plus bias. Every dtype and layout.
#include "kernels/linear/matmul.h"

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_matmul_linear(state, node);
}

static int32_t run(void *state) {
    ember_matmul_run(state);
    return EMBER_OK;
}

EMBER_KERNEL(linear, ember_matmul_t);
