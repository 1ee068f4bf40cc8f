// SPDX-License-Identifier: Apache-2.0
// Complex numbers of int16 in a word, the real part in its lower half, by the DSP
// extension. kernels/models has the same in C. Sums wrap; `half` is rounded down.
#ifndef EMBER_INTRINSICS_ARM_DSP_PAIRS_H
#define EMBER_INTRINSICS_ARM_DSP_PAIRS_H

#include <stdint.h>

#define EMBER_PAIRS_OF(name, instruction)                                              \
    static inline uint32_t name(uint32_t a, uint32_t b) {                              \
        uint32_t made;                                                                 \
        __asm__(instruction " %0, %1, %2" : "=r"(made) : "r"(a), "r"(b));              \
        return made;                                                                   \
    }

EMBER_PAIRS_OF(ember_pairs_add, "sadd16")
EMBER_PAIRS_OF(ember_pairs_half_add, "shadd16")
EMBER_PAIRS_OF(ember_pairs_sub, "ssub16")
EMBER_PAIRS_OF(ember_pairs_half_sub, "shsub16")

// a + i b and a - i b
EMBER_PAIRS_OF(ember_pairs_add_i, "sasx")
EMBER_PAIRS_OF(ember_pairs_half_add_i, "shasx")
EMBER_PAIRS_OF(ember_pairs_sub_i, "ssax")
EMBER_PAIRS_OF(ember_pairs_half_sub_i, "shsax")

// The lower half of a, the upper one of b.
EMBER_PAIRS_OF(ember_pairs_halves, "pkhbt")

// a times w, which has 15 fraction bits; `half` is 2^14.
static inline uint32_t ember_pairs_mul(uint32_t a, uint32_t w, int32_t half) {
    uint32_t re;
    uint32_t im;
    __asm__("smlsd %0, %2, %3, %4\n\t"
            "smladx %1, %2, %3, %4\n\t"
            "lsl %1, %1, #1\n\t"
            "pkhtb %0, %1, %0, asr #15"
            : "=&r"(re), "=&r"(im)
            : "r"(a), "r"(w), "r"(half));
    return re;
}

#endif // EMBER_INTRINSICS_ARM_DSP_PAIRS_H
