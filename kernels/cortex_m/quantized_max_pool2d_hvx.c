// SPDX-License-Identifier: Apache-2.0
// quantized_max_pool2d with HVX, 128 channels at a time. Contract:
// quantized_max_pool2d.h.
#include "kernels/cortex_m/quantized_max_pool2d.h"
#include "kernels/engine/hvx/pools_hvx.h"
#include "kernels/engine/hvx/scale_hvx.h"

static HVX_Vector most(const ember_image_s8_t *image, ember_window_s8_t window,
                       HVX_Vector best, int32_t left) {
    for (int32_t i = 0; i < window.rows; i++) {
        const int8_t *x = window.x;
        for (int32_t j = 0; j < window.columns; j++) {
            best = Q6_Vb_vmax_VbVb(best, ember_load_left_hvx(x, left));
            x += image->column;
        }
        window.x += image->row;
    }
    return best;
}

static void one(const void *state, ember_window_s8_t window, int32_t channels,
                int8_t *y) {
    const ember_max_pool_s8_t *s = state;
    const HVX_Vector low = Q6_Vb_vsplat_R(s->limits.low);
    const HVX_Vector high = Q6_Vb_vsplat_R(s->limits.high);

    for (int32_t left = channels; left > 0; left -= EMBER_HVX) {
        const HVX_Vector best = most(&s->pool.in, window, low, left);
        ember_store_left_hvx(y, Q6_Vb_vmin_VbVb(best, high), left);
        window.x += EMBER_HVX;
        y += EMBER_HVX;
    }
}

static int32_t run(void *state) {
    const ember_max_pool_s8_t *s = state;
    ember_pools_hvx_run(&s->pool, true, one, s);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    const ember_max_pool_s8_t *s = state;
    const ember_status_t status = ember_max_pool_s8_prepare_last(node, state);
    const int64_t taps = ember_pools_hvx_taps(&s->pool);

    if (status == EMBER_OK &&
        !ember_pools_hvx_pays(&s->pool, true, 100 + 9 * taps, 17 + 2 * taps)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "max_pool2d_hvx: few channels");
    }
    return status;
}

EMBER_KERNEL(quantized_max_pool2d_hvx, ember_max_pool_s8_t);
