// SPDX-License-Identifier: Apache-2.0
// y = the largest of all elements.
#include "kernels/engine/sums.h"

static const ember_reduce_ops_t ops = {
    .classes = {{ember_max_f32, NULL}, {ember_max_f64, NULL}, {ember_max_s64, NULL}},
    .passes = 1,
    .needs_elements = true};

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_tensor_t x;
    ember_node_tensor(node, 0, &x);
    const uint32_t dims = (1u << x.rank) - 1u;
    return ember_reduce_prepare(node, state, &ops, dims, false,
                                ember_node_arg_count(node) - 2, EMBER_REDUCE_NONE);
}

EMBER_REDUCE_KERNEL(max_all, ember_reduce_any);
