// SPDX-License-Identifier: Apache-2.0
// y = the variance over some dimensions, unbiased or not.
#include "kernels/engine/promote.h"
#include "kernels/engine/sums.h"

static const ember_reduce_ops_t ops = {
    .classes = {{ember_var_take_f32, ember_var_finish_f32},
                {ember_var_take_f64, ember_var_finish_f64}},
    .passes = 2};

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_tensor_t x;
    ember_node_tensor(node, 0, &x);
    ember_output_check_floats(node);
    const uint32_t dims = ember_reduce_dims(node, 1, x.rank);
    ember_reduce_t *s = state;
    const ember_status_t status = ember_reduce_prepare(
        node, s, &ops, dims, ember_node_bool(node, 3), 4, EMBER_REDUCE_NONE);
    s->argument = ember_node_bool(node, 2) ? 1.0 : 0.0;
    return status;
}

EMBER_REDUCE_KERNEL(var, ember_reduce_any);
