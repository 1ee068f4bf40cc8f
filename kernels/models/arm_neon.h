// SPDX-License-Identifier: Apache-2.0
// A model of Advanced SIMD in C: what kernels use of ACLE's arm_neon.h, so that
// variants compile and run on any computer. Shorter than a table of all, and as slow.
#ifndef EMBER_MODELS_ARM_NEON_H
#define EMBER_MODELS_ARM_NEON_H

#include <math.h>
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

static inline int32x4_t vld1q_dup_s32(const int32_t *from) {
    return (int32x4_t){*from, *from, *from, *from};
}

typedef struct int8x16x3_t {
    int8x16_t val[3];
} int8x16x3_t;

static inline void vst3q_s8(int8_t *to, int8x16x3_t x) {
    for (int i = 0; i < 48; i++) {
        to[i] = x.val[i % 3][i / 3];
    }
}

// --- parts ---------------------------------------------------------------------------

#define vreinterpretq_s64_s8(x)  ((int64x2_t)(x))
#define vreinterpretq_s8_s64(x)  ((int8x16_t)(x))
#define vreinterpretq_s64_s32(x) ((int64x2_t)(x))
#define vreinterpretq_s32_s64(x) ((int32x4_t)(x))
#define vreinterpretq_s16_s8(x)  ((int16x8_t)(x))
#define vreinterpretq_s8_s16(x)  ((int8x16_t)(x))
#define vreinterpretq_s8_s32(x)  ((int8x16_t)(x))
#define vreinterpretq_s32_s8(x)  ((int32x4_t)(x))

#define vreinterpretq_s32_s16(x) ((int32x4_t)(x))
#define vreinterpret_f16_u16(x)  ((float16x4_t)(x))
#define vreinterpret_u16_f16(x)  ((uint16x4_t)(x))
#define vreinterpretq_f16_u16(x) ((float16x8_t)(x))

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

static inline int32x4_t vtrn1q_s32(int32x4_t x, int32x4_t y) {
    return (int32x4_t){x[0], y[0], x[2], y[2]};
}

static inline int32x4_t vtrn2q_s32(int32x4_t x, int32x4_t y) {
    return (int32x4_t){x[1], y[1], x[3], y[3]};
}

static inline int16x8_t vuzp1q_s16(int16x8_t x, int16x8_t y) {
    return (int16x8_t){x[0], x[2], x[4], x[6], y[0], y[2], y[4], y[6]};
}

static inline int16x8_t vuzp2q_s16(int16x8_t x, int16x8_t y) {
    return (int16x8_t){x[1], x[3], x[5], x[7], y[1], y[3], y[5], y[7]};
}

static inline int16x4_t vget_low_s16(int16x8_t x) {
    return (int16x4_t){x[0], x[1], x[2], x[3]};
}

static inline float16x4_t vget_low_f16(float16x8_t x) {
    return (float16x4_t){x[0], x[1], x[2], x[3]};
}

static inline int16x8_t vcombine_s16(int16x4_t low, int16x4_t high) {
    return (int16x8_t){low[0],  low[1],  low[2],  low[3],
                       high[0], high[1], high[2], high[3]};
}

static inline float32x4_t vcombine_f32(float32x2_t low, float32x2_t high) {
    return (float32x4_t){low[0], low[1], high[0], high[1]};
}

