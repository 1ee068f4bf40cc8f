// SPDX-License-Identifier: Apache-2.0
// A model of Advanced SIMD in C: what kernels use of ACLE's arm_neon.h, so that
// variants compile and run on any host. Not complete, and slow.
#ifndef EMBER_MODELS_ARM_NEON_H
#define EMBER_MODELS_ARM_NEON_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef int8_t int8x8_t __attribute__((vector_size(8)));
typedef uint8_t uint8x8_t __attribute__((vector_size(8)));
typedef int16_t int16x4_t __attribute__((vector_size(8)));
typedef int32_t int32x2_t __attribute__((vector_size(8)));
typedef int8_t int8x16_t __attribute__((vector_size(16)));
typedef uint8_t uint8x16_t __attribute__((vector_size(16)));
typedef float float32x2_t __attribute__((vector_size(8)));
typedef int16_t int16x8_t __attribute__((vector_size(16)));
typedef uint16_t uint16x4_t __attribute__((vector_size(8)));
typedef uint16_t uint16x8_t __attribute__((vector_size(16)));
__extension__ typedef _Float16 float16_t;
typedef float16_t float16x4_t __attribute__((vector_size(8)));
typedef float16_t float16x8_t __attribute__((vector_size(16)));
// Bits of bfloat16.
typedef struct bfloat16x8_t {
    uint16x8_t bits;
} bfloat16x8_t;
typedef int32_t int32x4_t __attribute__((vector_size(16)));
typedef uint32_t uint32x4_t __attribute__((vector_size(16)));
typedef int64_t int64x2_t __attribute__((vector_size(16)));
typedef float float32x4_t __attribute__((vector_size(16)));

// --- memory --------------------------------------------------------------------------

#define EMBER_NEON_MEMORY(LOAD, STORE, VECTOR, ELEMENT)                                \
    static inline VECTOR LOAD(const ELEMENT *from) {                                   \
        VECTOR made;                                                                   \
        memcpy(&made, from, sizeof made);                                              \
        return made;                                                                   \
    }                                                                                  \
    static inline void STORE(ELEMENT *to, VECTOR x) {                                  \
        memcpy(to, &x, sizeof x);                                                      \
    }

EMBER_NEON_MEMORY(vld1_s8, vst1_s8, int8x8_t, int8_t)
EMBER_NEON_MEMORY(vld1_s32, vst1_s32, int32x2_t, int32_t)
EMBER_NEON_MEMORY(vld1q_s8, vst1q_s8, int8x16_t, int8_t)
EMBER_NEON_MEMORY(vld1q_s32, vst1q_s32, int32x4_t, int32_t)
EMBER_NEON_MEMORY(vld1q_f32, vst1q_f32, float32x4_t, float)

EMBER_NEON_MEMORY(vld1_u8, vst1_u8, uint8x8_t, uint8_t)
EMBER_NEON_MEMORY(vld1q_u8, vst1q_u8, uint8x16_t, uint8_t)
EMBER_NEON_MEMORY(vld1_u16, vst1_u16, uint16x4_t, uint16_t)
EMBER_NEON_MEMORY(vld1q_u16, vst1q_u16, uint16x8_t, uint16_t)
EMBER_NEON_MEMORY(vld1_f32, vst1_f32, float32x2_t, float)

typedef struct int8x16x3_t {
    int8x16_t val[3];
} int8x16x3_t;
typedef struct int16x8x3_t {
    int16x8_t val[3];
} int16x8x3_t;
typedef struct int32x4x3_t {
    int32x4_t val[3];
} int32x4x3_t;

typedef struct float32x4x2_t {
    float32x4_t val[2];
} float32x4x2_t;

static inline float32x4x2_t vld2q_f32(const float *from) {
    return (float32x4x2_t){
        {{from[0], from[2], from[4], from[6]}, {from[1], from[3], from[5], from[7]}}};
}

static inline void vst3q_s8(int8_t *to, int8x16x3_t x) {
    for (int i = 0; i < 48; i++) {
        to[i] = x.val[i % 3][i / 3];
    }
}

static inline void vst3q_s16(int16_t *to, int16x8x3_t x) {
    for (int i = 0; i < 24; i++) {
        to[i] = x.val[i % 3][i / 3];
    }
}

static inline void vst3q_s32(int32_t *to, int32x4x3_t x) {
    for (int i = 0; i < 12; i++) {
        to[i] = x.val[i % 3][i / 3];
    }
}

// --- parts ---------------------------------------------------------------------------

#define vgetq_lane_f32(x, lane) ((x)[lane])

#define vreinterpretq_s64_s8(x)  ((int64x2_t)(x))
#define vreinterpretq_s8_s64(x)  ((int8x16_t)(x))
#define vreinterpretq_s64_s32(x) ((int64x2_t)(x))
#define vreinterpretq_s32_s64(x) ((int32x4_t)(x))
#define vreinterpretq_s16_s8(x)  ((int16x8_t)(x))
#define vreinterpretq_s8_s16(x)  ((int8x16_t)(x))
#define vreinterpretq_s8_s32(x)  ((int8x16_t)(x))
#define vreinterpretq_s32_s8(x)  ((int32x4_t)(x))
#define vreinterpretq_f32_s8(x)  ((float32x4_t)(x))
#define vreinterpretq_s8_f32(x)  ((int8x16_t)(x))
#define vreinterpretq_f32_s32(x) ((float32x4_t)(x))
#define vreinterpretq_f32_u32(x) ((float32x4_t)(x))
#define vreinterpretq_u32_f32(x) ((uint32x4_t)(x))
#define vreinterpretq_f32_s64(x) ((float32x4_t)(x))
#define vreinterpretq_s64_f32(x) ((int64x2_t)(x))

