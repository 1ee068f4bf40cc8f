// SPDX-License-Identifier: Apache-2.0
// A model in C of kernels/intrinsics/arm_dsp_pairs.h.
#ifndef EMBER_MODELS_ARM_DSP_PAIRS_H
#define EMBER_MODELS_ARM_DSP_PAIRS_H

#include <stdint.h>

#include <arm_dsp.h>

static inline uint32_t ember_pairs_add(uint32_t a, uint32_t b) {
    return ember_dsp_pair(ember_dsp_low(a) + ember_dsp_low(b),
                          ember_dsp_high(a) + ember_dsp_high(b));
}

static inline uint32_t ember_pairs_half_add(uint32_t a, uint32_t b) {
    return ember_dsp_pair((ember_dsp_low(a) + ember_dsp_low(b)) >> 1,
                          (ember_dsp_high(a) + ember_dsp_high(b)) >> 1);
}

static inline uint32_t ember_pairs_sub(uint32_t a, uint32_t b) {
    return ember_dsp_pair(ember_dsp_low(a) - ember_dsp_low(b),
                          ember_dsp_high(a) - ember_dsp_high(b));
}

static inline uint32_t ember_pairs_half_sub(uint32_t a, uint32_t b) {
    return ember_dsp_pair((ember_dsp_low(a) - ember_dsp_low(b)) >> 1,
                          (ember_dsp_high(a) - ember_dsp_high(b)) >> 1);
}

static inline uint32_t ember_pairs_add_i(uint32_t a, uint32_t b) {
    return ember_dsp_pair(ember_dsp_low(a) - ember_dsp_high(b),
                          ember_dsp_high(a) + ember_dsp_low(b));
}

static inline uint32_t ember_pairs_half_add_i(uint32_t a, uint32_t b) {
    return ember_dsp_pair((ember_dsp_low(a) - ember_dsp_high(b)) >> 1,
                          (ember_dsp_high(a) + ember_dsp_low(b)) >> 1);
}

static inline uint32_t ember_pairs_sub_i(uint32_t a, uint32_t b) {
    return ember_dsp_pair(ember_dsp_low(a) + ember_dsp_high(b),
                          ember_dsp_high(a) - ember_dsp_low(b));
}

static inline uint32_t ember_pairs_half_sub_i(uint32_t a, uint32_t b) {
    return ember_dsp_pair((ember_dsp_low(a) + ember_dsp_high(b)) >> 1,
                          (ember_dsp_high(a) - ember_dsp_low(b)) >> 1);
}

static inline uint32_t ember_pairs_halves(uint32_t a, uint32_t b) {
    return (a & 0xffff) | (b & 0xffff0000);
}

static inline uint32_t ember_pairs_mul(uint32_t a, uint32_t w, int32_t half) {
    const int64_t re = (int64_t)ember_dsp_low(a) * ember_dsp_low(w) -
                       (int64_t)ember_dsp_high(a) * ember_dsp_high(w) + half;
    const int64_t im = (int64_t)ember_dsp_low(a) * ember_dsp_high(w) +
                       (int64_t)ember_dsp_high(a) * ember_dsp_low(w) + half;
    return ember_dsp_pair((int32_t)(uint32_t)re >> 15, (int32_t)(uint32_t)im >> 15);
}

#endif // EMBER_MODELS_ARM_DSP_PAIRS_H
