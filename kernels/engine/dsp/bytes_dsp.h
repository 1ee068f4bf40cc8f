// SPDX-License-Identifier: Apache-2.0
// Four int8 in a word, for kernels with the DSP extension, whose loads may be
// unaligned.
#ifndef EMBER_KERNELS_ENGINE_DSP_BYTES_DSP_H
#define EMBER_KERNELS_ENGINE_DSP_BYTES_DSP_H

#include <arm_acle.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t ember_word_load(const int8_t *x) {
    uint32_t word;
    memcpy(&word, x, sizeof(word));
    return word;
}

static inline void ember_word_store(int8_t *y, uint32_t word) {
    memcpy(y, &word, sizeof(word));
}

// Saturates both halves to 12 signed bits. GCC's header converts signs inside.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-conversion"
static inline int16x2_t ember_halves_cut_12(int16x2_t halves) {
    return __ssat16(halves, 12);
}

// Saturates a number to int8.
static inline int8_t ember_cut_8(int32_t number) {
    return (int8_t)__ssat(number, 8);
}
#pragma GCC diagnostic pop

// One int8 in all four bytes.
static inline uint32_t ember_word_of(int8_t byte) {
    return (uint8_t)byte * 0x01010101u;
}

// The larger, and the smaller, of each byte.
static inline uint32_t ember_word_max(uint32_t a, uint32_t b) {
    (void)__ssub8((int8x4_t)a, (int8x4_t)b);
    return __sel(a, b);
}

static inline uint32_t ember_word_min(uint32_t a, uint32_t b) {
    (void)__ssub8((int8x4_t)b, (int8x4_t)a);
    return __sel(a, b);
}

// The upper halves of two words; a's becomes the lower half.
static inline int16x2_t ember_word_tops(int32_t a, int32_t b) {
    return (int16x2_t)(((uint32_t)b & 0xffff0000u) | ((uint32_t)a >> 16));
}

#endif // EMBER_KERNELS_ENGINE_DSP_BYTES_DSP_H
