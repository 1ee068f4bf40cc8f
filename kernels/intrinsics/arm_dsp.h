// SPDX-License-Identifier: Apache-2.0
// The DSP instructions of Armv7E-M and Armv8-M that kernels use: ACLE's, and some
// without a name there. kernels/models has the same in C.
#ifndef EMBER_INTRINSICS_ARM_DSP_H
#define EMBER_INTRINSICS_ARM_DSP_H

#include <arm_acle.h>
#include <stdint.h>

// Bytes 1 and 3 of `x` as int16, each added to one of `to`.
static inline uint32_t ember_sxtb16_odd(uint32_t x) {
    uint32_t made;
    __asm__("sxtb16 %0, %1, ror #8" : "=r"(made) : "r"(x));
    return made;
}

static inline uint32_t ember_sxtab16_odd(uint32_t to, uint32_t x) {
    uint32_t made;
    __asm__("sxtab16 %0, %1, %2, ror #8" : "=r"(made) : "r"(to), "r"(x));
    return made;
}

// The upper half of the product, rounded to nearest, ties up.
static inline int32_t ember_smmulr(int32_t a, int32_t b) {
    int32_t made;
    __asm__("smmulr %0, %1, %2" : "=r"(made) : "r"(a), "r"(b));
    return made;
}

// a + 2 b; wraps.
static inline int32_t ember_add_twice(int32_t a, int32_t b) {
    int32_t made;
    __asm__("add %0, %1, %2, lsl #1" : "=r"(made) : "r"(a), "r"(b));
    return made;
}

// Half of `x`, rounded down, or the nearest int8.
static inline int32_t ember_ssat8_half(int32_t x) {
    int32_t made;
    __asm__("ssat %0, #8, %1, asr #1" : "=r"(made) : "r"(x) : "cc");
    return made;
}

// The nearest int8 or int16.
static inline int32_t ember_ssat8(int32_t x) {
    int32_t made;
    __asm__("ssat %0, #8, %1" : "=r"(made) : "r"(x) : "cc");
    return made;
}

static inline int32_t ember_ssat16(int32_t x) {
    int32_t made;
    __asm__("ssat %0, #16, %1" : "=r"(made) : "r"(x) : "cc");
    return made;
}

// A sixteenth of `x`, rounded down, or the nearest int16.
static inline int32_t ember_ssat16_sixteenth(int32_t x) {
    int32_t made;
    __asm__("ssat %0, #16, %1, asr #4" : "=r"(made) : "r"(x) : "cc");
    return made;
}

static inline uint32_t ember_sxtb16(uint32_t x) {
    return (uint32_t)__sxtb16(x);
}

static inline uint32_t ember_sxtab16(uint32_t to, uint32_t x) {
    return (uint32_t)__sxtab16(to, x);
}

// sum + the products of both halves, of the lower and of the upper ones.
static inline int32_t ember_smlad(uint32_t a, uint32_t b, int32_t sum) {
    int32_t made;
    __asm__("smlad %0, %1, %2, %3" : "=r"(made) : "r"(a), "r"(b), "r"(sum));
    return made;
}

static inline int32_t ember_smlabb(uint32_t a, uint32_t b, int32_t sum) {
    int32_t made;
    __asm__("smlabb %0, %1, %2, %3" : "=r"(made) : "r"(a), "r"(b), "r"(sum));
    return made;
}

static inline int32_t ember_smlatt(uint32_t a, uint32_t b, int32_t sum) {
    int32_t made;
    __asm__("smlatt %0, %1, %2, %3" : "=r"(made) : "r"(a), "r"(b), "r"(sum));
    return made;
}

// The product of the lower, and of the upper halves.
static inline int32_t ember_smulbb(uint32_t a, uint32_t b) {
    int32_t made;
    __asm__("smulbb %0, %1, %2" : "=r"(made) : "r"(a), "r"(b));
    return made;
}

static inline int32_t ember_smultt(uint32_t a, uint32_t b) {
    int32_t made;
    __asm__("smultt %0, %1, %2" : "=r"(made) : "r"(a), "r"(b));
    return made;
}

// The four bytes at `*at`, which advances past them.
static inline uint32_t ember_ldr_next(const int8_t **at) {
    typedef struct {
        int8_t of[4];
    } bytes_t;
    uint32_t word;
    const int8_t *from = *at;
    __asm__("ldr %0, [%1], #4"
            : "=r"(word), "+r"(from)
            : "m"(*(const bytes_t *)(const void *)*at));
    *at = from;
    return word;
}

// Adds the products of four bytes and the halves of two words: of bytes 0 and 2 with
// `even`, of 1 and 3 with `odd`. One block of assembly, because compilers that reorder
// the instructions run out of registers.
static inline int32_t ember_add_four(int32_t sum, uint32_t bytes, uint32_t even,
                                     uint32_t odd) {
    uint32_t wide;
    __asm__("sxtb16 %1, %2\n\t"
            "smlad %0, %1, %3, %0\n\t"
            "sxtb16 %1, %2, ror #8\n\t"
            "smlad %0, %1, %4, %0"
            : "+r"(sum), "=&r"(wide)
            : "r"(bytes), "r"(even), "r"(odd));
    return sum;
}

// The upper half of a * b + to * 2^32, rounded.
static inline int32_t ember_smmlar(int32_t a, int32_t b, int32_t to) {
    int32_t made;
    __asm__("smmlar %0, %1, %2, %3" : "=r"(made) : "r"(a), "r"(b), "r"(to));
    return made;
}

// How the sums of a filter become outputs: twice the product with half of `multiplier`,
// which has 32 bits, is shifted. For 2^31 and more the table has 2^32 less.
typedef struct ember_filter_dsp {
    int32_t bias;
    int32_t multiplier;
    int32_t shift; // to the right, except for the last bit
} ember_filter_dsp_t;

#endif // EMBER_INTRINSICS_ARM_DSP_H
