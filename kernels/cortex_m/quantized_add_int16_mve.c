// SPDX-License-Identifier: Apache-2.0
// quantized_add_int16_mve: with Helium, eight elements at a time.
#include "kernels/cortex_m/pair_s16.h"
#include "kernels/cortex_m/scale_s16_mve.h"

static int32_t run(void *state) {
    const ember_add_s16_t *s = state;
    const int16x8_t a_by = vdupq_n_s16(s->a_by), b_by = vdupq_n_s16(s->b_by);
    const int16x8_t least = vdupq_n_s16(s->limits.low);
    const int16x8_t most = vdupq_n_s16(s->limits.high);
    const int32x4_t shift = vdupq_n_s32(-s->shift);

    for (uint32_t i = 0; i < s->pair.rows; i++) {
        ember_row_s16_t row = ember_row_s16(&s->pair, i);
        for (int32_t left = (int32_t)s->pair.count; left > 0; left -= EMBER_LANES_S16) {
            const mve_pred16_t lanes = vctp16q((uint32_t)left);
            const int16x8_t a = vldrhq_z_s16(row.a, lanes);
            const int16x8_t b = vldrhq_z_s16(row.b, lanes);
            const int32x4_t even =
                vaddq_s32(vmullbq_int_s16(a, a_by), vmullbq_int_s16(b, b_by));
            const int32x4_t odd =
                vaddq_s32(vmulltq_int_s16(a, a_by), vmulltq_int_s16(b, b_by));
            const int16x8_t all =
                ember_narrowed_mve(vrshlq_s32(even, shift), vrshlq_s32(odd, shift));
            vstrhq_p_s16(row.y, vminq_s16(vmaxq_s16(all, least), most), lanes);
            row.a += EMBER_LANES_S16;
            row.b += EMBER_LANES_S16;
            row.y += EMBER_LANES_S16;
        }
    }
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    const ember_add_s16_t *s = state;
    const ember_status_t status = ember_add_s16_prepare(node, state);

    if (status == EMBER_OK && !ember_pair_s16_dense(&s->pair)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "ember: not for Helium");
    }
    return status;
}

EMBER_KERNEL(quantized_add_int16_mve, ember_add_s16_t);
