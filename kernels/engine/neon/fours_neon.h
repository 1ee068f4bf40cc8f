// SPDX-License-Identifier: Apache-2.0
// Element-wise functions of float32 or float16 with NEON, from memory to memory, four
// numbers at a time in float32, rounded when they are stored.
#ifndef EMBER_KERNELS_ENGINE_NEON_FOURS_NEON_H
#define EMBER_KERNELS_ENGINE_NEON_FOURS_NEON_H

#include <arm_neon.h>
#include <stdbool.h>
#include <stdint.h>

// Functions whose loops and arrays must become instructions and registers. With checks
// in each access this takes compilers minutes.
#ifdef __SANITIZE_ADDRESS__
#define EMBER_NEON_INLINE static inline
#else
#define EMBER_NEON_INLINE static inline __attribute__((always_inline))
#endif

// Adjacent groups of four; an operand may be the same four repeated.
typedef struct ember_neon_fours {
    uint8_t *y;
    const uint8_t *a;
    const uint8_t *b; // functions of one number do not read it
    uint32_t count;
    uint32_t a_step; // bytes
    uint32_t b_step;
    bool half; // float16
    float low; // bounds of results
    float high;
} ember_neon_fours_t;

// Computes all groups.
typedef void (*ember_neon_fours_fn)(const ember_neon_fours_t *fours);

// Computes a line: here `count` is in elements, and steps are 1, or 0 if an operand is
// one number. `y` may be an operand. All groups except the last are read and written in
// place.
void ember_neon_line(const ember_neon_fours_t *line, ember_neon_fours_fn compute);

// NaN stays NaN, and a zero equal to a bound keeps its sign.
EMBER_NEON_INLINE float32x4_t neon_between(float32x4_t x, float32x4_t low,
                                           float32x4_t high) {
    const float32x4_t y = vbslq_f32(vcltq_f32(x, low), low, x);
    return vbslq_f32(vcgtq_f32(y, high), high, y);
}

EMBER_NEON_INLINE float32x4_t neon_load_f16(const uint16_t *from) {
    return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(from)));
}

EMBER_NEON_INLINE void neon_store_f16(uint16_t *to, float32x4_t x) {
    vst1_u16(to, vreinterpret_u16_f16(vcvt_f16_f32(x)));
}

EMBER_NEON_INLINE float32x4_t neon_load_bf16(const uint16_t *from) {
    return vreinterpretq_f32_u32(vshll_n_u16(vld1_u16(from), 16));
}

// As ember_bf16_from_f32().
EMBER_NEON_INLINE void neon_store_bf16(uint16_t *to, float32x4_t x) {
    const uint32x4_t bits = vreinterpretq_u32_f32(x);
    const uint32x4_t odd = vandq_u32(vshrq_n_u32(bits, 16), vdupq_n_u32(1));
    const uint32x4_t rounded = vaddq_u32(bits, vaddq_u32(odd, vdupq_n_u32(0x7fff)));
    const uint32x4_t nan = vdupq_n_u32(UINT32_C(0x7fc00000));
    vst1_u16(to, vshrn_n_u32(vbslq_u32(vceqq_f32(x, x), rounded, nan), 16));
}

EMBER_NEON_INLINE float32x4_t neon_load(const uint8_t *from, bool half) {
    return half ? neon_load_f16((const uint16_t *)(const void *)from)
                : vld1q_f32((const float *)(const void *)from);
}

EMBER_NEON_INLINE void neon_store(uint8_t *to, float32x4_t x, bool half) {
    if (half) {
        neon_store_f16((uint16_t *)(void *)to, x);
    } else {
        vst1q_f32((float *)(void *)to, x);
    }
}

typedef float32x4_t (*neon_one_fn)(float32x4_t x);
typedef float32x4_t (*neon_two_fn)(float32x4_t x, float32x4_t y);

EMBER_NEON_INLINE void neon_walk_one(const ember_neon_fours_t *fours, bool half,
                                     neon_one_fn function) {
    const float32x4_t low = vdupq_n_f32(fours->low);
    const float32x4_t high = vdupq_n_f32(fours->high);
    const uint8_t *a = fours->a;
    uint8_t *y = fours->y;
    for (uint32_t left = fours->count; left > 0; left--) {
        const float32x4_t made = function(neon_load(a, half));
        neon_store(y, neon_between(made, low, high), half);
        a += half ? 8 : 16;
        y += half ? 8 : 16;
    }
}

EMBER_NEON_INLINE void neon_walk_two(const ember_neon_fours_t *fours, bool half,
                                     neon_two_fn function) {
    const float32x4_t low = vdupq_n_f32(fours->low);
    const float32x4_t high = vdupq_n_f32(fours->high);
    const uint32_t a_step = fours->a_step, b_step = fours->b_step;
    const uint8_t *a = fours->a, *b = fours->b;
    uint8_t *y = fours->y;
    for (uint32_t left = fours->count; left > 0; left--) {
        const float32x4_t made = function(neon_load(a, half), neon_load(b, half));
        neon_store(y, neon_between(made, low, high), half);
        a += a_step;
        b += b_step;
        y += half ? 8 : 16;
    }
}

// The loops of a function of one number, and of two.
EMBER_NEON_INLINE void neon_one(const ember_neon_fours_t *fours, neon_one_fn function) {
    if (fours->half) {
        neon_walk_one(fours, true, function);
    } else {
        neon_walk_one(fours, false, function);
    }
}

EMBER_NEON_INLINE void neon_two(const ember_neon_fours_t *fours, neon_two_fn function) {
    if (fours->half) {
        neon_walk_two(fours, true, function);
    } else {
        neon_walk_two(fours, false, function);
    }
}

#endif // EMBER_KERNELS_ENGINE_NEON_FOURS_NEON_H
