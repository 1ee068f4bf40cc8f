// SPDX-License-Identifier: Apache-2.0
// The model of Advanced SIMD: arithmetic of floats. Included by arm_neon.h.
#ifndef EMBER_MODELS_ARM_NEON_FLOAT_H
#define EMBER_MODELS_ARM_NEON_FLOAT_H

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
    return (float16x4_t){(float16_t)x[0], (float16_t)x[1], (float16_t)x[2],
                         (float16_t)x[3]};
}

static inline float32x4_t vaddq_f32(float32x4_t x, float32x4_t y) {
    return x + y;
}

static inline float32x4_t vsubq_f32(float32x4_t x, float32x4_t y) {
    return x - y;
}

static inline float32x4_t vabsq_f32(float32x4_t x) {
    return (float32x4_t)((uint32x4_t)x & 0x7fffffffu);
}

static inline float32x4_t vnegq_f32(float32x4_t x) {
    return -x;
}

static inline float32x4_t vrndpq_f32(float32x4_t x) {
    return (float32x4_t){ceilf(x[0]), ceilf(x[1]), ceilf(x[2]), ceilf(x[3])};
}

static inline float32x4_t vrndmq_f32(float32x4_t x) {
    return (float32x4_t){floorf(x[0]), floorf(x[1]), floorf(x[2]), floorf(x[3])};
}

static inline float32x4_t vsqrtq_f32(float32x4_t x) {
    return (float32x4_t){sqrtf(x[0]), sqrtf(x[1]), sqrtf(x[2]), sqrtf(x[3])};
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

// Products of float16 are exact in float32.
static inline float32x4_t vfmlalq_laneq_low_f16(float32x4_t sum, float16x8_t x,
                                                float16x8_t y, int lane) {
    const float32x4_t low = {(float)x[0], (float)x[1], (float)x[2], (float)x[3]};
    return vfmaq_n_f32(sum, low, (float)y[lane]);
}

static inline float32x4_t vfmlalq_laneq_high_f16(float32x4_t sum, float16x8_t x,
                                                 float16x8_t y, int lane) {
    const float32x4_t high = {(float)x[4], (float)x[5], (float)x[6], (float)x[7]};
    return vfmaq_n_f32(sum, high, (float)y[lane]);
}

// Each product is added in one rounding: FEAT_BF16 without FEAT_EBF16 rounds otherwise.
static inline float32x4_t vbfmmlaq_f32(float32x4_t sum, bfloat16x8_t x,
                                       bfloat16x8_t y) {
    for (int i = 0; i < 16; i++) {
        const int row = i / 8;
        const int column = i / 4 % 2;
        float pair[2];
        const uint32_t bits[2] = {(uint32_t)x.bits[4 * row + i % 4] << 16,
                                  (uint32_t)y.bits[4 * column + i % 4] << 16};
        memcpy(pair, bits, sizeof pair);
        sum[2 * row + column] = fmaf(pair[0], pair[1], sum[2 * row + column]);
    }
    return sum;
}

static inline uint32x4_t vceqq_f32(float32x4_t x, float32x4_t y) {
    return (uint32x4_t)(x == y);
}

static inline uint32x4_t vcltq_f32(float32x4_t x, float32x4_t y) {
    return (uint32x4_t)(x < y);
}

static inline uint32x4_t vcgtq_f32(float32x4_t x, float32x4_t y) {
    return (uint32x4_t)(x > y);
}

static inline uint32x4_t vcgeq_f32(float32x4_t x, float32x4_t y) {
    return (uint32x4_t)(x >= y);
}

static inline float32x4_t vbslq_f32(uint32x4_t which, float32x4_t x, float32x4_t y) {
    return (float32x4_t)((which & (uint32x4_t)x) | (~which & (uint32x4_t)y));
}

static inline float32x4_t vdivq_f32(float32x4_t x, float32x4_t y) {
    return x / y;
}

static inline float32x4_t vpaddq_f32(float32x4_t x, float32x4_t y) {
    return (float32x4_t){x[0] + x[1], x[2] + x[3], y[0] + y[1], y[2] + y[3]};
}

static inline float vaddvq_f32(float32x4_t x) {
    return (x[0] + x[1]) + (x[2] + x[3]);
}

// Prefers a number to NaN.
static inline float32x4_t vmaxnmq_f32(float32x4_t x, float32x4_t y) {
    for (int i = 0; i < 4; i++) {
        x[i] = x[i] != x[i] || x[i] < y[i] ? y[i] : x[i];
    }
    return x;
}

// Prefers NaN to a number, 0 to -0.
static inline float32x4_t vmaxq_f32(float32x4_t x, float32x4_t y) {
    for (int i = 0; i < 4; i++) {
        const bool zeros = x[i] == 0 && y[i] == 0 && signbit(x[i]);
        x[i] = y[i] != y[i] || x[i] < y[i] || zeros ? y[i] : x[i];
    }
    return x;
}

static inline float32x4_t vminq_f32(float32x4_t x, float32x4_t y) {
    return -vmaxq_f32(-x, -y);
}

static inline float vmaxvq_f32(float32x4_t x) {
    const float32x4_t y = vmaxq_f32(x, (float32x4_t){x[2], x[3], x[0], x[1]});
    return vmaxq_f32(y, vdupq_n_f32(y[1]))[0];
}

static inline float vminvq_f32(float32x4_t x) {
    return -vmaxvq_f32(-x);
}

// Towards zero.
static inline int32x4_t vcvtq_s32_f32(float32x4_t x) {
    int32x4_t made;
    for (int i = 0; i < 4; i++) {
        made[i] = !(x[i] >= -2147483648.0f) ? (x[i] != x[i] ? 0 : INT32_MIN)
                  : x[i] >= 2147483648.0f   ? INT32_MAX
                                            : (int32_t)x[i];
    }
    return made;
}

// To nearest even.
static inline int32x4_t vcvtnq_s32_f32(float32x4_t x) {
    return vcvtq_s32_f32(
        (float32x4_t){rintf(x[0]), rintf(x[1]), rintf(x[2]), rintf(x[3])});
}

#endif // EMBER_MODELS_ARM_NEON_FLOAT_H
