// SPDX-License-Identifier: Apache-2.0
// y = whether every element is nonzero.
#include "kernels/engine/sums.h"

static void take_f32(ember_sum_t *sum, const void *x, uint32_t count) {
    const float *a = x;
    for (uint32_t i = 0; i < count; i++) {
        sum->index |= a[i] == 0.0f;
    }
}

static void finish_f32(ember_sum_t *sum) {
    sum->value.f32 = sum->index == 0 ? 1.0f : 0.0f;
}

static void take_f64(ember_sum_t *sum, const void *x, uint32_t count) {
    const double *a = x;
    for (uint32_t i = 0; i < count; i++) {
        sum->index |= a[i] == 0.0;
    }
}

static void finish_f64(ember_sum_t *sum) {
    sum->value.f64 = sum->index == 0 ? 1.0 : 0.0;
}

static void take_s64(ember_sum_t *sum, const void *x, uint32_t count) {
    const int64_t *a = x;
    for (uint32_t i = 0; i < count; i++) {
        sum->index |= a[i] == 0;
    }
}

static void finish_s64(ember_sum_t *sum) {
    sum->value.s64 = sum->index == 0 ? 1 : 0;
}

static const ember_reduce_ops_t ops = {
    .classes = {{take_f32, finish_f32}, {take_f64, finish_f64}, {take_s64, finish_s64}},
    .passes = 1};

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_tensor_t x;
    ember_node_tensor(node, 0, &x);
    const uint32_t dims = (1u << x.rank) - 1u;
    return ember_reduce_prepare(node, state, &ops, dims, false,
                                ember_node_arg_count(node) - 2, EMBER_REDUCE_NONE);
}

EMBER_REDUCE_KERNEL(all_all, ember_reduce_any);
