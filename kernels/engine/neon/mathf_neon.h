// SPDX-License-Identifier: Apache-2.0
// Functions of four floats, with the bits of mathf.h's.
#ifndef EMBER_KERNELS_ENGINE_NEON_MATHF_NEON_H
#define EMBER_KERNELS_ENGINE_NEON_MATHF_NEON_H

#include "kernels/engine/mathf.h"
#include "kernels/engine/mathf_terms.h"
#include "kernels/engine/neon/fours_neon.h"

// p * x + term, rounded twice.
EMBER_NEON_INLINE float32x4_t neon_step(float32x4_t p, float32x4_t x, float term) {
    return vaddq_f32(vmulq_f32(p, x), vdupq_n_f32(term));
}

// The size of x with the sign of `sign`.
EMBER_NEON_INLINE float32x4_t neon_sign(float32x4_t x, float32x4_t sign) {
    return vbslq_f32(vdupq_n_u32(0x80000000u), sign, x);
}

// 2 to the n, n in [-126, 127].
EMBER_NEON_INLINE float32x4_t neon_pow2(int32x4_t n) {
    return vreinterpretq_f32_s32(vshlq_n_s32(vaddq_s32(n, vdupq_n_s32(127)), 23));
}

// exp(x), x in [EMBER_EXP_LEAST, EMBER_EXP_MOST); any number for others, NaN for NaN.
EMBER_NEON_INLINE float32x4_t neon_exp_inside(float32x4_t x) {
    const float32x4_t y = vmulq_f32(x, vdupq_n_f32(EMBER_LOG2E));
    const int32x4_t k = vcvtq_s32_f32(vaddq_f32(y, neon_sign(vdupq_n_f32(0.5f), y)));
    const float32x4_t whole = vcvtq_f32_s32(k);
    const float32x4_t high =
        vsubq_f32(x, vmulq_f32(whole, vdupq_n_f32(EMBER_LN2_HIGH)));
    const float32x4_t r = vsubq_f32(high, vmulq_f32(whole, vdupq_n_f32(EMBER_LN2_LOW)));
    float32x4_t p = neon_step(vdupq_n_f32(EMBER_EXP_TERM_1), r, EMBER_EXP_TERM_2);
    p = neon_step(p, r, EMBER_EXP_TERM_3);
    p = neon_step(p, r, EMBER_EXP_TERM_4);
    p = neon_step(p, r, EMBER_EXP_TERM_5);
    p = neon_step(p, r, EMBER_EXP_TERM_6);
    const float32x4_t tail = vaddq_f32(r, vmulq_f32(vmulq_f32(r, r), p));
    const float32x4_t size = vaddq_f32(vdupq_n_f32(1.0f), tail);
    const int32x4_t half = vshrq_n_s32(k, 1); // 2^k may not be a float
    return vmulq_f32(vmulq_f32(size, neon_pow2(half)), neon_pow2(vsubq_s32(k, half)));
}

EMBER_NEON_INLINE float32x4_t neon_exp(float32x4_t x) {
    const float32x4_t inside = neon_exp_inside(x);
    const float32x4_t beyond = vmulq_f32(x, vdupq_n_f32(EMBER_INF));
    const float32x4_t y =
        vbslq_f32(vcltq_f32(x, vdupq_n_f32(EMBER_EXP_MOST)), inside, beyond);
    const uint32x4_t none = vcltq_f32(x, vdupq_n_f32(EMBER_EXP_LEAST));
    return vbslq_f32(none, vdupq_n_f32(0.0f), y);
}

EMBER_NEON_INLINE float32x4_t neon_sigmoid(float32x4_t x) {
    const float32x4_t one = vdupq_n_f32(1.0f);
    return vdivq_f32(one, vaddq_f32(one, neon_exp(vnegq_f32(x))));
}

