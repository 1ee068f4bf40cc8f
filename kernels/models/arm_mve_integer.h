// SPDX-License-Identifier: Apache-2.0
// The model of Helium, integers. Included by arm_mve.h. In these, `lanes` has a bit for
// each byte of a vector; "bottom" is the even lanes of a vector, "top" the odd ones.
#ifndef EMBER_MODELS_ARM_MVE_INTEGER_H
#define EMBER_MODELS_ARM_MVE_INTEGER_H

typedef int8_t int8x16_t __attribute__((vector_size(16)));
typedef uint8_t uint8x16_t __attribute__((vector_size(16)));
typedef int16_t int16x8_t __attribute__((vector_size(16)));
typedef uint16_t uint16x8_t __attribute__((vector_size(16)));

static inline bool ember_mve_byte(mve_pred16_t lanes, int byte) {
    return (lanes >> byte) & 1;
}

static inline int64_t ember_mve_cut(int64_t number, int bits) {
    const int64_t most = ((int64_t)1 << (bits - 1)) - 1;
    return number > most ? most : number < -most - 1 ? -most - 1 : number;
}

// The first `count` of eight, and of sixteen lanes.
static inline mve_pred16_t vctp16q(uint32_t count) {
    return (mve_pred16_t)(count >= 8 ? 0xffff : (1u << (2 * count)) - 1);
}

static inline mve_pred16_t vctp8q(uint32_t count) {
    return (mve_pred16_t)(count >= 16 ? 0xffff : (1u << count) - 1);
}

// --- bytes in memory -----------------------------------------------------------------

static inline int8x16_t vldrbq_z_s8(const int8_t *at, mve_pred16_t lanes) {
    int8x16_t made = {0};
    for (int i = 0; i < 16; i++) {
        made[i] = ember_mve_byte(lanes, i) ? at[i] : 0;
    }
    return made;
}

static inline int8x16_t vldrbq_s8(const int8_t *at) {
    return vldrbq_z_s8(at, 0xffff);
}

static inline uint8x16_t vldrbq_u8(const uint8_t *at) {
    return (uint8x16_t)vldrbq_s8((const int8_t *)at);
}

static inline int16x8_t vldrbq_z_s16(const int8_t *at, mve_pred16_t lanes) {
    int16x8_t made = {0};
    for (int i = 0; i < 8; i++) {
        made[i] = ember_mve_byte(lanes, 2 * i) ? at[i] : 0;
    }
    return made;
}

static inline int16x8_t vldrbq_s16(const int8_t *at) {
    return vldrbq_z_s16(at, 0xffff);
}

static inline int32x4_t vldrbq_z_s32(const int8_t *at, mve_pred16_t lanes) {
    int32x4_t made = {0};
    for (int i = 0; i < 4; i++) {
        made[i] = ember_mve_on(lanes, i) ? at[i] : 0;
    }
    return made;
}

static inline int32x4_t vldrbq_s32(const int8_t *at) {
    return vldrbq_z_s32(at, 0xffff);
}

static inline int8x16_t
vldrbq_gather_offset_z_s8(const int8_t *base, uint8x16_t offsets, mve_pred16_t lanes) {
    int8x16_t made = {0};
    for (int i = 0; i < 16; i++) {
        made[i] = ember_mve_byte(lanes, i) ? base[offsets[i]] : 0;
    }
    return made;
}

static inline int8x16_t vldrbq_gather_offset_s8(const int8_t *base,
                                                uint8x16_t offsets) {
    return vldrbq_gather_offset_z_s8(base, offsets, 0xffff);
}

static inline uint16x8_t vldrbq_gather_offset_z_u16(const uint8_t *base,
                                                    uint16x8_t offsets,
                                                    mve_pred16_t lanes) {
    uint16x8_t made = {0};
    for (int i = 0; i < 8; i++) {
        made[i] = ember_mve_byte(lanes, 2 * i) ? base[offsets[i]] : 0;
    }
    return made;
}