#define vreinterpretq_s32_s16(x) ((int32x4_t)(x))
#define vreinterpret_f16_u16(x)  ((float16x4_t)(x))
#define vreinterpret_u16_f16(x)  ((uint16x4_t)(x))
#define vreinterpretq_f16_u16(x) ((float16x8_t)(x))

static inline bfloat16x8_t vreinterpretq_bf16_u16(uint16x8_t x) {
    return (bfloat16x8_t){x};
}

static inline int64x2_t vzip1q_s64(int64x2_t x, int64x2_t y) {
    return (int64x2_t){x[0], y[0]};
}

static inline int64x2_t vzip2q_s64(int64x2_t x, int64x2_t y) {
    return (int64x2_t){x[1], y[1]};
}

static inline float32x4_t vzip1q_f32(float32x4_t x, float32x4_t y) {
    return (float32x4_t){x[0], y[0], x[1], y[1]};
}

static inline float32x4_t vzip2q_f32(float32x4_t x, float32x4_t y) {
    return (float32x4_t){x[2], y[2], x[3], y[3]};
}

static inline int32x4_t vzip1q_s32(int32x4_t x, int32x4_t y) {
    return (int32x4_t){x[0], y[0], x[1], y[1]};
}

static inline int32x4_t vzip2q_s32(int32x4_t x, int32x4_t y) {
    return (int32x4_t){x[2], y[2], x[3], y[3]};
}

static inline int16x4_t vget_low_s16(int16x8_t x) {
    return (int16x4_t){x[0], x[1], x[2], x[3]};
}

static inline float16x4_t vget_low_f16(float16x8_t x) {
    return (float16x4_t){x[0], x[1], x[2], x[3]};
}

static inline float32x4_t vcombine_f32(float32x2_t low, float32x2_t high) {
    return (float32x4_t){low[0], low[1], high[0], high[1]};
}

static inline int32x4_t vcombine_s32(int32x2_t low, int32x2_t high) {
    return (int32x4_t){low[0], low[1], high[0], high[1]};
}

static inline uint16x8_t vcombine_u16(uint16x4_t low, uint16x4_t high) {
    return (uint16x8_t){low[0],  low[1],  low[2],  low[3],
                        high[0], high[1], high[2], high[3]};
}

static inline int8x8_t vget_low_s8(int8x16_t x) {
    return (int8x8_t){x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7]};
}

static inline int8x8_t vget_high_s8(int8x16_t x) {
    return (int8x8_t){x[8], x[9], x[10], x[11], x[12], x[13], x[14], x[15]};
}

static inline int8x16_t vcombine_s8(int8x8_t low, int8x8_t high) {
    int8x16_t made;
    memcpy(&made, &low, 8);
    memcpy((char *)&made + 8, &high, 8);
    return made;
}

static inline int8x16_t vzip1q_s8(int8x16_t x, int8x16_t y) {
    int8x16_t made;
    for (int i = 0; i < 16; i++) {
        made[i] = i % 2 == 0 ? x[i / 2] : y[i / 2];
    }
    return made;
}

static inline int16x8_t vzip1q_s16(int16x8_t x, int16x8_t y) {
    return (int16x8_t){x[0], y[0], x[1], y[1], x[2], y[2], x[3], y[3]};
}

static inline int16x8_t vzip2q_s16(int16x8_t x, int16x8_t y) {
    return (int16x8_t){x[4], y[4], x[5], y[5], x[6], y[6], x[7], y[7]};
}

static inline int8x16_t vqtbl1q_s8(int8x16_t x, uint8x16_t order) {
    int8x16_t made;
    for (int i = 0; i < 16; i++) {
        made[i] = (int8_t)(order[i] < 16 ? x[order[i]] : 0);
    }
    return made;
}

static inline uint8x16_t vdupq_n_u8(uint8_t x) {
    return (uint8x16_t){0} + x;
}

static inline int8x8_t vdup_n_s8(int8_t x) {
    return (int8x8_t){0} + x;
}

static inline float32x2_t vdup_n_f32(float x) {
    return (float32x2_t){x, x};
}

static inline float32x4_t vdupq_n_f32(float x) {
    return (float32x4_t){x, x, x, x};
}

static inline int8x16_t vdupq_n_s8(int8_t x) {
    return (int8x16_t){0} + x;
}

static inline int16x8_t vdupq_n_s16(int16_t x) {
    return (int16x8_t){0} + x;
}

static inline int32x4_t vdupq_n_s32(int32_t x) {
    return (int32x4_t){0} + x;
}

static inline uint32x4_t vdupq_n_u32(uint32_t x) {
    return (uint32x4_t){x, x, x, x};
}

// --- arithmetic ----------------------------------------------------------------------

#include "arm_neon_integer.h"

#include "arm_neon_float.h"

#endif // EMBER_MODELS_ARM_NEON_H
