// SPDX-License-Identifier: Apache-2.0
// The variance and the mean over some dimensions: two reductions in a row.
#include "kernels/engine/promote.h"
#include "kernels/engine/sums.h"

typedef struct var_mean {
    ember_reduce_t var;
    ember_reduce_t mean;
} var_mean_t;

static const ember_reduce_ops_t var_ops = {
    .classes = {{ember_var_take_f32, ember_var_finish_f32},
                {ember_var_take_f64, ember_var_finish_f64}},
    .passes = 2};
static const ember_reduce_ops_t mean_ops = {
    .classes = {{ember_sum_f32, ember_mean_f32}, {ember_sum_f64, ember_mean_f64}},
    .passes = 1};

static int32_t run(void *state) {
    const var_mean_t *s = state;
    ember_reduce_run(&s->var, &ember_reduce_any);
    ember_reduce_run(&s->mean, &ember_reduce_any);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    var_mean_t *s = state;
    ember_tensor_t x;
    ember_node_tensor(node, 0, &x);
    ember_output_check_floats(node);
    const uint32_t dims = ember_reduce_dims(node, 1, x.rank);
    const bool keep = ember_node_bool(node, 3);
    const ember_status_t status =
        ember_reduce_prepare(node, &s->var, &var_ops, dims, keep, 4, EMBER_REDUCE_NONE);
    if (status != EMBER_OK) {
        return status;
    }
    s->var.argument =
        ember_node_kind(node, 2) == EMBER_NONE ? 1.0 : ember_node_double(node, 2);
    return ember_reduce_prepare(node, &s->mean, &mean_ops, dims, keep, 5,
                                EMBER_REDUCE_NONE);
}

EMBER_STATE_MAY_POINT_TO(var_ops, ember_var_mean_var_ops);
EMBER_STATE_MAY_POINT_TO(mean_ops, ember_var_mean_mean_ops);
EMBER_KERNEL(var_mean, var_mean_t);
