// SPDX-License-Identifier: Apache-2.0
// A model in C of the DSP instructions that kernels use (kernels/intrinsics/arm_dsp.h),
// for hosts without them. Sums wrap.
#ifndef EMBER_MODELS_ARM_DSP_H
#define EMBER_MODELS_ARM_DSP_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline int32_t ember_dsp_low(uint32_t x) {
    return (int16_t)(uint16_t)x;
}

static inline int32_t ember_dsp_high(uint32_t x) {
    return (int16_t)(uint16_t)(x >> 16);
}

static inline uint32_t ember_dsp_pair(int32_t low, int32_t high) {
    return (uint16_t)low | (uint32_t)(uint16_t)high << 16;
}

static inline uint32_t ember_sxtab16(uint32_t to, uint32_t x) {
    return ember_dsp_pair(ember_dsp_low(to) + (int8_t)(uint8_t)x,
                          ember_dsp_high(to) + (int8_t)(uint8_t)(x >> 16));
}

static inline uint32_t ember_sxtab16_odd(uint32_t to, uint32_t x) {
    return ember_sxtab16(to, x >> 8 | x << 24);
}

static inline uint32_t ember_sxtb16(uint32_t x) {
    return ember_sxtab16(0, x);
}

static inline uint32_t ember_sxtb16_odd(uint32_t x) {
    return ember_sxtab16_odd(0, x);
}

static inline int32_t ember_smmulr(int32_t a, int32_t b) {
    return (int32_t)(((int64_t)a * b + ((int64_t)1 << 31)) >> 32);
}

static inline int32_t ember_add_twice(int32_t a, int32_t b) {
    return (int32_t)((uint32_t)a + ((uint32_t)b << 1));
}

static inline int32_t ember_ssat8_half(int32_t x) {
    x >>= 1;
    return x < INT8_MIN ? INT8_MIN : x > INT8_MAX ? INT8_MAX : x;
}

static inline int32_t ember_ssat8(int32_t x) {
    return x < INT8_MIN ? INT8_MIN : x > INT8_MAX ? INT8_MAX : x;
}

static inline int32_t ember_ssat16(int32_t x) {
    return x < INT16_MIN ? INT16_MIN : x > INT16_MAX ? INT16_MAX : x;
}

static inline int32_t ember_ssat16_sixteenth(int32_t x) {
    return ember_ssat16(x >> 4);
}

static inline int32_t ember_smlabb(uint32_t a, uint32_t b, int32_t sum) {
    const int32_t product = ember_dsp_low(a) * ember_dsp_low(b);
    return (int32_t)((uint32_t)sum + (uint32_t)product);
}

static inline int32_t ember_smlatt(uint32_t a, uint32_t b, int32_t sum) {
    return ember_smlabb(a >> 16, b >> 16, sum);
}

static inline int32_t ember_smlad(uint32_t a, uint32_t b, int32_t sum) {
    return ember_smlatt(a, b, ember_smlabb(a, b, sum));
}

static inline int32_t ember_smulbb(uint32_t a, uint32_t b) {
    return ember_smlabb(a, b, 0);
}

static inline int32_t ember_smultt(uint32_t a, uint32_t b) {
    return ember_smlatt(a, b, 0);
}

static inline uint32_t ember_ldr_next(const int8_t **at) {
    uint32_t word;
    memcpy(&word, *at, sizeof(word));
    *at += sizeof(word);
    return word;
}

static inline int32_t ember_add_four(int32_t sum, uint32_t bytes, uint32_t even,
                                     uint32_t odd) {
    sum = ember_smlad(ember_sxtb16(bytes), even, sum);
    return ember_smlad(ember_sxtb16_odd(bytes), odd, sum);
}

static inline int32_t ember_smmlar(int32_t a, int32_t b, int32_t to) {
    return (int32_t)((uint32_t)to + (uint32_t)ember_smmulr(a, b));
}

// The upper half of a * b + to * 2^32.
static inline int32_t ember_dsp_smmla(int32_t a, int32_t b, int32_t to) {
    return (int32_t)((uint32_t)to + (uint32_t)(((int64_t)a * b) >> 32));
}

typedef struct ember_filter_dsp {
    int32_t bias;
    int32_t multiplier;
    int32_t shift;
} ember_filter_dsp_t;

static inline int8_t ember_filtered_dsp(int32_t sum, const ember_filter_dsp_t *by,
                                        int32_t offset) {
    const int32_t high = ember_smmlar(sum, by->multiplier, sum);
    const int32_t shifted = (high + (high >> 31)) >> by->shift;
    return (int8_t)ember_ssat8_half(shifted + offset);
}

// The same with a power of two in the place of the shift.
static inline int8_t ember_powered_dsp(int32_t sum, int32_t multiplier, int32_t power,
                                       int32_t offset) {
    const int32_t high = ember_smmlar(sum, multiplier, sum);
    return (int8_t)ember_ssat8_half(
        ember_dsp_smmla(high + (high >> 31), power, offset));
}

#endif // EMBER_MODELS_ARM_DSP_H
