// SPDX-License-Identifier: Apache-2.0
// Batch normalisation with given statistics, float32, any one dim order. Helium; exact,
// but denormals are flushed to zero.
#include <arm_mve.h>

#include "kernels/norm/batch_norm_f32.h"

static void strided(const float *x, float *y, uint32_t count, uint32_t step,
                    float scale, float shift) {
    const uint32x4_t offsets = vmulq_n_u32(vidupq_n_u32(0, 1), step);

    for (int32_t left = (int32_t)count; left > 0; left -= 4) {
        const mve_pred16_t lanes = vctp32q((uint32_t)left);
        const float32x4_t value = vldrwq_gather_shifted_offset_z_f32(x, offsets, lanes);
        const float32x4_t product = vmulq_n_f32(value, scale);
        vstrwq_scatter_shifted_offset_p_f32(y, offsets, vaddq_n_f32(product, shift),
                                            lanes);
        x += (size_t)step * 4;
        y += (size_t)step * 4;
    }
}

static void affine(const float *x, float *y, uint32_t count, uint32_t step, float scale,
                   float shift) {
    if (step != 1) {
        strided(x, y, count, step, scale, shift);
        return;
    }
    for (int32_t left = (int32_t)count; left > 0; left -= 4) {
        const mve_pred16_t lanes = vctp32q((uint32_t)left);
        const float32x4_t product = vmulq_n_f32(vldrwq_z_f32(x, lanes), scale);
        vstrwq_p_f32(y, vaddq_n_f32(product, shift), lanes);
        x += 4;
        y += 4;
    }
}

static int32_t run(void *state) {
    ember_batch_norm_f32_each(state, affine);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_batch_norm_f32_prepare(node, state);
}

EMBER_KERNEL(batch_norm_f32_mve, ember_batch_norm_f32_t);
