// SPDX-License-Identifier: Apache-2.0
// y = a number as a tensor without dimensions.
#include "kernels/engine/fill.h"

static int32_t run(void *state) {
    return ember_fill_run(state);
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_tensor_t out;
    ember_node_output(node, 1, 0, NULL, &out);
    return ember_fill_prepare(node, state, &out, ember_node_scalar(node, 0));
}

EMBER_KERNEL(scalar_tensor, ember_fill_t);
