// SPDX-License-Identifier: Apache-2.0
// What the kernels of quantized_avg_pool2d share. Contract: quantized_avg_pool2d.h.
#include "kernels/cortex_m/quantized_avg_pool2d.h"

enum { CEIL_MODE = 4, ZERO, MULTIPLIER, SHIFT, SCRATCH, OUT };
enum { SHIFT_MIN = -60, SHIFT_MAX = 60, ELEMENTS_MAX = 1 << 20, SHORT_MAX = 255 };

static int8_t limited(int32_t mean) {
    mean = mean < INT8_MIN ? INT8_MIN : mean;
    return (int8_t)(mean > INT8_MAX ? INT8_MAX : mean);
}

float ember_avg_pool_s8_scale(ember_node_t *node, uint32_t first, int32_t *zero) {
    *zero = ember_node_int_in(node, first, INT8_MIN, INT8_MAX);
    const int32_t multiplier = ember_node_int_in(node, first + 1, 1, INT32_MAX);
    const int32_t shift = ember_node_int_in(node, first + 2, SHIFT_MIN, SHIFT_MAX);
    return (float)multiplier * ember_pow2(shift - 31);
}

// As the reference computes it.
static float sum_as_floats(const ember_avg_pool_s8_t *s, ember_window_s8_t window,
                           const int8_t *x) {
    const ember_image_s8_t *image = &s->pool.in;
    float sum = 0.0f;

    for (int32_t i = 0; i < window.rows; i++) {
        const int8_t *item = x;
        for (int32_t j = 0; j < window.columns; j++) {
            sum += (float)(*item - s->zero) * s->scale;
            item += image->column;
        }
        x += image->row;
    }
    return sum;
}

int8_t ember_avg_pool_s8_mean(const ember_avg_pool_s8_t *s, ember_window_s8_t window,
                              const int8_t *x, int32_t sum) {
    const int32_t count = window.rows * window.columns;
    const int32_t doubled = 2 * (sum - s->zero * count) + count;
    const int32_t parts = 2 * count;
    int32_t mean = doubled / parts;
    int32_t left = doubled - mean * parts;

    if (left < 0) { // rounds down
        left += parts;
        mean--;
    }
    if (left <= s->doubt || parts - left <= s->doubt) {
        const float floats = sum_as_floats(s, window, x);
        mean = (int32_t)ember_avg_pool_s8_steps(floats, count, s->scale);
    }
    return limited(mean + s->zero);
}

ember_status_t ember_avg_pool_s8_prepare(ember_node_t *node, void *state) {
    ember_avg_pool_s8_t *s = state;
    const ember_status_t status =
        ember_pool_s8_prepare(node, &s->pool, ember_node_bool(node, CEIL_MODE), OUT);

    if (status != EMBER_OK) {
        return status;
    }
    s->scale = ember_avg_pool_s8_scale(node, ZERO, &s->zero);
    const int64_t count = (int64_t)s->pool.kernel[0] * s->pool.kernel[1];
    if (count > ELEMENTS_MAX) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "avg_pool2d: the window is too large");
    }
    // count + 8 roundings, each at most 2^-24 of 256 steps: (count + 8) * 2^-16 steps
    s->doubt = (int32_t)((2 * count * (count + 8)) >> 16);
    return ember_node_status(node);
}

ember_status_t ember_avg_pool_s8_prepare_last(ember_node_t *node, void *state) {
    const ember_avg_pool_s8_t *s = state;
    const ember_status_t status = ember_avg_pool_s8_prepare(node, state);

    if (status == EMBER_OK &&
        (!ember_pool_s8_channels_last(&s->pool) || s->pool.kernel[0] > SHORT_MAX ||
         s->pool.kernel[0] * s->pool.kernel[1] > SHORT_MAX)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "avg_pool2d: wrong layout or size");
    }
    return status;
}
