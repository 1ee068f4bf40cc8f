// SPDX-License-Identifier: Apache-2.0
// quantized_max_pool2d with the DSP extension, four channels at a time. Contract:
// quantized_max_pool2d.h.
#include "kernels/cortex_m/quantized_max_pool2d.h"
#include "kernels/engine/dsp/bytes_dsp.h"

static uint32_t most(const ember_image_s8_t *image, ember_window_s8_t window,
                     uint32_t best) {
    for (int32_t i = 0; i < window.rows; i++) {
        const int8_t *x = window.x;
        for (int32_t j = 0; j < window.columns; j++) {
            best = ember_word_max(best, ember_word_load(x));
            x += image->column;
        }
        window.x += image->row;
    }
    return best;
}

static void one(const void *state, ember_window_s8_t window, int8_t *y) {
    const ember_max_pool_s8_t *s = state;
    const uint32_t low = ember_word_of(s->limits.low);
    const uint32_t high = ember_word_of(s->limits.high);
    int32_t left = s->pool.channels;

    for (; left >= 4; left -= 4) {
        ember_word_store(y, ember_word_min(most(&s->pool.in, window, low), high));
        window.x += 4;
        y += 4;
    }
    ember_max_pool_s8_channels(s, window, y, left);
}

static int32_t run(void *state) {
    const ember_max_pool_s8_t *s = state;
    ember_pool_s8_run(&s->pool, one, s);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_max_pool_s8_prepare_last(node, state);
}

EMBER_KERNEL(quantized_max_pool2d_dsp, ember_max_pool_s8_t);
