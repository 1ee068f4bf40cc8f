// SPDX-License-Identifier: Apache-2.0
// y = the mean of all elements.
#include "kernels/engine/sums.h"

static const ember_reduce_ops_t ops = {
    .classes = {{ember_sum_f32, ember_mean_f32}, {ember_sum_f64, ember_mean_f64}},
    .passes = 1,
    .casts = true};

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_tensor_t x;
    ember_node_tensor(node, 0, &x);
    ember_mean_check(node, &x, 1);
    const uint32_t dims = (1u << x.rank) - 1u;
    return ember_reduce_prepare(node, state, &ops, dims, false,
                                ember_node_arg_count(node) - 2, EMBER_REDUCE_NONE);
}

EMBER_REDUCE_KERNEL(mean_all, ember_reduce_any);
