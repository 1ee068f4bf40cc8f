// SPDX-License-Identifier: Apache-2.0
// The model of Helium: lanes of other widths, across lanes, to and from float32.
// Included by arm_mve.h. "bottom" is the even lanes of a vector, "top" the odd ones.
#ifndef EMBER_MODELS_ARM_MVE_LANES_H
#define EMBER_MODELS_ARM_MVE_LANES_H

// --- from lanes to wider ones, and back ----------------------------------------------

static inline int16x8_t vmovlbq_s8(int8x16_t a) {
    int16x8_t made = {0};
    for (int i = 0; i < 8; i++) {
        made[i] = a[2 * i];
    }
    return made;
}

static inline int16x8_t vmovltq_s8(int8x16_t a) {
    int16x8_t made = {0};
    for (int i = 0; i < 8; i++) {
        made[i] = a[2 * i + 1];
    }
    return made;
}

static inline int32x4_t vmovlbq_s16(int16x8_t a) {
    return (int32x4_t){a[0], a[2], a[4], a[6]};
}

static inline int32x4_t vmovltq_s16(int16x8_t a) {
    return (int32x4_t){a[1], a[3], a[5], a[7]};
}

static inline int16x8_t vmullbq_int_s8(int8x16_t a, int8x16_t b) {
    int16x8_t made = {0};
    for (int i = 0; i < 8; i++) {
        made[i] = (int16_t)(a[2 * i] * b[2 * i]);
    }
    return made;
}

static inline int16x8_t vmulltq_int_s8(int8x16_t a, int8x16_t b) {
    int16x8_t made = {0};
    for (int i = 0; i < 8; i++) {
        made[i] = (int16_t)(a[2 * i + 1] * b[2 * i + 1]);
    }
    return made;
}

static inline int32x4_t vmullbq_int_s16(int16x8_t a, int16x8_t b) {
    return (int32x4_t){a[0] * b[0], a[2] * b[2], a[4] * b[4], a[6] * b[6]};
}

static inline int32x4_t vmulltq_int_s16(int16x8_t a, int16x8_t b) {
    return (int32x4_t){a[1] * b[1], a[3] * b[3], a[5] * b[5], a[7] * b[7]};
}

// b, shifted and narrowed, to the bottom (0) or the top (1) lanes of a.
static inline int16x8_t ember_mve_narrow_16(int16x8_t a, int32x4_t b, int right,
                                            int top, bool cut) {
    for (int i = 0; i < 4; i++) {
        const int32_t number = b[i] >> right;
        a[2 * i + top] = (int16_t)(cut ? ember_mve_cut(number, 16) : number);
    }
    return a;
}

static inline int8x16_t ember_mve_narrow_8(int8x16_t a, int16x8_t b, int right,
                                           int top) {
    for (int i = 0; i < 8; i++) {
        a[2 * i + top] = (int8_t)ember_mve_cut(b[i] >> right, 8);
    }
    return a;
}

static inline int16x8_t vqmovnbq_s32(int16x8_t a, int32x4_t b) {
    return ember_mve_narrow_16(a, b, 0, 0, true);
}

static inline int16x8_t vqmovntq_s32(int16x8_t a, int32x4_t b) {
    return ember_mve_narrow_16(a, b, 0, 1, true);
}

static inline int16x8_t vshrnbq_n_s32(int16x8_t a, int32x4_t b, int right) {
    return ember_mve_narrow_16(a, b, right, 0, false);
}

static inline int16x8_t vshrntq_n_s32(int16x8_t a, int32x4_t b, int right) {
    return ember_mve_narrow_16(a, b, right, 1, false);
}

static inline int8x16_t vqmovnbq_s16(int8x16_t a, int16x8_t b) {
    return ember_mve_narrow_8(a, b, 0, 0);
}

static inline int8x16_t vqmovntq_s16(int8x16_t a, int16x8_t b) {
    return ember_mve_narrow_8(a, b, 0, 1);
}

static inline int8x16_t vqshrnbq_n_s16(int8x16_t a, int16x8_t b, int right) {
    return ember_mve_narrow_8(a, b, right, 0);
}

