// SPDX-License-Identifier: Apache-2.0
// addmm: beta * self + alpha * product of two matrices. Every dtype and layout.
#include "kernels/linear/matmul.h"

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_matmul_addmm(state, node);
}

static int32_t run(void *state) {
    ember_matmul_run(state);
    return EMBER_OK;
}

EMBER_KERNEL(addmm, ember_matmul_t);