static inline int32x4_t vcombine_s32(int32x2_t low, int32x2_t high) {
    return (int32x4_t){low[0], low[1], high[0], high[1]};
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

static inline int32x2_t vdup_n_s32(int32_t x) {
    return (int32x2_t){x, x};
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

// --- integers ------------------------------------------------------------------------

static inline int32_t ember_neon_cut(int32_t x, int32_t low, int32_t high) {
    return x < low ? low : x > high ? high : x;
}

static inline int16x4_t vqmovn_s32(int32x4_t x) {
    int16x4_t made;
    for (int i = 0; i < 4; i++) {
        made[i] = (int16_t)ember_neon_cut(x[i], INT16_MIN, INT16_MAX);
    }
    return made;
}

static inline int16x8_t vqmovn_high_s32(int16x4_t low, int32x4_t x) {
    const int16x4_t high = vqmovn_s32(x);
    return (int16x8_t){low[0],  low[1],  low[2],  low[3],
                       high[0], high[1], high[2], high[3]};
}

static inline int8x8_t vqmovn_s16(int16x8_t x) {
    int8x8_t made;
    for (int i = 0; i < 8; i++) {
        made[i] = (int8_t)ember_neon_cut(x[i], INT8_MIN, INT8_MAX);
    }
    return made;
}

static inline int8x16_t vqmovn_high_s16(int8x8_t low, int16x8_t x) {
    const int8x8_t high = vqmovn_s16(x);
    int8x16_t made;
    memcpy(&made, &low, 8);
    memcpy((char *)&made + 8, &high, 8);
    return made;
}

static inline int16x8_t vqaddq_s16(int16x8_t x, int16x8_t y) {
    int16x8_t made;
    for (int i = 0; i < 8; i++) {
        made[i] = (int16_t)ember_neon_cut(x[i] + y[i], INT16_MIN, INT16_MAX);
    }
    return made;
}

static inline int8x16_t vmaxq_s8(int8x16_t x, int8x16_t y) {
    for (int i = 0; i < 16; i++) {
        x[i] = x[i] > y[i] ? x[i] : y[i];
    }
    return x;
}

static inline int8x16_t vminq_s8(int8x16_t x, int8x16_t y) {
    for (int i = 0; i < 16; i++) {
        x[i] = x[i] < y[i] ? x[i] : y[i];
    }
    return x;
}

static inline int8x8_t vmax_s8(int8x8_t x, int8x8_t y) {
    for (int i = 0; i < 8; i++) {
        x[i] = x[i] > y[i] ? x[i] : y[i];
    }
    return x;
}

static inline int8x8_t vmin_s8(int8x8_t x, int8x8_t y) {
    for (int i = 0; i < 8; i++) {
        x[i] = x[i] < y[i] ? x[i] : y[i];
    }
    return x;
}

static inline int32x4_t vmulq_s32(int32x4_t x, int32x4_t y) {
    for (int i = 0; i < 4; i++) {
        x[i] = (int32_t)((uint32_t)x[i] * (uint32_t)y[i]);
    }
    return x;
}

static inline int32x4_t vsubq_s32(int32x4_t x, int32x4_t y) {
    for (int i = 0; i < 4; i++) {
        x[i] = (int32_t)((uint32_t)x[i] - (uint32_t)y[i]);
    }
    return x;
}

static inline int32x4_t vmulq_n_s32(int32x4_t x, int32_t y) {
    return vmulq_s32(x, vdupq_n_s32(y));
}

static inline int32x4_t vmlsq_n_s32(int32x4_t sum, int32x4_t x, int32_t y) {
    return vsubq_s32(sum, vmulq_n_s32(x, y));
}

static inline int8x16_t vandq_s8(int8x16_t x, int8x16_t y) {
    return x & y;
}

static inline int8x16_t vshlq_n_s8(int8x16_t x, int bits) {
    return (int8x16_t)((uint8x16_t)x << (uint8_t)bits);
}

static inline int32x4_t vshlq_n_s32(int32x4_t x, int bits) {
    return (int32x4_t)((uint32x4_t)x << (uint32_t)bits);
}

static inline int32_t ember_neon_add(int32_t x, int32_t y) {
    return (int32_t)((uint32_t)x + (uint32_t)y);
}

static inline int32x4_t vdotq_s32(int32x4_t sum, int8x16_t x, int8x16_t y) {
    for (int i = 0; i < 16; i++) {
        sum[i / 4] = ember_neon_add(sum[i / 4], x[i] * y[i]);
    }
    return sum;
}

static inline int32x4_t vdotq_laneq_s32(int32x4_t sum, int8x16_t x, int8x16_t y,
                                        int lane) {
    return vdotq_s32(sum, x, (int8x16_t)vdupq_n_s32(((int32x4_t)y)[lane]));
}

static inline int32x4_t vmmlaq_s32(int32x4_t sum, int8x16_t x, int8x16_t y) {
    for (int i = 0; i < 32; i++) {
        const int row = i / 16;
        const int column = i / 8 % 2;
        sum[2 * row + column] = ember_neon_add(
            sum[2 * row + column], x[8 * row + i % 8] * y[8 * column + i % 8]);
    }
    return sum;
}

// --- floats --------------------------------------------------------------------------

static inline float32x4_t vcvtq_f32_s32(int32x4_t x) {
    return (float32x4_t){(float)x[0], (float)x[1], (float)x[2], (float)x[3]};
}

static inline float32x4_t vcvtq_n_f32_s32(int32x4_t x, int bits) {
    return vcvtq_f32_s32(x) / (float)(1 << bits);
}

static inline float32x4_t vcvt_f32_f16(float16x4_t x) {
    return (float32x4_t){(float)x[0], (float)x[1], (float)x[2], (float)x[3]};
}

static inline float32x4_t vcvt_high_f32_f16(float16x8_t x) {
    return (float32x4_t){(float)x[4], (float)x[5], (float)x[6], (float)x[7]};
}

static inline float16x4_t vcvt_f16_f32(float32x4_t x) {
    float16x4_t made;
    for (int i = 0; i < 4; i++) {
        made[i] = (float16_t)x[i];
    }
    return made;
}

static inline float32x4_t vaddq_f32(float32x4_t x, float32x4_t y) {
    return x + y;
}

static inline float32x4_t vmulq_f32(float32x4_t x, float32x4_t y) {
    return x * y;
}

static inline float32x4_t vmulq_n_f32(float32x4_t x, float y) {
    return x * y;
}

static inline float32x4_t vfmaq_f32(float32x4_t sum, float32x4_t x, float32x4_t y) {
    for (int i = 0; i < 4; i++) {
        sum[i] = fmaf(x[i], y[i], sum[i]);
    }
    return sum;
}

#define vfmaq_laneq_f32(sum, x, y, lane) vfmaq_n_f32(sum, x, (y)[lane])

static inline float32x4_t vfmaq_n_f32(float32x4_t sum, float32x4_t x, float y) {
    for (int i = 0; i < 4; i++) {
        sum[i] = fmaf(x[i], y, sum[i]);
    }
    return sum;
}

static inline uint32x4_t vcltq_f32(float32x4_t x, float32x4_t y) {
    return (uint32x4_t)(x < y);
}

static inline uint32x4_t vcgtq_f32(float32x4_t x, float32x4_t y) {
    return (uint32x4_t)(x > y);
}

static inline float32x4_t vbslq_f32(uint32x4_t which, float32x4_t x, float32x4_t y) {
    return (float32x4_t)((which & (uint32x4_t)x) | (~which & (uint32x4_t)y));
}

static inline float32x4_t vdivq_f32(float32x4_t x, float32x4_t y) {
    return x / y;
}

// A number rather than NaN.
static inline float32x4_t vmaxnmq_f32(float32x4_t x, float32x4_t y) {
    for (int i = 0; i < 4; i++) {
        x[i] = x[i] != x[i] || x[i] < y[i] ? y[i] : x[i];
    }
    return x;
}

static inline float32x4_t vminnmq_f32(float32x4_t x, float32x4_t y) {
    for (int i = 0; i < 4; i++) {
        x[i] = x[i] != x[i] || x[i] > y[i] ? y[i] : x[i];
    }
    return x;
}

static inline float vmaxnmvq_f32(float32x4_t x) {
    const float32x4_t y = vmaxnmq_f32(x, (float32x4_t){x[2], x[3], x[0], x[1]});
    return vmaxnmq_f32(y, vdupq_n_f32(y[1]))[0];
}

static inline float vminnmvq_f32(float32x4_t x) {
    const float32x4_t y = vminnmq_f32(x, (float32x4_t){x[2], x[3], x[0], x[1]});
    return vminnmq_f32(y, vdupq_n_f32(y[1]))[0];
}

static inline int32x4_t vcvtnq_s32_f32(float32x4_t x) {
    int32x4_t made;
    for (int i = 0; i < 4; i++) {
        const float y = rintf(x[i]);
        made[i] = !(y >= -2147483648.0f) ? (y != y ? 0 : INT32_MIN)
                  : y >= 2147483648.0f   ? INT32_MAX
                                         : (int32_t)y;
    }
    return made;
}

#endif // EMBER_MODELS_ARM_NEON_H
