// SPDX-License-Identifier: Apache-2.0
// y = 1, in a given shape.
#include "kernels/engine/fill.h"

static int32_t run(void *state) {
    return ember_fill_run(state);
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_tensor_t out;
    ember_fill_output(node, 1, &out);
    return ember_fill_prepare(node, state, &out, ember_fill_int(1));
}

EMBER_KERNEL(ones, ember_fill_t);
