// SPDX-License-Identifier: Apache-2.0
// The model of Helium: arithmetic of integers. Included by arm_mve.h.
#ifndef EMBER_MODELS_ARM_MVE_INTEGER_H
#define EMBER_MODELS_ARM_MVE_INTEGER_H

static inline int64_t ember_mve_cut(int64_t number, int bits) {
    const int64_t most = ((int64_t)1 << (bits - 1)) - 1;
    return number > most ? most : number < -most - 1 ? -most - 1 : number;
}

// --- making vectors ------------------------------------------------------------------

static inline int8x16_t vdupq_n_s8(int8_t x) {
    return (int8x16_t){0} + x;
}

static inline uint8x16_t vdupq_n_u8(uint8_t x) {
    return (uint8x16_t){0} + x;
}

static inline int16x8_t vdupq_n_s16(int16_t x) {
    return (int16x8_t){0} + x;
}

static inline int32x4_t vdupq_n_s32(int32_t x) {
    return (int32x4_t){x, x, x, x};
}

static inline uint8x16_t vidupq_n_u8(uint32_t from, int step) {
    uint8x16_t made;
    for (int i = 0; i < 16; i++) {
        made[i] = (uint8_t)(from + (uint32_t)(i * step));
    }
    return made;
}

static inline uint16x8_t vidupq_n_u16(uint32_t from, int step) {
    uint16x8_t made = {0};
    for (int i = 0; i < 8; i++) {
        made[i] = (uint16_t)(from + (uint32_t)(i * step));
    }
    return made;
}

static inline uint8x16_t vreinterpretq_u8_s8(int8x16_t a) {
    return (uint8x16_t)a;
}

static inline int8x16_t vreinterpretq_s8_s16(int16x8_t a) {
    return (int8x16_t)a;
}

static inline int32x4_t vreinterpretq_s32_s8(int8x16_t a) {
    return (int32x4_t)a;
}

static inline int16x8_t vreinterpretq_s16_s8(int8x16_t a) {
    return (int16x8_t)a;
}

static inline int16x8_t vreinterpretq_s16_s32(int32x4_t a) {
    return (int16x8_t)a;
}

static inline int32x4_t vreinterpretq_s32_s16(int16x8_t a) {
    return (int32x4_t)a;
}

static inline int32x4_t vreinterpretq_s32_f32(float32x4_t a) {
    return (int32x4_t)a;
}

static inline float32x4_t vreinterpretq_f32_s32(int32x4_t a) {
    return (float32x4_t)a;
}

static inline uint32x4_t vreinterpretq_u32_s32(int32x4_t a) {
    return (uint32x4_t)a;
}

// --- arithmetic that wraps -----------------------------------------------------------

static inline uint8x16_t vaddq_n_u8(uint8x16_t a, uint8_t b) {
    return a + b;
}

static inline int16x8_t vaddq_s16(int16x8_t a, int16x8_t b) {
    return (int16x8_t)((uint16x8_t)a + (uint16x8_t)b);
}

static inline int16x8_t vsubq_s16(int16x8_t a, int16x8_t b) {
    return (int16x8_t)((uint16x8_t)a - (uint16x8_t)b);
}

static inline uint8x16_t vmulq_n_u8(uint8x16_t a, uint8_t b) {
    return a * b;
}

static inline uint16x8_t vmulq_n_u16(uint16x8_t a, uint16_t b) {
    return a * b;
}

static inline int32x4_t vaddq_s32(int32x4_t a, int32x4_t b) {
    return (int32x4_t)((uint32x4_t)a + (uint32x4_t)b);
}

static inline int32x4_t vaddq_n_s32(int32x4_t a, int32_t b) {
    return vaddq_s32(a, vdupq_n_s32(b));
}

static inline int32x4_t vsubq_n_s32(int32x4_t a, int32_t b) {
    return (int32x4_t)((uint32x4_t)a - (uint32_t)b);
}

static inline int32x4_t vmulq_s32(int32x4_t a, int32x4_t b) {
    return (int32x4_t)((uint32x4_t)a * (uint32x4_t)b);
}

static inline int32x4_t vmulq_n_s32(int32x4_t a, int32_t b) {
    return (int32x4_t)((uint32x4_t)a * (uint32_t)b);
}

// sum + a * b
static inline int32x4_t vmlaq_n_s32(int32x4_t sum, int32x4_t a, int32_t b) {
    return vaddq_s32(sum, vmulq_n_s32(a, b));
}

// a * b + c
static inline int32x4_t vmlasq_n_s32(int32x4_t a, int32x4_t b, int32_t c) {
    return vaddq_n_s32(vmulq_s32(a, b), c);
}

// It wraps.
static inline int8x16_t vshlq_n_s8(int8x16_t a, int left) {
    return (int8x16_t)((uint8x16_t)a << left);
}

