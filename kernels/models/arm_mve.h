// SPDX-License-Identifier: Apache-2.0
// A model of Helium in C, for hosts without it: the SDK prepares Helium variants on the
// host, and tests run them there under sanitizers.
//
// Names and meanings are ACLE's; lanes and predicates are as on the core: a predicate
// has a bit for each byte, memory of inactive lanes is not touched. Differences: the
// core flushes denormals to zero and has one NaN.
#ifndef EMBER_MODELS_ARM_MVE_H
#define EMBER_MODELS_ARM_MVE_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef float float32x4_t __attribute__((vector_size(16)));
typedef int32_t int32x4_t __attribute__((vector_size(16)));
typedef uint32_t uint32x4_t __attribute__((vector_size(16)));
typedef uint16_t mve_pred16_t;

static inline bool ember_mve_on(mve_pred16_t lanes, int lane) {
    return (lanes >> (4 * lane)) & 1;
}

// The first `count` of four lanes.
static inline mve_pred16_t vctp32q(uint32_t count) {
    return (mve_pred16_t)(count >= 4 ? 0xffff : (1u << (4 * count)) - 1);
}

// --- memory ----------------------------------------------------------------------

// Copies the words of active lanes.
static inline void ember_mve_words(void *to, const void *from, mve_pred16_t lanes) {
    for (size_t i = 0; i < 4; i++) {
        if (ember_mve_on(lanes, (int)i)) {
            memcpy((char *)to + 4 * i, (const char *)from + 4 * i, 4);
        }
    }
}

static inline float32x4_t vldrwq_z_f32(const float *at, mve_pred16_t lanes) {
    float32x4_t made = {0};
    ember_mve_words(&made, at, lanes);
    return made;
}

static inline float32x4_t vldrwq_f32(const float *at) {
    return vldrwq_z_f32(at, 0xffff);
}

static inline float32x4_t vldrwq_gather_shifted_offset_z_f32(const float *base,
                                                             uint32x4_t offsets,
                                                             mve_pred16_t lanes) {
    float32x4_t made = {0};
    for (int i = 0; i < 4; i++) {
        made[i] = ember_mve_on(lanes, i) ? base[(int32_t)offsets[i]] : 0.0f;
    }
    return made;
}

static inline float32x4_t vldrwq_gather_shifted_offset_f32(const float *base,
                                                           uint32x4_t offsets) {
    return vldrwq_gather_shifted_offset_z_f32(base, offsets, 0xffff);
}

static inline void vstrwq_f32(float *at, float32x4_t value) {
    memcpy(at, &value, sizeof(value));
}

static inline void vstrwq_p_f32(float *at, float32x4_t value, mve_pred16_t lanes) {
    ember_mve_words(at, &value, lanes);
}

static inline void vstrwq_scatter_shifted_offset_p_f32(float *base, uint32x4_t offsets,
                                                       float32x4_t value,
                                                       mve_pred16_t lanes) {
    for (int i = 0; i < 4; i++) {
        if (ember_mve_on(lanes, i)) {
            base[(int32_t)offsets[i]] = value[i];
        }
    }
}

static inline void vstrwq_scatter_shifted_offset_f32(float *base, uint32x4_t offsets,
                                                     float32x4_t value) {
    vstrwq_scatter_shifted_offset_p_f32(base, offsets, value, 0xffff);
}

static inline void vstrwq_scatter_shifted_offset_p_u32(uint32_t *base,
                                                       uint32x4_t offsets,
                                                       uint32x4_t value,
                                                       mve_pred16_t lanes) {
    for (int i = 0; i < 4; i++) {
        if (ember_mve_on(lanes, i)) {
            base[(int32_t)offsets[i]] = value[i];
        }
    }
}

// --- making vectors ----------------------------------------------------------------

static inline float32x4_t vdupq_n_f32(float x) {
    return (float32x4_t){x, x, x, x};
}

static inline uint32x4_t vdupq_n_u32(uint32_t x) {
    return (uint32x4_t){x, x, x, x};
}

// from, from + step, from + 2 step, ..
static inline uint32x4_t vidupq_n_u32(uint32_t from, int step) {
    const uint32_t by = (uint32_t)step;
    return (uint32x4_t){from, from + by, from + 2 * by, from + 3 * by};
}

// --- float32 -----------------------------------------------------------------------

static inline float32x4_t vaddq_f32(float32x4_t a, float32x4_t b) {
    return a + b;
}

static inline float32x4_t vaddq_n_f32(float32x4_t a, float b) {
    return a + b;
}

static inline float32x4_t vsubq_f32(float32x4_t a, float32x4_t b) {
    return a - b;
}

static inline float32x4_t vmulq_f32(float32x4_t a, float32x4_t b) {
    return a * b;
}

static inline float32x4_t vmulq_n_f32(float32x4_t a, float b) {
    return a * b;
}

static inline float32x4_t vfmaq_f32(float32x4_t sum, float32x4_t a, float32x4_t b) {
    for (int i = 0; i < 4; i++) {
        sum[i] = fmaf(a[i], b[i], sum[i]);
    }
    return sum;
}

static inline float32x4_t vfmsq_f32(float32x4_t sum, float32x4_t a, float32x4_t b) {
    return vfmaq_f32(sum, -a, b);
}

