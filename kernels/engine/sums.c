// SPDX-License-Identifier: Apache-2.0
#include "kernels/engine/sums.h"

// value + row; extra keeps what rounding loses. An infinite sum has no error.
static void add_f32(ember_sum_t *sum, float row) {
    const float part = row - sum->extra.f32;
    const float total = sum->value.f32 + part;
    const float error = (total - sum->value.f32) - part;
    sum->extra.f32 = error - error == 0.0f ? error : 0.0f;
    sum->value.f32 = total;
}

void ember_sum_f32(ember_sum_t *sum, const void *x, uint32_t count) {
    const float *a = x;
    float row = 0.0f;
    for (uint32_t i = 0; i < count; i++) {
        row += a[i];
    }
    add_f32(sum, row);
}

void ember_sum_f64(ember_sum_t *sum, const void *x, uint32_t count) {
    const double *a = x;
    for (uint32_t i = 0; i < count; i++) {
        sum->value.f64 += a[i];
    }
}

void ember_sum_s64(ember_sum_t *sum, const void *x, uint32_t count) {
    const int64_t *a = x;
    uint64_t total = (uint64_t)sum->value.s64;
    for (uint32_t i = 0; i < count; i++) {
        total += (uint64_t)a[i];
    }
    sum->value.s64 = (int64_t)total;
}

void ember_mean_check(ember_node_t *node, const ember_tensor_t *x, uint32_t arg) {
    const bool given = ember_node_kind(node, arg) != EMBER_NONE;
    const int64_t dtype = given ? ember_node_int(node, arg) : x->dtype;
    if (ember_class_of((uint32_t)dtype) == EMBER_CLASS_S64) {
        (void)ember_node_fail(node, EMBER_BAD_PROGRAM,
                              "mean: integers are not supported");
    }
}

void ember_mean_f32(ember_sum_t *sum) {
    sum->value.f32 /= (float)sum->total;
}

void ember_mean_f64(ember_sum_t *sum) {
    sum->value.f64 /= (double)sum->total;
}

// A number wins if it is beyond the best so far, or the first NaN.
#define EXTREME(NAME, TYPE, FIELD, BEYOND)                                             \
    void NAME(ember_sum_t *sum, const void *x, uint32_t count) {                       \
        const TYPE *a = x;                                                             \
        for (uint32_t i = 0; i < count; i++) {                                         \
            const TYPE best = sum->value.FIELD;                                        \
            const bool wins = a[i] BEYOND best || (a[i] != a[i] && best == best);      \
            if (sum->seen + i == 0 || wins) {                                          \
                sum->value.FIELD = a[i];                                               \
                sum->index = (int64_t)(sum->seen + i);                                 \
            }                                                                          \
        }                                                                              \
    }
EXTREME(ember_max_f32, float, f32, >)
EXTREME(ember_max_f64, double, f64, >)
EXTREME(ember_max_s64, int64_t, s64, >)
EXTREME(ember_min_f32, float, f32, <)
EXTREME(ember_min_f64, double, f64, <)
EXTREME(ember_min_s64, int64_t, s64, <)

void ember_var_take_f32(ember_sum_t *sum, const void *x, uint32_t count) {
    const float *a = x;
    const float mean = sum->extra.f32;
    float row = 0.0f;
    if (sum->pass == 0) {
        ember_sum_f32(sum, x, count);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        row += (a[i] - mean) * (a[i] - mean);
    }
    sum->value.f32 += row;
}

void ember_var_take_f64(ember_sum_t *sum, const void *x, uint32_t count) {
    const double *a = x;
    const double mean = sum->extra.f64;
    if (sum->pass == 0) {
        ember_sum_f64(sum, x, count);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        sum->value.f64 += (a[i] - mean) * (a[i] - mean);
    }
}

void ember_var_finish_f32(ember_sum_t *sum) {
    const float freedom = (float)((double)sum->total - sum->argument);
    if (sum->pass == 0) {
        sum->extra.f32 = sum->value.f32 / (float)sum->total;
        sum->value.f32 = 0.0f;
    } else {
        sum->value.f32 /= freedom > 0.0f ? freedom : 0.0f;
    }
}

void ember_var_finish_f64(ember_sum_t *sum) {
    const double freedom = (double)sum->total - sum->argument;
    if (sum->pass == 0) {
        sum->extra.f64 = sum->value.f64 / (double)sum->total;
        sum->value.f64 = 0.0;
    } else {
        sum->value.f64 /= freedom > 0.0 ? freedom : 0.0;
    }
}