static inline int32x4_t vandq_s32(int32x4_t a, int32x4_t b) {
    return a & b;
}

// --- halves, rounded down ------------------------------------------------------------

static inline int16x8_t vhaddq_s16(int16x8_t a, int16x8_t b) {
    for (int i = 0; i < 8; i++) {
        a[i] = (int16_t)((a[i] + b[i]) >> 1);
    }
    return a;
}

static inline int16x8_t vhsubq_s16(int16x8_t a, int16x8_t b) {
    for (int i = 0; i < 8; i++) {
        a[i] = (int16_t)((a[i] - b[i]) >> 1);
    }
    return a;
}

// --- pairs of lanes as complex numbers -----------------------------------------------

// a + sign * i b, shifted to the right.
static inline int16x8_t ember_mve_turned(int16x8_t a, int16x8_t b, int sign,
                                         int right) {
    for (int i = 0; i < 8; i += 2) {
        const int re = a[i] - sign * b[i + 1];
        const int im = a[i + 1] + sign * b[i];
        a[i] = (int16_t)(re >> right);
        a[i + 1] = (int16_t)(im >> right);
    }
    return a;
}

static inline int16x8_t vcaddq_rot90_s16(int16x8_t a, int16x8_t b) {
    return ember_mve_turned(a, b, 1, 0);
}

static inline int16x8_t vcaddq_rot270_s16(int16x8_t a, int16x8_t b) {
    return ember_mve_turned(a, b, -1, 0);
}

static inline int16x8_t vhcaddq_rot90_s16(int16x8_t a, int16x8_t b) {
    return ember_mve_turned(a, b, 1, 1);
}

static inline int16x8_t vhcaddq_rot270_s16(int16x8_t a, int16x8_t b) {
    return ember_mve_turned(a, b, -1, 1);
}

// The upper half of twice a sum of two products, rounded.
static inline int16_t ember_mve_upper(int64_t sum) {
    return (int16_t)ember_mve_cut((2 * sum + (1 << 15)) >> 16, 16);
}

// The real parts of products, in even lanes of `odd`.
static inline int16x8_t vqrdmlsdhq_s16(int16x8_t odd, int16x8_t a, int16x8_t b) {
    for (int i = 0; i < 8; i += 2) {
        odd[i] = ember_mve_upper((int64_t)a[i] * b[i] - (int64_t)a[i + 1] * b[i + 1]);
    }
    return odd;
}

// The imaginary parts of products, in odd lanes of `even`.
static inline int16x8_t vqrdmladhxq_s16(int16x8_t even, int16x8_t a, int16x8_t b) {
    for (int i = 0; i < 8; i += 2) {
        even[i + 1] =
            ember_mve_upper((int64_t)a[i + 1] * b[i] + (int64_t)a[i] * b[i + 1]);
    }
    return even;
}

// --- larger and smaller --------------------------------------------------------------

static inline int8x16_t vmaxq_s8(int8x16_t a, int8x16_t b) {
    const int8x16_t which = a > b;
    return (a & which) | (b & ~which);
}

static inline int8x16_t vminq_s8(int8x16_t a, int8x16_t b) {
    const int8x16_t which = a < b;
    return (a & which) | (b & ~which);
}

static inline int16x8_t vmaxq_s16(int16x8_t a, int16x8_t b) {
    const int16x8_t which = a > b;
    return (a & which) | (b & ~which);
}

static inline int16x8_t vminq_s16(int16x8_t a, int16x8_t b) {
    const int16x8_t which = a < b;
    return (a & which) | (b & ~which);
}

static inline int32x4_t vmaxq_s32(int32x4_t a, int32x4_t b) {
    const int32x4_t which = a > b;
    return (a & which) | (b & ~which);
}

static inline int32x4_t vminq_s32(int32x4_t a, int32x4_t b) {
    const int32x4_t which = a < b;
    return (a & which) | (b & ~which);
}

static inline uint32x4_t vminq_u32(uint32x4_t a, uint32x4_t b) {
    const int32x4_t which = a < b;
    return (uint32x4_t)(((int32x4_t)a & which) | ((int32x4_t)b & ~which));
}

static inline int8_t vminvq_s8(int8_t least, int8x16_t a) {
    for (int i = 0; i < 16; i++) {
        least = a[i] < least ? a[i] : least;
    }
    return least;
}

static inline int16_t vmaxvq_s16(int16_t most, int16x8_t a) {
    for (int i = 0; i < 8; i++) {
        most = a[i] > most ? a[i] : most;
    }
    return most;
}

static inline int16_t vminvq_s16(int16_t least, int16x8_t a) {
    for (int i = 0; i < 8; i++) {
        least = a[i] < least ? a[i] : least;
    }
    return least;
}

