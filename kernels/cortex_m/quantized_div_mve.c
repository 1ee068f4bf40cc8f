// SPDX-License-Identifier: Apache-2.0
// quantized_div with Helium, four elements at a time. Contract and formula:
// quantized_div.h.
//
// Helium does not divide. A reciprocal, refined four times, and two corrections by the
// remainder give the quotient of two integers of 17 bits as division rounds it.
#include <arm_mve.h>

#include "kernels/cortex_m/pair_s16.h"
#include "kernels/cortex_m/quantized_div.h"

enum { LANES = 4, GUESS = 0x7EF311C7 }; // minus the bits of x: 1 / x, 12 % off

// n / d; anything where d is 0.
static inline float32x4_t divided(float32x4_t n, float32x4_t d) {
    const float32x4_t one = vdupq_n_f32(1.0f);
    float32x4_t y =
        vreinterpretq_f32_s32(vsubq_s32(vdupq_n_s32(GUESS), vreinterpretq_s32_f32(d)));
    for (int32_t i = 0; i < 4; i++) {
        y = vfmaq_f32(y, y, vfmsq_f32(one, d, y));
    }
    float32x4_t q = vmulq_f32(n, y);
    q = vfmaq_f32(q, y, vfmsq_f32(n, d, q));
    return vfmaq_f32(q, y, vfmsq_f32(n, d, q));
}

static inline int32x4_t quotients(const ember_div_s8_t *s, int32x4_t a, int32x4_t b) {
    const int32x4_t over = vsubq_n_s32(a, s->a_zero);
    const int32x4_t under = vsubq_n_s32(b, s->b_zero);
    const float32x4_t ratio = divided(vcvtq_f32_s32(over), vcvtq_f32_s32(under));
    const int32x4_t y = vcvtnq_s32_f32(vmulq_n_f32(ratio, s->scale));
    const mve_pred16_t undefined = vcmpeqq_n_s32(under, 0);
    const int32x4_t moved =
        vqaddq_n_s32(vpselq_s32(vdupq_n_s32(0), y, undefined), (int32_t)s->y_zero);
    return vminq_s32(vmaxq_s32(moved, vdupq_n_s32((int32_t)s->low)),
                     vdupq_n_s32((int32_t)s->high));
}

static void row_s8(const void *state, const int8_t *a, const int8_t *b, int8_t *y,
                   uint32_t count) {
    for (int32_t left = (int32_t)count; left > 0; left -= LANES) {
        const mve_pred16_t lanes = vctp32q((uint32_t)left);
        const int32x4_t first = vldrbq_z_s32(a, lanes);
        vstrbq_p_s32(y, quotients(state, first, vldrbq_z_s32(b, lanes)), lanes);
        a += LANES;
        b += LANES;
        y += LANES;
    }
}

static void row_s16(const void *state, const int8_t *a, const int8_t *b, int8_t *y,
                    uint32_t count) {
    const int16_t *over = (const int16_t *)(const void *)a;
    const int16_t *under = (const int16_t *)(const void *)b;
    int16_t *out = (int16_t *)(void *)y;

    for (int32_t left = (int32_t)count; left > 0; left -= LANES) {
        const mve_pred16_t lanes = vctp32q((uint32_t)left);
        const int32x4_t first = vldrhq_z_s32(over, lanes);
        vstrhq_p_s32(out, quotients(state, first, vldrhq_z_s32(under, lanes)), lanes);
        over += LANES;
        under += LANES;
        out += LANES;
    }
}

static int32_t run(void *state) {
    return ember_div_s8_run(state, row_s8, row_s16);
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    const ember_div_s8_t *s = state;
    const ember_status_t status = ember_div_s8_prepare(node, state);

    if (status != EMBER_OK) {
        return status;
    }
    if (!ember_pair_s8_dense(&s->pair) && !ember_pair_s16_dense(&s->pair)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "quantized_div: steps");
    }
    return EMBER_OK;
}

EMBER_KERNEL(quantized_div_mve, ember_div_s8_t);
