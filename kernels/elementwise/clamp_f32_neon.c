// SPDX-License-Identifier: Apache-2.0
// y = a within two numbers, float32 in one layout (hardtanh, relu6). Advanced SIMD.
#include "kernels/elementwise/clamp_f32.h"
#include "kernels/engine/neon/map_f32_neon.h"

static int32_t run(void *state) {
    const ember_clamp_f32_t *s = state;
    const float32x4_t low = vdupq_n_f32(s->low);
    const float32x4_t high = vdupq_n_f32(s->high);
    const float *a = s->map.a;
    float *y = s->map.y;
    uint32_t left = s->map.count;

    for (; left >= 8; left -= 8) {
        const float32x4_t x = vld1q_f32(a), next = vld1q_f32(a + 4);
        vst1q_f32(y, neon_between(x, low, high));
        vst1q_f32(y + 4, neon_between(next, low, high));
        a += 8;
        y += 8;
    }
    for (; left > 0; left--) {
        *y++ = vgetq_lane_f32(neon_between(vdupq_n_f32(*a++), low, high), 0);
    }
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_clamp_f32_prepare(node, state);
}

EMBER_KERNEL(clamp_f32_neon, ember_clamp_f32_t);
