// SPDX-License-Identifier: Apache-2.0
// ember::quantized_avg_pool2d_int16.out: means of windows, to the nearest, ties up.
#include "kernels/engine/int8/pool_s8.h"

enum { INCLUDE = 4, OUT };
enum { ELEMENTS_MAX = 1 << 14 }; // twice their sum fits an int32_t

typedef struct {
    ember_pool_s8_t pool;
    int32_t elements; // that a sum is divided by; 0: those in the image
} state_t;

static int32_t sum_of(const ember_image_s8_t *image, ember_window_s8_t window) {
    int32_t sum = 0;

    for (int32_t i = 0; i < window.rows; i++) {
        const int8_t *x = window.x;
        for (int32_t j = 0; j < window.columns; j++) {
            sum += *(const int16_t *)(const void *)x;
            x += image->column;
        }
        window.x += image->row;
    }
    return sum;
}

// `sum` / `count`, rounded.
static int16_t mean_of(int32_t sum, int32_t count) {
    const int32_t doubled = 2 * sum + count, parts = 2 * count;
    const int32_t mean = doubled / parts;

    return (int16_t)(mean - (doubled - mean * parts < 0));
}

static void one(const void *state, ember_window_s8_t window, int8_t *y) {
    const state_t *s = state;
    const int32_t inside = window.rows * window.columns;
    const int32_t count = s->elements != 0 ? s->elements : inside;

    for (int32_t c = 0; c < s->pool.channels; c++) {
        *(int16_t *)(void *)y = mean_of(sum_of(&s->pool.in, window), count);
        window.x += s->pool.in.channel;
        y += s->pool.out.channel;
    }
}

static int32_t run(void *state) {
    const state_t *s = state;
    ember_pool_s8_run(&s->pool, one, s);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    state_t *s = state;
    const bool include = ember_node_bool(node, INCLUDE);
    const ember_status_t status = ember_pool_s16_prepare(node, &s->pool, OUT);

    if (status != EMBER_OK) {
        return status;
    }
    const int64_t count = (int64_t)s->pool.kernel[0] * s->pool.kernel[1];
    if (count > ELEMENTS_MAX) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "avg_pool2d: the window is too large");
    }
    s->elements = include ? (int32_t)count : 0;
    return EMBER_OK;
}

EMBER_KERNEL(quantized_avg_pool2d_int16, state_t);