static inline void vstrbq_p_s8(int8_t *at, int8x16_t value, mve_pred16_t lanes) {
    for (int i = 0; i < 16; i++) {
        if (ember_mve_byte(lanes, i)) {
            at[i] = value[i];
        }
    }
}

static inline void vstrbq_s8(int8_t *at, int8x16_t value) {
    vstrbq_p_s8(at, value, 0xffff);
}

static inline void vstrhq_s16(int16_t *at, int16x8_t value) {
    for (int i = 0; i < 8; i++) {
        at[i] = value[i];
    }
}

static inline void vstrbq_p_u16(uint8_t *at, uint16x8_t value, mve_pred16_t lanes) {
    for (int i = 0; i < 8; i++) {
        if (ember_mve_byte(lanes, 2 * i)) {
            at[i] = (uint8_t)value[i];
        }
    }
}

static inline void vstrbq_p_s32(int8_t *at, int32x4_t value, mve_pred16_t lanes) {
    for (int i = 0; i < 4; i++) {
        if (ember_mve_on(lanes, i)) {
            at[i] = (int8_t)value[i];
        }
    }
}

static inline void vstrbq_s32(int8_t *at, int32x4_t value) {
    vstrbq_p_s32(at, value, 0xffff);
}

static inline void vstrbq_scatter_offset_s8(int8_t *base, uint8x16_t offsets,
                                            int8x16_t value) {
    for (int i = 0; i < 16; i++) {
        base[offsets[i]] = value[i];
    }
}

// --- words in memory -----------------------------------------------------------------

static inline int32x4_t vldrwq_z_s32(const int32_t *at, mve_pred16_t lanes) {
    int32x4_t made = {0};
    for (int i = 0; i < 4; i++) {
        made[i] = ember_mve_on(lanes, i) ? at[i] : 0;
    }
    return made;
}

static inline int32x4_t vldrwq_s32(const int32_t *at) {
    return vldrwq_z_s32(at, 0xffff);
}

static inline uint32x4_t vldrwq_u32(const uint32_t *at) {
    return (uint32x4_t)vldrwq_s32((const int32_t *)at);
}

static inline int32x4_t vldrwq_gather_shifted_offset_s32(const int32_t *base,
                                                         uint32x4_t offsets) {
    int32x4_t made = {0};
    for (int i = 0; i < 4; i++) {
        made[i] = base[(int32_t)offsets[i]];
    }
    return made;
}

static inline void vstrwq_p_s32(int32_t *at, int32x4_t value, mve_pred16_t lanes) {
    for (int i = 0; i < 4; i++) {
        if (ember_mve_on(lanes, i)) {
            at[i] = value[i];
        }
    }
}