static inline int8x16_t vqshrntq_n_s16(int8x16_t a, int16x8_t b, int right) {
    return ember_mve_narrow_8(a, b, right, 1);
}

// --- sums across lanes ---------------------------------------------------------------

static inline int32_t vmladavaq_p_s8(int32_t sum, int8x16_t a, int8x16_t b,
                                     mve_pred16_t lanes) {
    int32_t products = 0;
    for (int i = 0; i < 16; i++) {
        products += ember_mve_byte(lanes, i) ? a[i] * b[i] : 0;
    }
    return (int32_t)((uint32_t)sum + (uint32_t)products); // it wraps
}

static inline int32_t vmladavaq_s8(int32_t sum, int8x16_t a, int8x16_t b) {
    return vmladavaq_p_s8(sum, a, b, 0xffff);
}

static inline int32_t vmladavaq_p_s16(int32_t sum, int16x8_t a, int16x8_t b,
                                      mve_pred16_t lanes) {
    for (int i = 0; i < 8; i++) {
        const int32_t product = ember_mve_byte(lanes, 2 * i) ? a[i] * b[i] : 0;
        sum = (int32_t)((uint32_t)sum + (uint32_t)product); // it wraps
    }
    return sum;
}

static inline int32_t vmladavaq_s16(int32_t sum, int16x8_t a, int16x8_t b) {
    return vmladavaq_p_s16(sum, a, b, 0xffff);
}

static inline int64_t vmlaldavaq_s16(int64_t sum, int16x8_t a, int16x8_t b) {
    for (int i = 0; i < 8; i++) {
        sum = (int64_t)((uint64_t)sum + (uint64_t)((int64_t)a[i] * b[i])); // it wraps
    }
    return sum;
}

static inline uint64_t vmlaldavaq_u32(uint64_t sum, uint32x4_t a, uint32x4_t b) {
    for (int i = 0; i < 4; i++) {
        sum += (uint64_t)a[i] * b[i]; // it wraps
    }
    return sum;
}

static inline int32_t vaddvaq_p_s8(int32_t sum, int8x16_t a, mve_pred16_t lanes) {
    return vmladavaq_p_s8(sum, a, vdupq_n_s8(1), lanes);
}

// --- to and from float32 -------------------------------------------------------------

// Rounded to nearest even; clamped to the range; NaN becomes 0.
static inline int32x4_t vcvtnq_s32_f32(float32x4_t a) {
    int32x4_t made = {0};
    for (int i = 0; i < 4; i++) {
        const float rounded = rintf(a[i]);
        made[i] = rounded >= 0x1p31f   ? INT32_MAX
                  : rounded < -0x1p31f ? INT32_MIN
                  : rounded != rounded ? 0
                                       : (int32_t)rounded;
    }
    return made;
}

// Rounded to zero, otherwise the same.
static inline int32x4_t vcvtq_s32_f32(float32x4_t a) {
    for (int i = 0; i < 4; i++) {
        a[i] = truncf(a[i]);
    }
    return vcvtnq_s32_f32(a);
}

static inline float32x4_t vcvtq_f32_s32(int32x4_t a) {
    return (float32x4_t){(float)a[0], (float)a[1], (float)a[2], (float)a[3]};
}

typedef struct float32x4x2 {
    float32x4_t val[2];
} float32x4x2_t;

typedef struct float32x4x4 {
    float32x4_t val[4];
} float32x4x4_t;

// Every fourth number, starting with the first, second, third or fourth.
static inline float32x4x2_t vld2q_f32(const float *at) {
    float32x4x2_t made;
    for (int i = 0; i < 2; i++) {
        made.val[i] = (float32x4_t){at[i], at[2 + i], at[4 + i], at[6 + i]};
    }
    return made;
}

static inline float32x4x4_t vld4q_f32(const float *at) {
    float32x4x4_t made;
    for (int i = 0; i < 4; i++) {
        made.val[i] = (float32x4_t){at[i], at[4 + i], at[8 + i], at[12 + i]};
    }
    return made;
}

#endif // EMBER_MODELS_ARM_MVE_LANES_H
