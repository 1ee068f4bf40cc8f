// SPDX-License-Identifier: Apache-2.0
// y = a number in the shape of a tensor (fill.Scalar_out, full_like.out).
#include "kernels/engine/fill.h"

enum { FILL_OUT = 2 };

static int32_t run(void *state) {
    return ember_fill_run(state);
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_tensor_t like;
    ember_tensor_t out;
    ember_node_tensor(node, 0, &like);
    const uint32_t arg = ember_node_arg_count(node) - 2;
    ember_node_output_like(node, arg, &like, &out);
    if (arg == FILL_OUT && out.dtype != like.dtype) { // full_like has another argument
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "fill: the output's dtype differs from self's");
    }
    return ember_fill_prepare(node, state, &out, ember_node_scalar(node, 1));
}

EMBER_KERNEL(fill, ember_fill_t);