static inline int32_t vminvq_s32(int32_t least, int32x4_t a) {
    for (int i = 0; i < 4; i++) {
        least = a[i] < least ? a[i] : least;
    }
    return least;
}

static inline int32_t vmaxvq_s32(int32_t most, int32x4_t a) {
    for (int i = 0; i < 4; i++) {
        most = a[i] > most ? a[i] : most;
    }
    return most;
}

static inline int8_t vmaxvq_p_s8(int8_t most, int8x16_t a, mve_pred16_t lanes) {
    for (int i = 0; i < 16; i++) {
        most = ember_mve_byte(lanes, i) && a[i] > most ? a[i] : most;
    }
    return most;
}

static inline uint32_t vminvq_u32(uint32_t a, uint32x4_t b) {
    for (int i = 0; i < 4; i++) {
        a = a < b[i] ? a : b[i];
    }
    return a;
}

// --- saturation ----------------------------------------------------------------------

static inline int32x4_t vqaddq_s32(int32x4_t a, int32x4_t b) {
    for (int i = 0; i < 4; i++) {
        a[i] = (int32_t)ember_mve_cut((int64_t)a[i] + b[i], 32);
    }
    return a;
}

static inline int16x8_t vqaddq_n_s16(int16x8_t a, int16_t b) {
    for (int i = 0; i < 8; i++) {
        a[i] = (int16_t)ember_mve_cut(a[i] + b, 16);
    }
    return a;
}

static inline int32x4_t vsubq_s32(int32x4_t a, int32x4_t b) {
    return (int32x4_t)((uint32x4_t)a - (uint32x4_t)b);
}

static inline int32x4_t vqaddq_n_s32(int32x4_t a, int32_t b) {
    for (int i = 0; i < 4; i++) {
        a[i] = (int32_t)ember_mve_cut((int64_t)a[i] + b, 32);
    }
    return a;
}

static inline mve_pred16_t vcmpeqq_n_s32(int32x4_t a, int32_t b) {
    unsigned lanes = 0;
    for (int i = 0; i < 4; i++) {
        lanes |= (a[i] == b ? 0xfu : 0) << (4 * i);
    }
    return (mve_pred16_t)lanes;
}

// The doubled product's upper half, rounded.
static inline int32x4_t vqrdmulhq_s32(int32x4_t a, int32x4_t b) {
    for (int i = 0; i < 4; i++) {
        const int64_t product = (int64_t)a[i] * b[i];
        a[i] = (int32_t)ember_mve_cut((product + ((int64_t)1 << 30)) >> 31, 32);
    }
    return a;
}

// The upper half of 2 a b, added to `sum`.
static inline int32x4_t vqdmlahq_n_s32(int32x4_t sum, int32x4_t a, int32_t b) {
    for (int i = 0; i < 4; i++) {
        const int64_t product = (int64_t)a[i] * b;
        sum[i] = (int32_t)ember_mve_cut(sum[i] + (product >> 31), 32);
    }
    return sum;
}

static inline int32x4_t vqrdmulhq_n_s32(int32x4_t a, int32_t b) {
    return vqrdmulhq_s32(a, vdupq_n_s32(b));
}

// --- shifts --------------------------------------------------------------------------

static inline int32x4_t vshrq_n_s32(int32x4_t a, int right) {
    return a >> right;
}

static inline int32x4_t vshlq_n_s32(int32x4_t a, int left) {
    return (int32x4_t)((uint32x4_t)a << left);
}

static inline uint32x4_t vshlq_n_u32(uint32x4_t a, int left) {
    return a << left;
}

// To the left; negative counts shift to the right.
static inline int32x4_t vshlq_r_s32(int32x4_t a, int32_t left) {
    if (left < 0) {
        return a >> (left < -31 ? 31 : -left);
    }
    return left > 31 ? (int32x4_t){0} : vshlq_n_s32(a, left);
}

// The same, rounded to nearest, ties up.
static inline int32x4_t vrshlq_s32(int32x4_t a, int32x4_t left) {
    for (int i = 0; i < 4; i++) {
        if (left[i] >= 0) {
            a[i] = left[i] > 31 ? 0 : (int32_t)((uint32_t)a[i] << left[i]);
        } else if (left[i] < -32) {
            a[i] = 0;
        } else {
            const int64_t half = (int64_t)1 << (-left[i] - 1);
            a[i] = (int32_t)((a[i] + half) >> -left[i]);
        }
    }
    return a;
}

static inline int32x4_t vrshlq_n_s32(int32x4_t a, int32_t left) {
    return vrshlq_s32(a, vdupq_n_s32(left));
}

#endif // EMBER_MODELS_ARM_MVE_INTEGER_H
