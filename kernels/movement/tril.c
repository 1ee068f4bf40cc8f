// SPDX-License-Identifier: Apache-2.0
// tril: the part of each matrix on and below a diagonal; zeros elsewhere.
#include "kernels/movement/triangle.h"

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_triangle_prepare(node, state);
}

static int32_t run(void *state) {
    ember_triangle_run(state, false);
    return EMBER_OK;
}

EMBER_KERNEL(tril, ember_triangle_t);
