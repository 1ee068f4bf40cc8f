// SPDX-License-Identifier: Apache-2.0
// y = unspecified values, in a given shape.
#include "kernels/engine/fill.h"

static int32_t run(void *state) {
    (void)state;
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_tensor_t out;
    (void)state;
    ember_fill_output(node, 2, &out);
    return ember_node_status(node);
}

EMBER_KERNEL(empty, uint32_t);
