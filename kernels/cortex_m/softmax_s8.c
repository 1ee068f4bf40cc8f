// SPDX-License-Identifier: Apache-2.0
// softmax_s8, portable. Contract: softmax_s8.h.
#include "kernels/cortex_m/softmax_s8.h"

#include "kernels/engine/mathf.h"

enum { X, DIM, X_ZERO, Y_ZERO, MULTIPLIER, SHIFT, LEAST, OUT };
enum { POINT = 57, SHIFT_MIN = -69, SHIFT_MAX = 69 }; // 2^(shift - 57) is normal
enum { MOST_COUNT = 1 << 20 };

static float weight_of(float distance) {
    return ember_expf(distance > EMBER_SOFTMAX_LEAST ? distance : EMBER_SOFTMAX_LEAST);
}

static void line(const ember_softmax_s8_t *s, const int8_t *x, int8_t *y) {
    const uint32_t count = s->axis.count, step = s->axis.inner;
    float *weights = s->weights;
    int32_t most = INT8_MIN;
    float sum = 0.0f;

    for (uint32_t i = 0; i < count; i++) {
        most = x[i * step] > most ? x[i * step] : most;
    }
    const float top = (float)(most - s->zero) * s->scale;
    for (uint32_t i = 0; i < count; i++) {
        weights[i] = weight_of((float)(x[i * step] - s->zero) * s->scale - top);
        sum += weights[i];
    }
    for (uint32_t i = 0; i < count; i++) {
        const float part = weights[i] / sum;
        const int32_t steps = (int32_t)ember_roundf(part * 256.0f) + INT8_MIN;
        *y = (int8_t)(steps > INT8_MAX ? INT8_MAX : steps);
        y += step;
    }
}

void ember_softmax_s8_run(const ember_softmax_s8_t *s, ember_softmax_s8_fn one) {
    const int8_t *x = (const int8_t *)s->axis.x;
    int8_t *y = (int8_t *)s->axis.y;

    for (uint32_t o = 0; o < s->axis.outer; o++) {
        for (uint32_t n = 0; n < s->axis.inner; n++) {
            const size_t at = (size_t)o * s->axis.count * s->axis.inner + n;
            one(s, x + at, y + at);
        }
    }
}

static int32_t run(void *state) {
    ember_softmax_s8_run(state, line);
    return EMBER_OK;
}

ember_status_t ember_softmax_s8_prepare(ember_node_t *node, void *state) {
    ember_softmax_s8_t *s = state;
    ember_tensor_t x;

    ember_node_tensor(node, X, &x);
    const uint32_t dim = ember_node_dim(node, DIM, x.rank);
    const ember_status_t status = ember_axis_prepare(node, &s->axis, dim, OUT);
    if (status != EMBER_OK) {
        return status;
    }
    if (s->axis.x_dtype != EMBER_S8 || s->axis.y_dtype != EMBER_S8 ||
        s->axis.count > MOST_COUNT) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "softmax: not int8, or too long");
    }
    s->zero = ember_node_int_in(node, X_ZERO, INT8_MIN, INT8_MAX);
    (void)ember_node_int_in(node, Y_ZERO, INT8_MIN, INT8_MIN);
    const int32_t multiplier = ember_node_int_in(node, MULTIPLIER, 1, INT32_MAX);
    const int32_t shift = ember_node_int_in(node, SHIFT, SHIFT_MIN, SHIFT_MAX);
    s->weights = ember_node_scratch(node, s->axis.count * sizeof(float));
    s->scale = (float)multiplier * ember_pow2(shift - POINT);
    return ember_node_status(node);
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_softmax_s8_prepare(node, state);
}

EMBER_KERNEL(softmax_s8, ember_softmax_s8_t);
