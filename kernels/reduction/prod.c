// SPDX-License-Identifier: Apache-2.0
// y = the product over one dimension or all.
#include "kernels/reduction/truth.h"

static void take_f32(ember_sum_t *sum, const void *x, uint32_t count) {
    const float *a = x;
    if (sum->seen == 0) {
        sum->value.f32 = 1.0f;
    }
    for (uint32_t i = 0; i < count; i++) {
        sum->value.f32 = sum->value.f32 * a[i];
    }
}

static void finish_f32(ember_sum_t *sum) {
    if (sum->total == 0) {
        sum->value.f32 = 1.0f;
    }
}

static void take_f64(ember_sum_t *sum, const void *x, uint32_t count) {
    const double *a = x;
    if (sum->seen == 0) {
        sum->value.f64 = 1.0;
    }
    for (uint32_t i = 0; i < count; i++) {
        sum->value.f64 = sum->value.f64 * a[i];
    }
}

static void finish_f64(ember_sum_t *sum) {
    if (sum->total == 0) {
        sum->value.f64 = 1.0;
    }
}

static void take_s64(ember_sum_t *sum, const void *x, uint32_t count) {
    const int64_t *a = x;
    if (sum->seen == 0) {
        sum->value.s64 = 1;
    }
    for (uint32_t i = 0; i < count; i++) {
        sum->value.s64 = (int64_t)((uint64_t)sum->value.s64 * (uint64_t)a[i]);
    }
}

static void finish_s64(ember_sum_t *sum) {
    if (sum->total == 0) {
        sum->value.s64 = 1;
    }
}

static const ember_reduce_ops_t ops = {
    .classes = {{take_f32, finish_f32}, {take_f64, finish_f64}, {take_s64, finish_s64}},
    .passes = 1,
    .casts = true};

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_reduce_named(node, state, &ops);
}

EMBER_REDUCE_KERNEL(prod, ember_reduce_any);
