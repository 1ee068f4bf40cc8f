// SPDX-License-Identifier: Apache-2.0
// The smallest element over one dimension, and its index.
#include "kernels/engine/sums.h"

static const ember_reduce_ops_t ops = {
    .classes = {{ember_min_f32, NULL}, {ember_min_f64, NULL}, {ember_min_s64, NULL}},
    .passes = 1,
    .needs_elements = true,
    .keeps = true};

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_tensor_t x;
    ember_node_tensor(node, 0, &x);
    const uint32_t dims = ember_reduce_dims(node, 1, x.rank);
    return ember_reduce_prepare(node, state, &ops, dims, ember_node_bool(node, 2), 3,
                                4);
}

EMBER_REDUCE_KERNEL(min_dim, ember_reduce_any);
