// SPDX-License-Identifier: Apache-2.0
// softmax_s8 with Helium: weights and outputs four at a time, sums in the order of the
// portable kernel. Contract: softmax_s8.h.
#include <arm_mve.h>

#include "kernels/cortex_m/softmax_s8.h"
#include "kernels/engine/mathf_terms.h"

#define INLINE static inline __attribute__((always_inline))

enum { FOUR = 4, SIXTEEN = 16, EXPONENT = 23 }; // the last: its place in a float's bits

// ember_expf() of x in [EMBER_SOFTMAX_LEAST, 0]: denormals do not matter, neither as x
// nor as the result.
INLINE float32x4_t exponential(float32x4_t x) {
    const int32x4_t k =
        vcvtq_s32_f32(vsubq_f32(vmulq_n_f32(x, EMBER_LOG2E), vdupq_n_f32(0.5f)));
    const float32x4_t whole = vcvtq_f32_s32(k);
    const float32x4_t high = vsubq_f32(x, vmulq_n_f32(whole, EMBER_LN2_HIGH));
    const float32x4_t r = vsubq_f32(high, vmulq_n_f32(whole, EMBER_LN2_LOW));
    float32x4_t p = vaddq_n_f32(vmulq_n_f32(r, EMBER_EXP_TERM_1), EMBER_EXP_TERM_2);
    p = vaddq_n_f32(vmulq_f32(p, r), EMBER_EXP_TERM_3);
    p = vaddq_n_f32(vmulq_f32(p, r), EMBER_EXP_TERM_4);
    p = vaddq_n_f32(vmulq_f32(p, r), EMBER_EXP_TERM_5);
    p = vaddq_n_f32(vmulq_f32(p, r), EMBER_EXP_TERM_6);
    const float32x4_t tail = vaddq_f32(r, vmulq_f32(vmulq_f32(r, r), p));
    const int32x4_t bits = vreinterpretq_s32_f32(vaddq_n_f32(tail, 1.0f));
    return vreinterpretq_f32_s32(vaddq_s32(bits, vshlq_n_s32(k, EXPONENT)));
}

static int32_t largest(const int8_t *x, int32_t count) {
    int8_t most = INT8_MIN;

    for (; count > 0; count -= SIXTEEN) {
        const mve_pred16_t lanes = vctp8q((uint32_t)count);
        most = vmaxvq_p_s8(most, vldrbq_z_s8(x, lanes), lanes);
        x += SIXTEEN;
    }
    return most;
}

static void weigh(const ember_softmax_s8_t *s, const int8_t *x, int32_t count,
                  float top) {
    const float32x4_t least = vdupq_n_f32(EMBER_SOFTMAX_LEAST);
    float *weights = s->weights;

    for (; count > 0; count -= FOUR) {
        const mve_pred16_t lanes = vctp32q((uint32_t)count);
        const int32x4_t moved = vsubq_n_s32(vldrbq_z_s32(x, lanes), s->zero);
        const float32x4_t real = vmulq_n_f32(vcvtq_f32_s32(moved), s->scale);
        const float32x4_t distance = vsubq_f32(real, vdupq_n_f32(top));
        const mve_pred16_t near = vcmpgtq_f32(distance, least);
        const float32x4_t weight = exponential(vpselq_f32(distance, least, near));
        vstrwq_p_f32(weights, weight, lanes);
        x += FOUR;
        weights += FOUR;
    }
}

// The weights divided by their sum.
static void divide(float *weights, int32_t count) {
    const float *past = weights + count;
    float sum = 0.0f;

    for (const float *at = weights; at < past; at++) {
        sum += *at;
    }
    for (; weights < past; weights++) {
        *weights /= sum;
    }
}

static void line(const ember_softmax_s8_t *s, const int8_t *x, int8_t *y) {
    const int32_t count = (int32_t)s->axis.count;
    const int32x4_t most = vdupq_n_s32(INT8_MAX);
    const float *weights = s->weights;

    weigh(s, x, count, (float)(largest(x, count) - s->zero) * s->scale);
    divide(s->weights, count);
    for (int32_t left = count; left > 0; left -= FOUR) {
        const mve_pred16_t lanes = vctp32q((uint32_t)left);
        const float32x4_t parts = vmulq_n_f32(vldrwq_z_f32(weights, lanes), 256.0f);
        const int32x4_t steps = vaddq_n_s32(vcvtnq_s32_f32(parts), INT8_MIN);
        vstrbq_p_s32(y, vminq_s32(steps, most), lanes);
        weights += FOUR;
        y += FOUR;
    }
}

static int32_t run(void *state) {
    ember_softmax_s8_run(state, line);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    const ember_softmax_s8_t *s = state;
    const ember_status_t status = ember_softmax_s8_prepare(node, state);

    if (status == EMBER_OK && s->axis.inner != 1) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "softmax_s8_mve: steps");
    }
    return status;
}

EMBER_KERNEL(softmax_s8_mve, ember_softmax_s8_t);
