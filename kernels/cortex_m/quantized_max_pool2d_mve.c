// SPDX-License-Identifier: Apache-2.0
// quantized_max_pool2d with Helium, 16 channels at a time. Contract:
// quantized_max_pool2d.h.
#include <arm_mve.h>

#include "kernels/cortex_m/quantized_max_pool2d.h"

static int8x16_t most(const ember_image_s8_t *image, ember_window_s8_t window,
                      int8x16_t best, mve_pred16_t lanes) {
    for (int32_t i = 0; i < window.rows; i++) {
        const int8_t *x = window.x;
        for (int32_t j = 0; j < window.columns; j++) {
            best = vmaxq_s8(best, vldrbq_z_s8(x, lanes));
            x += image->column;
        }
        window.x += image->row;
    }
    return best;
}

static void one(const void *state, ember_window_s8_t window, int8_t *y) {
    const ember_max_pool_s8_t *s = state;
    const int8x16_t low = vdupq_n_s8(s->limits.low);
    const int8x16_t high = vdupq_n_s8(s->limits.high);

    for (int32_t left = s->pool.channels; left > 0; left -= 16) {
        const mve_pred16_t lanes = vctp8q((uint32_t)left);
        vstrbq_p_s8(y, vminq_s8(most(&s->pool.in, window, low, lanes), high), lanes);
        window.x += 16;
        y += 16;
    }
}

static int32_t run(void *state) {
    const ember_max_pool_s8_t *s = state;
    ember_pool_s8_run(&s->pool, one, s);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_max_pool_s8_prepare_last(node, state);
}

EMBER_KERNEL(quantized_max_pool2d_mve, ember_max_pool_s8_t);
