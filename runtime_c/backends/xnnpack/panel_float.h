// SPDX-License-Identifier: Apache-2.0
// Sums of products in float32 for forms of panels, whatever the weights lie in.
#ifndef EMBER_XNNPACK_PANEL_FLOAT_H
#define EMBER_XNNPACK_PANEL_FLOAT_H

#include "panel.h"

#include <arm_neon.h>

#define XNN_INLINE static inline __attribute__((always_inline))

// A step of weights: eight columns.
typedef struct columns {
    float32x4_t of[2];
} columns_t;

typedef columns_t (*load_columns_fn)(const void *w, size_t step);

// Sums of `fours` times four rows and a block of columns, begun with `start`.
XNN_INLINE void multiply(load_columns_fn load, const float *a, const void *w,
                         uint32_t steps, const float *start, const uint32_t fours,
                         float *sums) {
    float32x4_t s[8][2];
    for (uint32_t i = 0; i < 4 * fours; i++) {
        s[i][0] = vld1q_f32(start);
        s[i][1] = vld1q_f32(start + 4);
    }
#pragma GCC unroll 2
    for (size_t k = 0; k < steps; k++, a += 4 * fours) {
        const columns_t c = load(w, k);
        for (uint32_t i = 0; i < fours; i++) {
            const float32x4_t x = vld1q_f32(a + 4 * i);
            for (uint32_t j = 0; j < 2; j++) {
                s[4 * i][j] = vfmaq_laneq_f32(s[4 * i][j], c.of[j], x, 0);
                s[4 * i + 1][j] = vfmaq_laneq_f32(s[4 * i + 1][j], c.of[j], x, 1);
                s[4 * i + 2][j] = vfmaq_laneq_f32(s[4 * i + 2][j], c.of[j], x, 2);
                s[4 * i + 3][j] = vfmaq_laneq_f32(s[4 * i + 3][j], c.of[j], x, 3);
            }
        }
    }
    for (uint32_t i = 0; i < 4 * fours; i++, sums += XNN_PANEL) {
        vst1q_f32(sums, s[i][0]);
        vst1q_f32(sums + 4, s[i][1]);
    }
}

// Of one row, whose elements lie as they were.
XNN_INLINE void multiply_one(load_columns_fn load, const float *a, const void *w,
                             uint32_t steps, const float *start, float *sums) {
    float32x4_t s0 = vld1q_f32(start);
    float32x4_t s1 = vld1q_f32(start + 4);
    size_t k = 0;
    for (; k + 4 <= steps; k += 4) {
        const float32x4_t x = vld1q_f32(a + k);
        const columns_t c0 = load(w, k);
        const columns_t c1 = load(w, k + 1);
        const columns_t c2 = load(w, k + 2);
        const columns_t c3 = load(w, k + 3);
        s0 = vfmaq_laneq_f32(s0, c0.of[0], x, 0);
        s1 = vfmaq_laneq_f32(s1, c0.of[1], x, 0);
        s0 = vfmaq_laneq_f32(s0, c1.of[0], x, 1);
        s1 = vfmaq_laneq_f32(s1, c1.of[1], x, 1);
        s0 = vfmaq_laneq_f32(s0, c2.of[0], x, 2);
        s1 = vfmaq_laneq_f32(s1, c2.of[1], x, 2);
        s0 = vfmaq_laneq_f32(s0, c3.of[0], x, 3);
        s1 = vfmaq_laneq_f32(s1, c3.of[1], x, 3);
    }
    for (; k < steps; k++) {
        const columns_t c = load(w, k);
        s0 = vfmaq_n_f32(s0, c.of[0], a[k]);
        s1 = vfmaq_n_f32(s1, c.of[1], a[k]);
    }
    vst1q_f32(sums, s0);
    vst1q_f32(sums + 4, s1);
}

// As xnn_clamp(): NaN stays, and so does a zero that equals a bound.
XNN_INLINE float32x4_t bounded(float32x4_t x, const ember_xnn_node_t *node) {
    const float32x4_t low = vdupq_n_f32(node->low);
    const float32x4_t high = vdupq_n_f32(node->high);
    const float32x4_t y = vbslq_f32(vcltq_f32(x, low), low, x);
    return vbslq_f32(vcgtq_f32(y, high), high, y);
}

// Rows of a panel as float32.
void ember_xnn_panel_pack_f32(const ember_xnn_panel_t *panel, const void *const *rows,
                              uint32_t k);

#endif // EMBER_XNNPACK_PANEL_FLOAT_H
