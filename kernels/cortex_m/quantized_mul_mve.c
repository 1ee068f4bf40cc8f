// SPDX-License-Identifier: Apache-2.0
// quantized_mul with Helium, four elements at a time. Contract and formula:
// quantized_mul.h.
#include <arm_mve.h>

#include "kernels/cortex_m/quantized_mul.h"

static void row(const void *state, const int8_t *a, const int8_t *b, int8_t *y,
                uint32_t count) {
    const ember_mul_s8_t *s = state;
    const int32_t a_zero = s->a_zero;
    const int32_t b_zero = s->b_zero;
    const int32_t y_zero = s->y_zero;
    const ember_requantize_t by = s->y;
    const int32x4_t low = vdupq_n_s32(INT8_MIN);
    const int32x4_t high = vdupq_n_s32(INT8_MAX);

    for (int32_t left = (int32_t)count; left > 0; left -= 4) {
        const mve_pred16_t lanes = vctp32q((uint32_t)left);
        const int32x4_t first = vsubq_n_s32(vldrbq_z_s32(a, lanes), a_zero);
        const int32x4_t second = vsubq_n_s32(vldrbq_z_s32(b, lanes), b_zero);
        const int32x4_t scaled =
            vqrdmulhq_n_s32(vmulq_s32(first, second), by.multiplier);
        const int32x4_t down = vaddq_s32(scaled, vshrq_n_s32(scaled, 31));
        const int32x4_t moved = vaddq_n_s32(vrshlq_n_s32(down, by.shift), y_zero);
        vstrbq_p_s32(y, vminq_s32(vmaxq_s32(moved, low), high), lanes);
        a += 4;
        b += 4;
        y += 4;
    }
}

static int32_t run(void *state) {
    const ember_mul_s8_t *s = state;
    ember_pair_s8_run(&s->pair, row, s);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_mul_s8_dense_prepare(node, state); // ties are away from zero
}

EMBER_KERNEL(quantized_mul_mve, ember_mul_s8_t);
