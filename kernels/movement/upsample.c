// SPDX-License-Identifier: Apache-2.0
// Two-dimensional upsampling. Contract: upsample.h.
#include "kernels/movement/upsample.h"

enum { INPUT, SIZE };

// Sizes of height and width: listed, or the input's times the factors.
static void set_sizes(ember_upsample_t *up, ember_node_t *node, uint32_t factors,
                      int32_t sizes[2]) {
    const bool listed = ember_node_list_count(node, SIZE) != 0;

    if (ember_node_list_count(node, listed ? SIZE : factors) != 2) {
        ember_node_fail(node, EMBER_BAD_PROGRAM, "upsample: neither size nor factors");
        return;
    }
    for (uint32_t d = 0; d < 2; d++) {
        up->scales[d] = listed ? 0.0 : ember_node_list_double(node, factors, d);
        const double size = listed ? (double)ember_node_list_int(node, SIZE, d)
                                   : (double)up->in.sizes[2 + d] * up->scales[d];
        if (!(size >= 1.0 && size <= 1e9) || up->in.sizes[2 + d] < 1) {
            ember_node_fail(node, EMBER_BAD_PROGRAM, "upsample: bad size");
            return;
        }
        sizes[d] = (int32_t)size;
    }
}

ember_status_t ember_upsample_args(ember_upsample_t *up, ember_node_t *node,
                                   uint32_t factors, uint32_t out) {
    int32_t sizes[4];
    ember_tensor_t tensor;

    ember_view_arg(&up->in, node, INPUT);
    if (ember_node_status(node) != EMBER_OK || up->in.rank != 4) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "upsample: rank");
    }
    sizes[0] = up->in.sizes[0];
    sizes[1] = up->in.sizes[1];
    sizes[2] = sizes[3] = 0;
    set_sizes(up, node, factors, sizes + 2);
    ember_node_output(node, out, 4, sizes, &tensor);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (tensor.dtype != up->in.dtype) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "upsample: dtypes differ");
    }
    ember_view_tensor(&up->out, &tensor);
    return EMBER_OK;
}

float ember_upsample_step(const ember_upsample_t *up, uint32_t d) {
    if (up->scales[d] > 0.0) {
        return (float)(1.0 / up->scales[d]);
    }
    return (float)up->in.sizes[2 + d] / (float)up->out.sizes[2 + d];
}