static inline float32x4_t vfmaq_n_f32(float32x4_t sum, float32x4_t a, float b) {
    return vfmaq_f32(sum, a, vdupq_n_f32(b));
}

static inline mve_pred16_t vcmpltq_f32(float32x4_t a, float32x4_t b) {
    unsigned lanes = 0;
    for (int i = 0; i < 4; i++) {
        lanes |= (a[i] < b[i] ? 0xfu : 0) << (4 * i);
    }
    return (mve_pred16_t)lanes;
}

static inline mve_pred16_t vcmpgtq_f32(float32x4_t a, float32x4_t b) {
    return vcmpltq_f32(b, a);
}

static inline mve_pred16_t vcmpgtq_m_f32(float32x4_t a, float32x4_t b,
                                         mve_pred16_t lanes) {
    return (mve_pred16_t)(vcmpgtq_f32(a, b) & lanes);
}

// a in active `lanes`, else b.
static inline float32x4_t vpselq_f32(float32x4_t a, float32x4_t b, mve_pred16_t lanes) {
    for (int i = 0; i < 4; i++) {
        a[i] = ember_mve_on(lanes, i) ? a[i] : b[i];
    }
    return a;
}

static inline float vgetq_lane_f32(float32x4_t a, int lane) {
    return a[lane];
}

// Pairs of lanes are complex numbers, the imaginary part second. A quarter turn times b
// (rot90: i, rot270: -i) is added; of products each is rounded, none is added.
static inline float32x4_t vcaddq_rot90_f32(float32x4_t a, float32x4_t b) {
    return (float32x4_t){a[0] - b[1], a[1] + b[0], a[2] - b[3], a[3] + b[2]};
}

static inline float32x4_t vcaddq_rot270_f32(float32x4_t a, float32x4_t b) {
    return (float32x4_t){a[0] + b[1], a[1] - b[0], a[2] + b[3], a[3] - b[2]};
}

static inline float32x4_t vcmulq_f32(float32x4_t a, float32x4_t b) {
    return (float32x4_t){a[0] * b[0], a[0] * b[1], a[2] * b[2], a[2] * b[3]};
}

static inline float32x4_t vcmulq_rot90_f32(float32x4_t a, float32x4_t b) {
    return (float32x4_t){-(a[1] * b[1]), a[1] * b[0], -(a[3] * b[3]), a[3] * b[2]};
}

// The lanes of each pair change places.
static inline float32x4_t vrev64q_f32(float32x4_t a) {
    return (float32x4_t){a[1], a[0], a[3], a[2]};
}

// --- 32-bit integers ---------------------------------------------------------------

static inline float32x4_t vreinterpretq_f32_u32(uint32x4_t a) {
    return (float32x4_t)a;
}

static inline uint32x4_t vandq_u32(uint32x4_t a, uint32x4_t b) {
    return a & b;
}

static inline uint32x4_t veorq_u32(uint32x4_t a, uint32x4_t b) {
    return a ^ b;
}

static inline uint32x4_t vaddq_u32(uint32x4_t a, uint32x4_t b) {
    return a + b;
}

static inline uint32x4_t vshrq_n_u32(uint32x4_t a, int bits) {
    return a >> bits;
}

static inline uint32x4_t vreinterpretq_u32_f32(float32x4_t a) {
    return (uint32x4_t)a;
}

static inline int32x4_t vreinterpretq_s32_u32(uint32x4_t a) {
    return (int32x4_t)a;
}

static inline uint32x4_t vaddq_n_u32(uint32x4_t a, uint32_t b) {
    return a + b;
}

static inline uint32x4_t vmulq_n_u32(uint32x4_t a, uint32_t b) {
    return a * b;
}

static inline mve_pred16_t vcmphiq_m_u32(uint32x4_t a, uint32x4_t b,
                                         mve_pred16_t lanes) {
    unsigned higher = 0;
    for (int i = 0; i < 4; i++) {
        higher |= (a[i] > b[i] ? 0xfu : 0) << (4 * i);
    }
    return (mve_pred16_t)(higher & lanes);
}

static inline mve_pred16_t vcmpleq_n_s32(int32x4_t a, int32_t b) {
    unsigned lanes = 0;
    for (int i = 0; i < 4; i++) {
        lanes |= (a[i] <= b ? 0xfu : 0) << (4 * i);
    }
    return (mve_pred16_t)lanes;
}

static inline int32x4_t vpselq_s32(int32x4_t a, int32x4_t b, mve_pred16_t lanes) {
    for (int i = 0; i < 4; i++) {
        a[i] = ember_mve_on(lanes, i) ? a[i] : b[i];
    }
    return a;
}

static inline uint32x4_t vpselq_u32(uint32x4_t a, uint32x4_t b, mve_pred16_t lanes) {
    for (int i = 0; i < 4; i++) {
        a[i] = ember_mve_on(lanes, i) ? a[i] : b[i];
    }
    return a;
}

#include "arm_mve_memory.h"

#include "arm_mve_integer.h"
#include "arm_mve_lanes.h"

#include "arm_mve_halves.h"

#endif // EMBER_MODELS_ARM_MVE_H
