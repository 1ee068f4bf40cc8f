// SPDX-License-Identifier: Apache-2.0
// quantize_per_tensor to int16 with Helium, eight elements at a time. Contract:
// quantize_per_tensor_s16.h.
//
// Conversions and narrowing moves saturate. After a NaN, which the core's status flags
// show, the portable kernel computes everything again.
#include <arm_fpscr.h>
#include <arm_mve.h>

#include "kernels/quantized/quantize_per_tensor_s16.h"

enum { LANES = 8, FOUR = 4 };

static void run_blocks(const ember_quantize_s16_t *s) {
    const float *x = s->affine.x;
    int16_t *y = s->affine.y;
    const float factor = s->affine.factor;
    const int16x8_t low = vdupq_n_s16(s->low), high = vdupq_n_s16(s->high);
    const int32x4_t least = vdupq_n_s32(s->low), most = vdupq_n_s32(s->high);
    uint32_t left = s->affine.count;

    for (; left >= LANES; left -= LANES) {
        const float32x4x2_t both = vld2q_f32(x);
        const int32x4_t even = vcvtnq_s32_f32(vmulq_n_f32(both.val[0], factor));
        const int32x4_t odd = vcvtnq_s32_f32(vmulq_n_f32(both.val[1], factor));
        const int16x8_t half = vqmovnbq_s32(vreinterpretq_s16_s32(even), even);
        const int16x8_t all = vqmovntq_s32(half, odd);
        vstrhq_s16(y, vminq_s16(vmaxq_s16(all, low), high));
        x += LANES;
        y += LANES;
    }
    for (; left > 0; left -= left < FOUR ? left : FOUR) {
        const mve_pred16_t lanes = vctp32q(left);
        const float32x4_t scaled = vmulq_n_f32(vldrwq_z_f32(x, lanes), factor);
        const int32x4_t number = vcvtnq_s32_f32(scaled);
        vstrhq_p_s32(y, vminq_s32(vmaxq_s32(number, least), most), lanes);
        x += FOUR;
        y += FOUR;
    }
}

// Whether y is disjoint from x, so that it can be computed again.
static bool is_apart(const ember_affine_f32_t *affine) {
    const uintptr_t x = (uintptr_t)affine->x, y = (uintptr_t)affine->y;
    return y >= x + affine->count * sizeof(float) ||
           x >= y + affine->count * sizeof(int16_t);
}

static int32_t run(void *state) {
    const ember_quantize_s16_t *s = state;

    if (!is_apart(&s->affine)) {
        return ember_quantize_s16_run(state);
    }
    ember_invalid_clear();
    run_blocks(s);
    return ember_invalid_seen() ? ember_quantize_s16_run(state) : EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_quantize_s16_prepare(node, state);
}

EMBER_KERNEL(quantize_per_tensor_s16_mve, ember_quantize_s16_t);
