// SPDX-License-Identifier: Apache-2.0
// y = a number in the shape of a tensor (fill.Scalar_out, full_like.out).
#include "kernels/engine/fill.h"

static int32_t run(void *state) {
    return ember_fill_run(state);
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_tensor_t like;
    ember_tensor_t out;
    ember_node_tensor(node, 0, &like);
    const uint32_t arg = ember_node_arg_count(node) - 2;
    ember_node_output_like(node, arg, &like, &out);
    return ember_fill_prepare(node, state, &out, ember_node_scalar(node, 1));
}

EMBER_KERNEL(fill, ember_fill_t);
