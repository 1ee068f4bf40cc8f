// SPDX-License-Identifier: Apache-2.0
// y = the mean over some dimensions.
#include "kernels/engine/sums.h"

static const ember_reduce_ops_t ops = {
    .classes = {{ember_sum_f32, ember_mean_f32}, {ember_sum_f64, ember_mean_f64}},
    .passes = 1,
    .casts = true};

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_tensor_t x;
    ember_node_tensor(node, 0, &x);
    ember_mean_check(node, &x, 3);
    const uint32_t dims = ember_reduce_dims(node, 1, x.rank);
    return ember_reduce_prepare(node, state, &ops, dims, ember_node_bool(node, 2),
                                ember_node_arg_count(node) - 2, EMBER_REDUCE_NONE);
}

EMBER_REDUCE_KERNEL(mean, ember_reduce_any);
