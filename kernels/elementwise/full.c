// SPDX-License-Identifier: Apache-2.0
// y = a number, in a given shape.
#include "kernels/engine/fill.h"

static int32_t run(void *state) {
    return ember_fill_run(state);
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_tensor_t out;
    ember_fill_output(node, 2, &out);
    return ember_fill_prepare(node, state, &out, ember_node_scalar(node, 1));
}

EMBER_KERNEL(full, ember_fill_t);
