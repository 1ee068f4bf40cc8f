// SPDX-License-Identifier: Apache-2.0
// y = a within two numbers, float32 in one layout (hardtanh, relu6). Helium; exact, but
// a denormal counts as zero.
#include <arm_mve.h>

#include "kernels/elementwise/clamp_f32.h"

static int32_t run(void *state) {
    const ember_clamp_f32_t *s = state;
    const float32x4_t low = vdupq_n_f32(s->low);
    const float32x4_t high = vdupq_n_f32(s->high);
    const float *a = s->map.a;
    float *y = s->map.y;

    for (int32_t left = (int32_t)s->map.count; left > 0; left -= 4) {
        const mve_pred16_t lanes = vctp32q((uint32_t)left);
        float32x4_t x = vldrwq_z_f32(a, lanes);
        x = vpselq_f32(low, x, vcmpltq_f32(x, low)); // false for NaN
        x = vpselq_f32(high, x, vcmpgtq_f32(x, high));
        vstrwq_p_f32(y, x, lanes);
        a += 4;
        y += 4;
    }
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_clamp_f32_prepare(node, state);
}

EMBER_KERNEL(clamp_f32_mve, ember_clamp_f32_t);
