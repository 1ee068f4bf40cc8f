// SPDX-License-Identifier: Apache-2.0
// The model of Helium: vectors of integers, and their memory. Included by arm_mve.h.
// `lanes` has a bit for each byte of a vector.
#ifndef EMBER_MODELS_ARM_MVE_MEMORY_H
#define EMBER_MODELS_ARM_MVE_MEMORY_H

typedef int8_t int8x16_t __attribute__((vector_size(16)));
typedef uint8_t uint8x16_t __attribute__((vector_size(16)));
typedef int16_t int16x8_t __attribute__((vector_size(16)));
typedef uint16_t uint16x8_t __attribute__((vector_size(16)));

static inline bool ember_mve_byte(mve_pred16_t lanes, int byte) {
    return (lanes >> byte) & 1;
}

// The first `count` of eight, and of sixteen lanes.
static inline mve_pred16_t vctp16q(uint32_t count) {
    return (mve_pred16_t)(count >= 8 ? 0xffff : (1u << (2 * count)) - 1);
}

static inline mve_pred16_t vctp8q(uint32_t count) {
    return (mve_pred16_t)(count >= 16 ? 0xffff : (1u << count) - 1);
}

static inline int16x8_t vpselq_s16(int16x8_t a, int16x8_t b, mve_pred16_t lanes) {
    for (int i = 0; i < 8; i++) {
        a[i] = ember_mve_byte(lanes, 2 * i) ? a[i] : b[i];
    }
    return a;
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

static inline int16x8_t vldrhq_z_s16(const int16_t *at, mve_pred16_t lanes) {
    int16x8_t made = {0};
    for (int i = 0; i < 8; i++) {
        made[i] = (int16_t)(ember_mve_byte(lanes, 2 * i) ? at[i] : 0);
    }
    return made;
}

static inline int16x8_t vldrhq_s16(const int16_t *at) {
    return vldrhq_z_s16(at, 0xffff);
}

static inline uint32x4_t vldrhq_z_u32(const uint16_t *at, mve_pred16_t lanes) {
    uint32x4_t made = {0};
    for (int i = 0; i < 4; i++) {
        made[i] = ember_mve_on(lanes, i) ? at[i] : 0;
    }
    return made;
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

static inline void vstrbq_s16(int8_t *at, int16x8_t value) {
    for (int i = 0; i < 8; i++) {
        at[i] = (int8_t)value[i];
    }
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

static inline void vstrbq_scatter_offset_s8(int8_t *base, uint8x16_t offsets,
                                            int8x16_t value) {
    for (int i = 0; i < 16; i++) {
        base[offsets[i]] = value[i];
    }
}

typedef struct {
    int8x16_t val[4];
} int8x16x4_t;

// Elements of four vectors alternate.
static inline void vst4q_s8(int8_t *at, int8x16x4_t value) {
    for (int i = 0; i < 64; i++) {
        at[i] = value.val[i % 4][i / 4];
    }
}

static inline int8x16x4_t vld4q_s8(const int8_t *at) {
    int8x16x4_t made;
    for (int i = 0; i < 64; i++) {
        made.val[i % 4][i / 4] = at[i];
    }
    return made;
}

// --- words in memory -----------------------------------------------------------------

static inline int32x4_t vldrwq_z_s32(const int32_t *at, mve_pred16_t lanes) {
    int32x4_t made = {0};
    ember_mve_words(&made, at, lanes);
    return made;
}

static inline int32x4_t vldrwq_s32(const int32_t *at) {
    return vldrwq_z_s32(at, 0xffff);
}

typedef struct {
    int32x4_t val[2];
} int32x4x2_t;

// Eight words; those at even positions separated from those at odd ones.
static inline int32x4x2_t vld2q_s32(const int32_t *at) {
    int32x4x2_t made;
    for (int i = 0; i < 4; i++) {
        made.val[0][i] = at[2 * i];
        made.val[1][i] = at[2 * i + 1];
    }
    return made;
}

typedef struct {
    int32x4_t val[4];
} int32x4x4_t;

// Words of four vectors alternate.
static inline void vst4q_s32(int32_t *at, int32x4x4_t value) {
    for (int i = 0; i < 16; i++) {
        at[i] = value.val[i % 4][i / 4];
    }
}

static inline uint32x4_t vldrwq_z_u32(const uint32_t *at, mve_pred16_t lanes) {
    return (uint32x4_t)vldrwq_z_s32((const int32_t *)at, lanes);
}

static inline uint32x4_t vldrwq_u32(const uint32_t *at) {
    return (uint32x4_t)vldrwq_s32((const int32_t *)at);
}

// Offsets in bytes.
static inline int32x4_t vldrwq_gather_offset_s32(const int32_t *base,
                                                 uint32x4_t offsets) {
    int32x4_t made = {0};
    for (int i = 0; i < 4; i++) {
        const char *at = (const char *)base + offsets[i];
        made[i] = *(const int32_t *)(const void *)at;
    }
    return made;
}

static inline void vstrwq_scatter_offset_s32(int32_t *base, uint32x4_t offsets,
                                             int32x4_t value) {
    for (int i = 0; i < 4; i++) {
        char *at = (char *)base + offsets[i];
        *(int32_t *)(void *)at = value[i];
    }
}

static inline int32x4_t vldrwq_gather_shifted_offset_s32(const int32_t *base,
                                                         uint32x4_t offsets) {
    int32x4_t made = {0};
    for (int i = 0; i < 4; i++) {
        made[i] = base[(int32_t)offsets[i]];
    }
    return made;
}

static inline void vstrwq_scatter_shifted_offset_s32(int32_t *base, uint32x4_t offsets,
                                                     int32x4_t value) {
    for (int i = 0; i < 4; i++) {
        base[(int32_t)offsets[i]] = value[i];
    }
}

static inline void vstrwq_p_s32(int32_t *at, int32x4_t value, mve_pred16_t lanes) {
    ember_mve_words(at, &value, lanes);
}

static inline void vstrwq_s32(int32_t *at, int32x4_t value) {
    vstrwq_p_s32(at, value, 0xffff);
}

#endif // EMBER_MODELS_ARM_MVE_MEMORY_H
