// SPDX-License-Identifier: Apache-2.0
// quantized_layer_norm with Helium. Contract: layer_norm_s8.h.
#include <arm_mve.h>

#include "kernels/norm/layer_norm_s8.h"

enum { FOUR = 4 };

static void scale(const ember_layer_row_s8_t *row) {
    const int32x4_t by = vdupq_n_s32(row->multiplier);
    const int32_t start = row->start;
    const int8_t *x = row->x;
    const int32_t *g = row->g, *b = row->b;
    int8_t *y = row->y;

    for (int32_t left = (int32_t)row->count; left > 0; left -= FOUR) {
        const mve_pred16_t lanes = vctp32q((uint32_t)left);
        const int32x4_t n = vmlasq_n_s32(vldrbq_z_s32(x, lanes), by, start);
        const int32x4_t scaled = vrmulhq_s32(n, vldrwq_z_s32(g, lanes));
        const int32x4_t sum = vaddq_s32(scaled, vldrwq_z_s32(b, lanes));
        const int16x8_t half =
            vqshrnbq_n_s32(vreinterpretq_s16_s32(sum), sum, EMBER_NORM_S8_SHIFT);
        const int8x16_t whole = vqmovnbq_s16(vreinterpretq_s8_s16(half), half);
        vstrbq_p_s32(y, vreinterpretq_s32_s8(whole), lanes);
        x += FOUR;
        g += FOUR;
        b += FOUR;
        y += FOUR;
    }
}

EMBER_LAYER_NORM_S8_KERNEL(quantized_layer_norm_mve, ember_norm_sums_s8_mve, scale);
