// SPDX-License-Identifier: Apache-2.0
// A model of kernels/intrinsics/arm_dsp_s16.h in C.
#ifndef EMBER_MODELS_ARM_DSP_S16_H
#define EMBER_MODELS_ARM_DSP_S16_H

#include <arm_dsp.h>

static inline uint32_t ember_low_halves(uint32_t a, uint32_t b) {
    return (a & UINT16_MAX) | b << 16;
}

static inline uint32_t ember_high_halves(uint32_t a, uint32_t b) {
    return a >> 16 | (b & ~(uint32_t)UINT16_MAX);
}

static inline int32_t ember_ssat16_half(int32_t x) {
    const int32_t half = x >> 1;
    return half < INT16_MIN ? INT16_MIN : half > INT16_MAX ? INT16_MAX : half;
}

static inline int32_t ember_smlatb(uint32_t a, uint32_t b, int32_t sum) {
    return ember_smlabb(a >> 16, b, sum);
}

static inline int32_t ember_smlabt(uint32_t a, uint32_t b, int32_t sum) {
    return ember_smlabb(a, b >> 16, sum);
}

#endif // EMBER_MODELS_ARM_DSP_S16_H
