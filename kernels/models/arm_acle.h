// SPDX-License-Identifier: Apache-2.0
// A model in C of the 32-bit SIMD of Armv7E-M and Armv8-M, for hosts without it: the
// SDK prepares such variants on the host, and tests run them there under sanitizers.
// Names and meanings are ACLE's.
#ifndef EMBER_MODELS_ARM_ACLE_H
#define EMBER_MODELS_ARM_ACLE_H

#include <stdint.h>

typedef int32_t int16x2_t;
typedef int32_t int8x4_t;
typedef uint32_t uint8x4_t;

static uint32_t ember_acle_ge; // a bit for each byte, set by comparisons

static inline int32_t ember_acle_cut(int64_t number, unsigned bits) {
    const int64_t most = ((int64_t)1 << (bits - 1)) - 1;
    return (int32_t)(number > most ? most : number < -most - 1 ? -most - 1 : number);
}

// The lower and the upper half of a word.
static inline int32_t ember_acle_low(int32_t a) {
    return (int16_t)a;
}

static inline int32_t ember_acle_high(int32_t a) {
    return (int16_t)((uint32_t)a >> 16);
}

static inline int32_t ember_acle_pair(int32_t low, int32_t high) {
    return (int32_t)(((uint32_t)high << 16) | ((uint32_t)low & 0xffff));
}

static inline int32_t ember_acle_byte(int32_t a, int byte) {
    return (int8_t)((uint32_t)a >> (8 * byte));
}

// --- saturation ----------------------------------------------------------------------

static inline int32_t __ssat(int32_t a, unsigned bits) {
    return ember_acle_cut(a, bits);
}

static inline int16x2_t __ssat16(int16x2_t a, unsigned bits) {
    return ember_acle_pair(ember_acle_cut(ember_acle_low(a), bits),
                           ember_acle_cut(ember_acle_high(a), bits));
}

static inline int32_t __qsub(int32_t a, int32_t b) {
    return ember_acle_cut((int64_t)a - b, 32);
}

// --- halves --------------------------------------------------------------------------

static inline int16x2_t __sxtb16(int8x4_t a) {
    return ember_acle_pair(ember_acle_byte(a, 0), ember_acle_byte(a, 2));
}

static inline int16x2_t __sxtab16(int16x2_t a, int8x4_t b) {
    return ember_acle_pair(ember_acle_low(a) + ember_acle_byte(b, 0),
                           ember_acle_high(a) + ember_acle_byte(b, 2));
}

// Both products of halves, and a sum of 64 bits.
static inline int64_t __smlald(int16x2_t a, int16x2_t b, int64_t sum) {
    const int64_t low = (int64_t)ember_acle_low(a) * ember_acle_low(b);
    return (int64_t)((uint64_t)sum + (uint64_t)low +
                     (uint64_t)((int64_t)ember_acle_high(a) * ember_acle_high(b)));
}

// sum + (a * b) >> 16, of the lower or the upper half of b.
static inline int32_t __smlawb(int32_t a, int32_t b, int32_t sum) {
    const int64_t product = (int64_t)a * ember_acle_low(b);
    return (int32_t)(uint32_t)(uint64_t)(sum + (product >> 16));
}

static inline int32_t __smlawt(int32_t a, int32_t b, int32_t sum) {
    const int64_t product = (int64_t)a * ember_acle_high(b);
    return (int32_t)(uint32_t)(uint64_t)(sum + (product >> 16));
}

// --- bytes ---------------------------------------------------------------------------

// Differences, and for each byte whether it is not negative.
static inline int8x4_t __ssub8(int8x4_t a, int8x4_t b) {
    uint32_t made = 0;
    ember_acle_ge = 0;
    for (int i = 0; i < 4; i++) {
        const int32_t difference = ember_acle_byte(a, i) - ember_acle_byte(b, i);
        made |= ((uint32_t)difference & 0xff) << (8 * i);
        ember_acle_ge |= (difference >= 0 ? 1u : 0) << i;
    }
    return (int8x4_t)made;
}

// The bytes of a where the last comparison held, of b elsewhere.
static inline uint8x4_t __sel(uint8x4_t a, uint8x4_t b) {
    uint32_t made = 0;
    for (int i = 0; i < 4; i++) {
        made |= ((ember_acle_ge >> i & 1) ? a : b) & (0xffu << (8 * i));
    }
    return made;
}

#endif // EMBER_MODELS_ARM_ACLE_H
