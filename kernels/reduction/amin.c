// SPDX-License-Identifier: Apache-2.0
// y = the smallest element over some dimensions.
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
    return ember_reduce_prepare(node, state, &ops, dims, ember_node_bool(node, 2),
                                ember_node_arg_count(node) - 2, EMBER_REDUCE_NONE);
}

EMBER_REDUCE_KERNEL(amin, ember_reduce_any);
