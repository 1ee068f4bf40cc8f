// SPDX-License-Identifier: Apache-2.0
// Instructions of the DSP extension for pairs of int16. kernels/models has the same in
// C.
#ifndef EMBER_INTRINSICS_ARM_DSP_S16_H
#define EMBER_INTRINSICS_ARM_DSP_S16_H

#include <arm_dsp.h>

// The lower halves of a and b; and their upper halves.
static inline uint32_t ember_low_halves(uint32_t a, uint32_t b) {
    uint32_t both;
    __asm__("pkhbt %0, %1, %2, lsl #16" : "=r"(both) : "r"(a), "r"(b));
    return both;
}

static inline uint32_t ember_high_halves(uint32_t a, uint32_t b) {
    uint32_t both;
    __asm__("pkhtb %0, %1, %2, asr #16" : "=r"(both) : "r"(b), "r"(a));
    return both;
}

// Half of x, rounded down, within int16.
static inline int32_t ember_ssat16_half(int32_t x) {
    int32_t half;
    __asm__("ssat %0, #16, %1, asr #1" : "=r"(half) : "r"(x) : "cc");
    return half;
}

// The product of the upper half of a with the lower one of b, added to `sum`; and the
// reverse.
static inline int32_t ember_smlatb(uint32_t a, uint32_t b, int32_t sum) {
    int32_t made;
    __asm__("smlatb %0, %1, %2, %3" : "=r"(made) : "r"(a), "r"(b), "r"(sum));
    return made;
}

static inline int32_t ember_smlabt(uint32_t a, uint32_t b, int32_t sum) {
    int32_t made;
    __asm__("smlabt %0, %1, %2, %3" : "=r"(made) : "r"(a), "r"(b), "r"(sum));
    return made;
}

#endif // EMBER_INTRINSICS_ARM_DSP_S16_H
