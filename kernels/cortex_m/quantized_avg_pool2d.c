// SPDX-License-Identifier: Apache-2.0
// quantized_avg_pool2d, portable. Contract and formula: quantized_avg_pool2d.h.
#include "kernels/cortex_m/quantized_avg_pool2d.h"

static int32_t sum_of(const ember_image_s8_t *image, ember_window_s8_t window) {
    int32_t sum = 0;

    for (int32_t i = 0; i < window.rows; i++) {
        const int8_t *x = window.x;
        for (int32_t j = 0; j < window.columns; j++) {
            sum += *x;
            x += image->column;
        }
        window.x += image->row;
    }
    return sum;
}

void ember_avg_pool_s8_channels(const ember_avg_pool_s8_t *s, ember_window_s8_t window,
                                int8_t *y, int32_t count) {
    for (int32_t c = 0; c < count; c++) {
        const int32_t sum = sum_of(&s->pool.in, window);
        *y = ember_avg_pool_s8_mean(s, window, window.x, sum);
        window.x += s->pool.in.channel;
        y += s->pool.out.channel;
    }
}

static void one(const void *state, ember_window_s8_t window, int8_t *y) {
    const ember_avg_pool_s8_t *s = state;
    ember_avg_pool_s8_channels(s, window, y, s->pool.channels);
}

static int32_t run(void *state) {
    const ember_avg_pool_s8_t *s = state;
    ember_pool_s8_run(&s->pool, one, s);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_avg_pool_s8_prepare(node, state);
}

EMBER_KERNEL(quantized_avg_pool2d, ember_avg_pool_s8_t);
