// SPDX-License-Identifier: Apache-2.0
// Batch normalisation with given statistics, float32, any one dim order. Advanced SIMD;
// exact.
#include <arm_neon.h>

#include "kernels/norm/batch_norm_f32.h"

static void strided(const float *x, float *y, uint32_t count, uint32_t step,
                    float scale, float shift) {
    for (; count > 0; count--) {
        *y = *x * scale + shift;
        x += step;
        y += step;
    }
}

static void affine(const float *x, float *y, uint32_t count, uint32_t step, float scale,
                   float shift) {
    const float32x4_t shifts = vdupq_n_f32(shift);

    if (step != 1) {
        strided(x, y, count, step, scale, shift);
        return;
    }
    for (; count >= 16; count -= 16) {
        float32x4_t made[4];
        for (uint32_t i = 0; i < 4; i++) {
            made[i] = vaddq_f32(vmulq_n_f32(vld1q_f32(x), scale), shifts);
            x += 4;
        }
        for (uint32_t i = 0; i < 4; i++) {
            vst1q_f32(y, made[i]);
            y += 4;
        }
    }
    for (; count >= 4; count -= 4) {
        vst1q_f32(y, vaddq_f32(vmulq_n_f32(vld1q_f32(x), scale), shifts));
        x += 4;
        y += 4;
    }
    strided(x, y, count, 1, scale, shift);
}

static int32_t run(void *state) {
    ember_batch_norm_f32_each(state, affine);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_batch_norm_f32_prepare(node, state);
}

EMBER_KERNEL(batch_norm_f32_neon, ember_batch_norm_f32_t);
