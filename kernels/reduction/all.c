// SPDX-License-Identifier: Apache-2.0
// y = whether every element is nonzero, over some dimensions or all.
#include "kernels/reduction/truth.h"

static bool holds(const ember_sum_t *sum) {
    return (sum->index & EMBER_SEEN_ZERO) == 0;
}

static void finish_f32(ember_sum_t *sum) {
    sum->value.f32 = holds(sum);
}

static void finish_f64(ember_sum_t *sum) {
    sum->value.f64 = holds(sum);
}

static void finish_s64(ember_sum_t *sum) {
    sum->value.s64 = holds(sum);
}

static const ember_reduce_ops_t ops = {.classes = {{ember_truth_f32, finish_f32},
                                                   {ember_truth_f64, finish_f64},
                                                   {ember_truth_s64, finish_s64}},
                                       .passes = 1};

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_reduce_named(node, state, &ops);
}

EMBER_REDUCE_KERNEL(all, ember_reduce_any);