EMBER_NEON_INLINE float32x4_t neon_tanh(float32x4_t x) {
    const float32x4_t one = vdupq_n_f32(1.0f);
    const float32x4_t a = vabsq_f32(x);
    const float32x4_t z = vmulq_f32(x, x);
    float32x4_t p = neon_step(vdupq_n_f32(EMBER_TANH_TERM_1), z, EMBER_TANH_TERM_2);
    p = neon_step(p, z, EMBER_TANH_TERM_3);
    p = neon_step(p, z, EMBER_TANH_TERM_4);
    p = neon_step(p, z, EMBER_TANH_TERM_5);
    const float32x4_t near = vaddq_f32(a, vmulq_f32(vmulq_f32(a, z), p));
    const float32x4_t power = neon_exp_inside(vaddq_f32(a, a));
    const float32x4_t far =
        vsubq_f32(one, vdivq_f32(vdupq_n_f32(2.0f), vaddq_f32(power, one)));
    const float32x4_t beyond =
        vbslq_f32(vcgtq_f32(a, vdupq_n_f32(EMBER_TANH_ONE)), one, far);
    return neon_sign(
        vbslq_f32(vcltq_f32(a, vdupq_n_f32(EMBER_TANH_NEAR)), near, beyond), x);
}

EMBER_NEON_INLINE float32x4_t neon_erf_far(float32x4_t a) {
    float32x4_t p =
        neon_step(vdupq_n_f32(EMBER_ERF_FAR_TERM_1), a, EMBER_ERF_FAR_TERM_2);
    p = neon_step(p, a, EMBER_ERF_FAR_TERM_3);
    p = neon_step(p, a, EMBER_ERF_FAR_TERM_4);
    p = neon_step(p, a, EMBER_ERF_FAR_TERM_5);
    p = neon_step(p, a, EMBER_ERF_FAR_TERM_6);
    p = neon_step(p, a, EMBER_ERF_FAR_TERM_7);
    p = neon_step(p, a, EMBER_ERF_FAR_TERM_8);
    const float32x4_t one = vdupq_n_f32(1.0f);
    const float32x4_t y = vsubq_f32(one, neon_exp_inside(p));
    return vbslq_f32(vcltq_f32(a, vdupq_n_f32(EMBER_ERF_ONE)), y, one);
}

EMBER_NEON_INLINE float32x4_t neon_erf(float32x4_t x) {
    const float32x4_t a = vabsq_f32(x);
    const float32x4_t z = vmulq_f32(x, x);
    float32x4_t p =
        neon_step(vdupq_n_f32(EMBER_ERF_NEAR_TERM_1), z, EMBER_ERF_NEAR_TERM_2);
    p = neon_step(p, z, EMBER_ERF_NEAR_TERM_3);
    p = neon_step(p, z, EMBER_ERF_NEAR_TERM_4);
    p = neon_step(p, z, EMBER_ERF_NEAR_TERM_5);
    p = neon_step(p, z, EMBER_ERF_NEAR_TERM_6);
    const float32x4_t near = vaddq_f32(x, vmulq_f32(x, p));
    return vbslq_f32(vcgeq_f32(a, vdupq_n_f32(EMBER_ERF_NEAR)),
                     neon_sign(neon_erf_far(a), x), near);
}

EMBER_NEON_INLINE float32x4_t neon_gelu(float32x4_t x) {
    const float32x4_t erf = neon_erf(vmulq_f32(x, vdupq_n_f32(EMBER_ROOT_HALF)));
    return vmulq_f32(vmulq_f32(vdupq_n_f32(0.5f), x),
                     vaddq_f32(vdupq_n_f32(1.0f), erf));
}

EMBER_NEON_INLINE float32x4_t neon_gelu_tanh(float32x4_t x) {
    const float32x4_t part = vmulq_f32(vdupq_n_f32(0.044715f), x);
    const float32x4_t cube = vmulq_f32(vmulq_f32(part, x), x);
    const float32x4_t inner = vmulq_f32(vdupq_n_f32(0.797884561f), vaddq_f32(x, cube));
    return vmulq_f32(vmulq_f32(vdupq_n_f32(0.5f), x),
                     vaddq_f32(vdupq_n_f32(1.0f), neon_tanh(inner)));
}

// x sigmoid(x)
EMBER_NEON_INLINE float32x4_t neon_silu(float32x4_t x) {
    return vdivq_f32(x, vaddq_f32(vdupq_n_f32(1.0f), neon_exp(vnegq_f32(x))));
}

#endif // EMBER_KERNELS_ENGINE_NEON_MATHF_NEON_H
