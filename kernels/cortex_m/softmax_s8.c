// SPDX-License-Identifier: Apache-2.0
// softmax of int8 to int8 along one dimension: x is a real number by a scale, which the
// arguments give as multiplier * 2^(shift - 57); y is in steps of 1/256 from -128 on.
#include "kernels/engine/axis.h"
#include "kernels/engine/mathf.h"

enum { X, DIM, X_ZERO, Y_ZERO, MULTIPLIER, SHIFT, LEAST, OUT };
enum { POINT = 57, SHIFT_MIN = -69, SHIFT_MAX = 69 }; // 2^(shift - 57) is normal

typedef struct softmax {
    ember_axis_t axis;
    float scale;
    int32_t zero;
} softmax_t;

// exp(x - top), where each is rounded as a float32 first.
static float weight_of(const softmax_t *s, int32_t x, float top) {
    return ember_expf((float)(x - s->zero) * s->scale - top);
}

static void line(const softmax_t *s, const int8_t *x, int8_t *y) {
    const uint32_t step = s->axis.inner;
    const uint32_t past = s->axis.count * step;
    int32_t most = INT8_MIN;
    float sum = 0.0f;

    for (uint32_t i = 0; i < past; i += step) {
        most = x[i] > most ? x[i] : most;
    }
    const float top = (float)(most - s->zero) * s->scale;
    for (uint32_t i = 0; i < past; i += step) {
        sum += weight_of(s, x[i], top);
    }
    for (uint32_t i = 0; i < past; i += step) {
        const float part = weight_of(s, x[i], top) / sum;
        const int32_t steps = (int32_t)ember_roundf(part * 256.0f) + INT8_MIN;
        y[i] = (int8_t)(steps > INT8_MAX ? INT8_MAX : steps);
    }
}

static int32_t run(void *state) {
    const softmax_t *s = state;
    const int8_t *x = (const int8_t *)s->axis.x;
    int8_t *y = (int8_t *)s->axis.y;

    for (uint32_t o = 0; o < s->axis.outer; o++) {
        for (uint32_t n = 0; n < s->axis.inner; n++) {
            const size_t at = (size_t)o * s->axis.count * s->axis.inner + n;
            line(s, x + at, y + at);
        }
    }
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    softmax_t *s = state;
    ember_tensor_t x;

    ember_node_tensor(node, X, &x);
    const uint32_t dim = ember_node_dim(node, DIM, x.rank);
    const ember_status_t status = ember_axis_prepare(node, &s->axis, dim, OUT);
    if (status != EMBER_OK) {
        return status;
    }
    if (s->axis.x_dtype != EMBER_S8 || s->axis.y_dtype != EMBER_S8) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "softmax: not int8");
    }
    s->zero = ember_node_int_in(node, X_ZERO, INT8_MIN, INT8_MAX);
    (void)ember_node_int_in(node, Y_ZERO, INT8_MIN, INT8_MIN);
    const int32_t multiplier = ember_node_int_in(node, MULTIPLIER, 1, INT32_MAX);
    const int32_t shift = ember_node_int_in(node, SHIFT, SHIFT_MIN, SHIFT_MAX);
    s->scale = (float)multiplier * ember_pow2(shift - POINT);
    return ember_node_status(node);
}

EMBER_KERNEL(softmax_s8, softmax_t);
