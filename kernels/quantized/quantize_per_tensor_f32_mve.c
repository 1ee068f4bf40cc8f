// SPDX-License-Identifier: Apache-2.0
// quantize_per_tensor with Helium: float32 to the full range of int8, 16 elements at a
// time. Contract: quantize_per_tensor_f32.h.
//
// Conversions and narrowing moves saturate, so nothing is compared. After a NaN, which
// the core's status flags show, the portable kernel computes everything again.
#include <arm_fpscr.h>
#include <arm_mve.h>

#include "kernels/quantized/quantize_per_tensor_f32.h"

// The integers of two vectors, interleaved, plus the zero point.
static inline int16x8_t halves(float32x4_t even, float32x4_t odd, int16_t zero) {
    const int32x4_t first = vcvtnq_s32_f32(even);
    const int16x8_t low = vqmovnbq_s32(vreinterpretq_s16_s32(first), first);
    return vqaddq_n_s16(vqmovntq_s32(low, vcvtnq_s32_f32(odd)), zero);
}

// Sixteen numbers.
static inline void block(const float *x, int8_t *y, float factor, int16_t zero) {
    const float32x4x4_t four = vld4q_f32(x);
    const float32x4_t a = vmulq_n_f32(four.val[0], factor);
    const float32x4_t b = vmulq_n_f32(four.val[1], factor);
    const float32x4_t c = vmulq_n_f32(four.val[2], factor);
    const float32x4_t d = vmulq_n_f32(four.val[3], factor);
    const int16x8_t even = halves(a, c, zero);
    const int8x16_t bytes = vqmovnbq_s16(vreinterpretq_s8_s16(even), even);
    vstrbq_s8(y, vqmovntq_s16(bytes, halves(b, d, zero)));
}

int32_t ember_quantize_f32_mve_run(void *state) {
    const ember_quantize_f32_t *s = state;
    const float *x = s->affine.x;
    int8_t *y = s->affine.y;
    const float factor = s->affine.factor;
    const int16_t zero = (int16_t)s->affine.zero_point;
    uint32_t left = s->affine.count;

    if (!ember_quantize_f32_apart(s)) {
        return ember_quantize_f32_run(state);
    }
    ember_invalid_clear();
    for (uint32_t blocks = left / 16; blocks > 0; blocks--) {
        block(x, y, factor, zero);
        x += 16;
        y += 16;
    }
    const int32x4_t low = vdupq_n_s32(INT8_MIN - zero);
    const int32x4_t high = vdupq_n_s32(INT8_MAX - zero);
    for (left %= 16; left > 0; left -= left < 4 ? left : 4) {
        const mve_pred16_t lanes = vctp32q(left);
        const float32x4_t a = vmulq_n_f32(vldrwq_z_f32(x, lanes), factor);
        const int32x4_t cut = vminq_s32(vmaxq_s32(vcvtnq_s32_f32(a), low), high);
        vstrbq_p_s32(y, vaddq_n_s32(cut, zero), lanes);
        x += 4;
        y += 4;
    }
    return ember_invalid_seen() ? ember_quantize_f32_run(state) : EMBER_OK;
}

static int32_t run(void *state) {
    return ember_quantize_f32_mve_run(state);
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    const ember_status_t status = ember_quantize_f32_prepare(node, state);

    if (status == EMBER_OK && !ember_quantize_f32_is_plain(state)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "quantize_mve: unsupported range or scale");
    }
    return status;
}

EMBER_KERNEL(quantize_per_tensor_f32_mve, ember_quantize_f32_t);
