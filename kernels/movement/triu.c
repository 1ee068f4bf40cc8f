// SPDX-License-Identifier: Apache-2.0
// triu: the part of each matrix on and above a diagonal; zeros elsewhere.
#include "kernels/movement/triangle.h"

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_triangle_prepare(node, state);
}

static int32_t run(void *state) {
    ember_triangle_run(state, true);
    return EMBER_OK;
}

EMBER_KERNEL(triu, ember_triangle_t);
