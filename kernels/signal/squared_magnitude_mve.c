// SPDX-License-Identifier: Apache-2.0
// squared_magnitude with Helium, four at a time; exact, but denormals are flushed to
// zero.
#include <arm_mve.h>

#include "kernels/signal/squared_magnitude.h"

static int32_t run(void *state) {
    const ember_squared_magnitude_t *s = state;
    const uint32x4_t even = vmulq_n_u32(vidupq_n_u32(0, 1), 2);
    const float *z = &s->z->re;
    float *y = s->y;
    for (int32_t left = (int32_t)s->count; left > 0; left -= 4, z += 8, y += 4) {
        const mve_pred16_t lanes = vctp32q((uint32_t)left);
        const float32x4_t re = vldrwq_gather_shifted_offset_z_f32(z, even, lanes);
        const float32x4_t im = vldrwq_gather_shifted_offset_z_f32(z + 1, even, lanes);
        vstrwq_p_f32(y, vaddq_f32(vmulq_f32(re, re), vmulq_f32(im, im)), lanes);
    }
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_squared_magnitude_prepare(node, state);
}

EMBER_KERNEL(squared_magnitude_mve, ember_squared_magnitude_t);
