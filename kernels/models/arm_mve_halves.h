// SPDX-License-Identifier: Apache-2.0
// The model of Helium: arithmetic of int16, and gathers and stores of these. Included
// by arm_mve.h.
#ifndef EMBER_MODELS_ARM_MVE_HALVES_H
#define EMBER_MODELS_ARM_MVE_HALVES_H

static inline uint16x8_t vreinterpretq_u16_s16(int16x8_t a) {
    return (uint16x8_t)a;
}

static inline int16x8_t vaddq_n_s16(int16x8_t a, int16_t b) {
    return vaddq_s16(a, vdupq_n_s16(b));
}

static inline int16x8_t vsubq_s16(int16x8_t a, int16x8_t b) {
    return (int16x8_t)((uint16x8_t)a - (uint16x8_t)b);
}

static inline int16x8_t vandq_s16(int16x8_t a, int16x8_t b) {
    return a & b;
}

static inline int16x8_t veorq_s16(int16x8_t a, int16x8_t b) {
    return a ^ b;
}

static inline int16x8_t vqaddq_s16(int16x8_t a, int16x8_t b) {
    for (int i = 0; i < 8; i++) {
        a[i] = (int16_t)ember_mve_cut(a[i] + b[i], 16);
    }
    return a;
}

// The doubled product's upper half, rounded.
static inline int16x8_t vqrdmulhq_s16(int16x8_t a, int16x8_t b) {
    for (int i = 0; i < 8; i++) {
        a[i] = (int16_t)ember_mve_cut((a[i] * b[i] + (1 << 14)) >> 15, 16);
    }
    return a;
}

static inline int16x8_t vqrdmulhq_n_s16(int16x8_t a, int16_t b) {
    return vqrdmulhq_s16(a, vdupq_n_s16(b));
}

// The product's upper half, rounded.
static inline int32x4_t vrmulhq_s32(int32x4_t a, int32x4_t b) {
    for (int i = 0; i < 4; i++) {
        const int64_t product = (int64_t)a[i] * b[i];
        a[i] = (int32_t)((product + ((int64_t)1 << 31)) >> 32);
    }
    return a;
}

// --- shifts --------------------------------------------------------------------------

static inline int16x8_t vshrq_n_s16(int16x8_t a, int right) {
    return a >> right;
}

static inline int16x8_t vshlq_n_s16(int16x8_t a, int left) {
    return (int16x8_t)((uint16x8_t)a << left);
}

// By -15 to 15, to the right rounded.
static inline int32_t ember_mve_moved(int32_t x, int left) {
    return left >= 0 ? x * (1 << left) : (x + (1 << (-left - 1))) >> -left;
}

static inline int16x8_t vrshlq_s16(int16x8_t a, int16x8_t left) {
    for (int i = 0; i < 8; i++) {
        a[i] = (int16_t)ember_mve_moved(a[i], left[i]);
    }
    return a;
}

static inline int16x8_t vqrshlq_s16(int16x8_t a, int16x8_t left) {
    for (int i = 0; i < 8; i++) {
        a[i] = (int16_t)ember_mve_cut(ember_mve_moved(a[i], left[i]), 16);
    }
    return a;
}

static inline int16x8_t vqshrnbq_n_s32(int16x8_t a, int32x4_t b, int right) {
    return ember_mve_narrow_16(a, b, right, 0, true);
}

// --- memory --------------------------------------------------------------------------

static inline int16x8_t vldrhq_gather_shifted_offset_s16(const int16_t *base,
                                                         uint16x8_t offsets) {
    int16x8_t made = {0};
    for (int i = 0; i < 8; i++) {
        made[i] = base[offsets[i]];
    }
    return made;
}

static inline void vstrhq_p_s16(int16_t *at, int16x8_t value, mve_pred16_t lanes) {
    for (int i = 0; i < 8; i++) {
        if (ember_mve_byte(lanes, 2 * i)) {
            at[i] = value[i];
        }
    }
}

static inline void vstrbq_p_s16(int8_t *at, int16x8_t value, mve_pred16_t lanes) {
    for (int i = 0; i < 8; i++) {
        if (ember_mve_byte(lanes, 2 * i)) {
            at[i] = (int8_t)value[i];
        }
    }
}

static inline void vstrhq_p_s32(int16_t *at, int32x4_t value, mve_pred16_t lanes) {
    for (int i = 0; i < 4; i++) {
        if (ember_mve_on(lanes, i)) {
            at[i] = (int16_t)value[i];
        }
    }
}

#endif // EMBER_MODELS_ARM_MVE_HALVES_H
