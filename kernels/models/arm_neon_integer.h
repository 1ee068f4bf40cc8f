// SPDX-License-Identifier: Apache-2.0
// The model of Advanced SIMD: arithmetic of integers. Included by arm_neon.h.
#ifndef EMBER_MODELS_ARM_NEON_INTEGER_H
#define EMBER_MODELS_ARM_NEON_INTEGER_H

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

static inline int32x4_t vmulq_s32(int32x4_t x, int32x4_t y) {
    for (int i = 0; i < 4; i++) {
        x[i] = (int32_t)((uint32_t)x[i] * (uint32_t)y[i]);
    }
    return x;
}

static inline int32x4_t vaddq_s32(int32x4_t x, int32x4_t y) {
    return (int32x4_t)((uint32x4_t)x + (uint32x4_t)y);
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

static inline int32x4_t vmlaq_s32(int32x4_t sum, int32x4_t x, int32x4_t y) {
    return sum + vmulq_s32(x, y);
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

static inline int32x4_t vshrq_n_s32(int32x4_t x, int bits) {
    return x >> bits;
}

static inline uint32x4_t vshrq_n_u32(uint32x4_t x, int bits) {
    return x >> (uint32_t)bits;
}

static inline uint32x4_t vshll_n_u16(uint16x4_t x, int bits) {
    return (uint32x4_t){x[0], x[1], x[2], x[3]} << (uint32_t)bits;
}

static inline uint16x4_t vshrn_n_u32(uint32x4_t x, int bits) {
    const uint32x4_t y = x >> (uint32_t)bits;
    return (uint16x4_t){(uint16_t)y[0], (uint16_t)y[1], (uint16_t)y[2], (uint16_t)y[3]};
}

static inline uint32x4_t vandq_u32(uint32x4_t x, uint32x4_t y) {
    return x & y;
}

static inline uint32x4_t vaddq_u32(uint32x4_t x, uint32x4_t y) {
    return x + y;
}

static inline uint32x4_t vbslq_u32(uint32x4_t which, uint32x4_t x, uint32x4_t y) {
    return (which & x) | (~which & y);
}

// A negative number of bits shifts right.
static inline int32x4_t vshlq_s32(int32x4_t x, int32x4_t bits) {
    int32x4_t made;
    for (int i = 0; i < 4; i++) {
        made[i] = bits[i] < 0 ? x[i] >> -bits[i] : (int32_t)((uint32_t)x[i] << bits[i]);
    }
    return made;
}

static inline int16x8_t vmovl_s8(int8x8_t x) {
    int16x8_t made;
    for (int i = 0; i < 8; i++) {
        made[i] = x[i];
    }
    return made;
}

static inline int16x8_t vsubl_s8(int8x8_t x, int8x8_t y) {
    return vmovl_s8(x) - vmovl_s8(y);
}

static inline int32x4_t vmovl_s16(int16x4_t x) {
    return (int32x4_t){x[0], x[1], x[2], x[3]};
}

static inline int16x4_t vget_high_s16(int16x8_t x) {
    return (int16x4_t){x[4], x[5], x[6], x[7]};
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

#endif // EMBER_MODELS_ARM_NEON_INTEGER_H
