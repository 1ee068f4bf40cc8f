// SPDX-License-Identifier: Apache-2.0
// quantized_avg_pool2d with the DSP extension, four channels at a time. Contract and
// formula: quantized_avg_pool2d.h.
#include "kernels/cortex_m/quantized_avg_pool2d.h"
#include "kernels/engine/dsp/bytes_dsp.h"

// Sums of channels 0 and 2, and of channels 1 and 3, in halves.
typedef struct sums {
    int16x2_t even;
    int16x2_t odd;
} sums_t;

static sums_t sums_of(const ember_image_s8_t *image, ember_window_s8_t window) {
    sums_t sums = {0, 0};

    for (int32_t i = 0; i < window.rows; i++) {
        const int8_t *x = window.x;
        for (int32_t j = 0; j < window.columns; j++) {
            const uint32_t word = ember_word_load(x);
            sums.even = __sxtab16(sums.even, (int8x4_t)word);
            sums.odd = __sxtab16(sums.odd, (int8x4_t)(word >> 8 | word << 24));
            x += image->column;
        }
        window.x += image->row;
    }
    return sums;
}

static void one(const void *state, ember_window_s8_t window, int8_t *y) {
    const ember_avg_pool_s8_t *s = state;
    int32_t left = s->pool.channels;

    for (; left >= 4; left -= 4) {
        const sums_t sums = sums_of(&s->pool.in, window);
        const int8_t *x = window.x;
        y[0] = ember_avg_pool_s8_mean(s, window, x, (int16_t)sums.even);
        y[1] = ember_avg_pool_s8_mean(s, window, x + 1, (int16_t)sums.odd);
        y[2] = ember_avg_pool_s8_mean(s, window, x + 2, sums.even >> 16);
        y[3] = ember_avg_pool_s8_mean(s, window, x + 3, sums.odd >> 16);
        window.x += 4;
        y += 4;
    }
    ember_avg_pool_s8_channels(s, window, y, left);
}

static int32_t run(void *state) {
    const ember_avg_pool_s8_t *s = state;
    ember_pool_s8_run(&s->pool, one, s);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_avg_pool_s8_prepare_last(node, state);
}

EMBER_KERNEL(quantized_avg_pool2d_dsp, ember_avg_pool_s8_t);