static inline void vstrwq_s32(int32_t *at, int32x4_t value) {
    vstrwq_p_s32(at, value, 0xffff);
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

static inline int16x8_t vreinterpretq_s16_s32(int32x4_t a) {
    return (int16x8_t)a;
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

static inline uint16x8_t vmulq_n_u16(uint16x8_t a, uint16_t b) {
    return a * b;
}

static inline int16x8_t vsubq_n_s16(int16x8_t a, int16_t b) {
    return (int16x8_t)((uint16x8_t)a - (uint16_t)b);
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

static inline int32x4_t vandq_s32(int32x4_t a, int32x4_t b) {
    return a & b;
}

// --- larger and smaller --------------------------------------------------------------

static inline int8x16_t vmaxq_s8(int8x16_t a, int8x16_t b) {
    for (int i = 0; i < 16; i++) {
        a[i] = a[i] > b[i] ? a[i] : b[i];
    }
    return a;
}

static inline int8x16_t vminq_s8(int8x16_t a, int8x16_t b) {
    for (int i = 0; i < 16; i++) {
        a[i] = a[i] < b[i] ? a[i] : b[i];
    }
    return a;
}

static inline int8_t vminvq_s8(int8_t least, int8x16_t a) {
    for (int i = 0; i < 16; i++) {
        least = a[i] < least ? a[i] : least;
    }
    return least;
}

static inline int32x4_t vmaxq_s32(int32x4_t a, int32x4_t b) {
    for (int i = 0; i < 4; i++) {
        a[i] = a[i] > b[i] ? a[i] : b[i];
    }
    return a;
}

static inline int32x4_t vminq_s32(int32x4_t a, int32x4_t b) {
    for (int i = 0; i < 4; i++) {
        a[i] = a[i] < b[i] ? a[i] : b[i];
    }
    return a;
}

static inline uint32x4_t vminq_u32(uint32x4_t a, uint32x4_t b) {
    for (int i = 0; i < 4; i++) {
        a[i] = a[i] < b[i] ? a[i] : b[i];
    }
    return a;
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

// The doubled product's upper half, rounded.
static inline int32x4_t vqrdmulhq_s32(int32x4_t a, int32x4_t b) {
    for (int i = 0; i < 4; i++) {
        const int64_t product = (int64_t)a[i] * b[i];
        a[i] = (int32_t)ember_mve_cut((product + ((int64_t)1 << 30)) >> 31, 32);
    }
    return a;
}

static inline int32x4_t vqrdmulhq_n_s32(int32x4_t a, int32_t b) {
    return vqrdmulhq_s32(a, vdupq_n_s32(b));
}

// --- shifts --------------------------------------------------------------------------

static inline int32x4_t vshrq_n_s32(int32x4_t a, int right) {
    return a >> right;
}

static inline int16x8_t vshlq_n_s16(int16x8_t a, int left) {
    return (int16x8_t)((uint16x8_t)a << left);
}

static inline int32x4_t vshlq_n_s32(int32x4_t a, int left) {
    return (int32x4_t)((uint32x4_t)a << left);
}

static inline uint32x4_t vshlq_n_u32(uint32x4_t a, int left) {
    return a << left;
}

// To the left, to the right by negative counts.
static inline int32x4_t vshlq_r_s32(int32x4_t a, int32_t left) {
    if (left < 0) {
        return a >> (left < -31 ? 31 : -left);
    }
    return left > 31 ? (int32x4_t){0} : vshlq_n_s32(a, left);
}

// The same, rounded: halves up.
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
    return vmovlbq_s16(a) * vmovlbq_s16(b);
}

static inline int32x4_t vmulltq_int_s16(int16x8_t a, int16x8_t b) {
    return vmovltq_s16(a) * vmovltq_s16(b);
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
    for (int i = 0; i < 16; i++) {
        sum += ember_mve_byte(lanes, i) ? a[i] * b[i] : 0;
    }
    return sum;
}

static inline int32_t vmladavaq_s8(int32_t sum, int8x16_t a, int8x16_t b) {
    return vmladavaq_p_s8(sum, a, b, 0xffff);
}

static inline int32_t vaddvaq_p_s8(int32_t sum, int8x16_t a, mve_pred16_t lanes) {
    return vmladavaq_p_s8(sum, a, vdupq_n_s8(1), lanes);
}

// --- to and from float32 -------------------------------------------------------------

// Rounded, halves to even; cut to the range; NaN becomes 0.
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

static inline float32x4_t vcvtq_f32_s32(int32x4_t a) {
    return (float32x4_t){(float)a[0], (float)a[1], (float)a[2], (float)a[3]};
}

typedef struct float32x4x4 {
    float32x4_t val[4];
} float32x4x4_t;

// Each fourth number, from the first, the second, the third, the fourth on.
static inline float32x4x4_t vld4q_f32(const float *at) {
    float32x4x4_t made;
    for (int i = 0; i < 4; i++) {
        made.val[i] = (float32x4_t){at[i], at[4 + i], at[8 + i], at[12 + i]};
    }
    return made;
}

#endif // EMBER_MODELS_ARM_MVE_INTEGER_H
