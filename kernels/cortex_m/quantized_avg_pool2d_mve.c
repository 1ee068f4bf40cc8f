// SPDX-License-Identifier: Apache-2.0
// quantized_avg_pool2d with Helium, eight channels at a time. Contract and formula:
// quantized_avg_pool2d.h.
#include <arm_mve.h>

#include "kernels/cortex_m/quantized_avg_pool2d.h"

static int16x8_t sum_of(const ember_image_s8_t *image, ember_window_s8_t window,
                        mve_pred16_t lanes) {
    int16x8_t sum = vdupq_n_s16(0);

    for (int32_t i = 0; i < window.rows; i++) {
        const int8_t *x = window.x;
        for (int32_t j = 0; j < window.columns; j++) {
            sum = vaddq_s16(sum, vldrbq_z_s16(x, lanes));
            x += image->column;
        }
        window.x += image->row;
    }
    return sum;
}

static void one(const void *state, ember_window_s8_t window, int8_t *y) {
    const ember_avg_pool_s8_t *s = state;
    int16_t sums[8];

    for (int32_t left = s->pool.channels; left > 0; left -= 8) {
        const int32_t count = left < 8 ? left : 8;
        vstrhq_s16(sums, sum_of(&s->pool.in, window, vctp16q((uint32_t)left)));
        for (int32_t c = 0; c < count; c++) {
            *y++ = ember_avg_pool_s8_mean(s, window, window.x + c, sums[c]);
        }
        window.x += 8;
    }
}

static int32_t run(void *state) {
    const ember_avg_pool_s8_t *s = state;
    ember_pool_s8_run(&s->pool, one, s);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_avg_pool_s8_prepare_last(node, state);
}

EMBER_KERNEL(quantized_avg_pool2d_mve, ember_avg_pool_s8_t);
