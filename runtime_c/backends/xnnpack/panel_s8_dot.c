// SPDX-License-Identifier: Apache-2.0
// Panels of int8 that was quantised while it ran, by SDOT; rows of all int8 panels.
#include "panel_dot.h"

// Four elements of each of four rows at a time, `steps` times.
static inline void store_four(const int8x16_t *rows, int8_t *to, size_t step,
                              uint32_t steps) {
    const int32x4_t r0 = vreinterpretq_s32_s8(rows[0]);
    const int32x4_t r1 = vreinterpretq_s32_s8(rows[1]);
    const int32x4_t r2 = vreinterpretq_s32_s8(rows[2]);
    const int32x4_t r3 = vreinterpretq_s32_s8(rows[3]);
    const int64x2_t even0 = vreinterpretq_s64_s32(vtrn1q_s32(r0, r1));
    const int64x2_t even1 = vreinterpretq_s64_s32(vtrn1q_s32(r2, r3));
    const int64x2_t odd0 = vreinterpretq_s64_s32(vtrn2q_s32(r0, r1));
    const int64x2_t odd1 = vreinterpretq_s64_s32(vtrn2q_s32(r2, r3));
    const int64x2_t turned[] = {vzip1q_s64(even0, even1), vzip1q_s64(odd0, odd1),
                                vzip2q_s64(even0, even1), vzip2q_s64(odd0, odd1)};
#pragma GCC unroll 4
    for (uint32_t i = 0; i < 4; i++, to += step) {
        if (i < steps) {
            vst1q_s8(to, vreinterpretq_s8_s64(turned[i]));
        }
    }
}

static inline void pack_four(const void *const *rows, uint32_t k, int8_t *to,
                             size_t step) {
    int8x16_t x[4];
    uint32_t at = 0;
    for (; at + 4 * UNIT <= k; at += 4 * UNIT, to += 4 * step) {
        for (uint32_t i = 0; i < 4; i++) {
            x[i] = vld1q_s8((const int8_t *)rows[i] + at);
        }
        store_four(x, to, step, 4);
    }
    if (at + 2 * UNIT <= k) {
        for (uint32_t i = 0; i < 4; i++) {
            x[i] = vcombine_s8(vld1_s8((const int8_t *)rows[i] + at), vdup_n_s8(0));
        }
        store_four(x, to, step, 2);
        at += 2 * UNIT;
        to += 2 * step;
    }
    if (at + UNIT <= k) {
        for (uint32_t i = 0; i < 4; i++) {
            int32_t word;
            memcpy(&word, (const int8_t *)rows[i] + at, UNIT);
            x[i] = vreinterpretq_s8_s32(vdupq_n_s32(word));
        }
        store_four(x, to, step, 1);
        at += UNIT;
        to += step;
    }
    if (at < k) {
        int8_t rest[4][4 * UNIT] = {{0}}; // fewer than a step
        for (uint32_t i = 0; i < 4; i++) {
            memcpy(rest[i], (const int8_t *)rows[i] + at, k - at);
            x[i] = vld1q_s8(rest[i]);
        }
        store_four(x, to, step, 1);
    }
}

void ember_xnn_panel_pack_dot(const ember_xnn_panel_t *panel, const void *const *rows,
                              uint32_t k) {
    const uint32_t lines = lines_of(panel->rows);
    int8_t *to = (int8_t *)panel->a;
    if (lines == 1) {
        memset(to + (k & ~3u), 0, (size_t)panel->steps * UNIT - (k & ~3u));
        memcpy(to, rows[0], k);
        return;
    }
    for (uint32_t i = 0; i < lines; i += 4, to += 4 * UNIT) {
        pack_four(rows + i, k, to, (size_t)lines * UNIT);
    }
}

// --- whole columns -------------------------------------------------------------------

static const int32_t zeros[XNN_PANEL];

static void block_qc8(const ember_xnn_panel_t *panel, const uint8_t *w,
                      const void *start, const float *scales, uint32_t column) {
    int32_t sums[XNN_PANEL * XNN_PANEL];
    multiply(load_s8, panel, w + HEAD, zeros, sums);
    ember_xnn_panel_put_qc8(panel, sums, (const void *)w, start, scales, column);
}

static void block_qc4(const ember_xnn_panel_t *panel, const uint8_t *w,
                      const void *start, const float *scales, uint32_t column) {
    int32_t sums[XNN_PANEL * XNN_PANEL];
    multiply(load_s4, panel, w + HEAD, zeros, sums);
    ember_xnn_panel_put_qc4(panel, sums, (const void *)w, start, scales, column);
}

// --- groups of elements --------------------------------------------------------------

// Adds the sums of a group, in its scales, to those of the groups before.
XNN_INLINE void add_group(const int8_t *a, const uint8_t *w, uint32_t steps,
                          const int32_t *zero, const uint32_t lines, float *to) {
    const int32_t *own = (const int32_t *)(const void *)w;
    const float *scales = (const float *)(const void *)(w + HEAD);
    const int32x4_t o0 = vld1q_s32(own), o1 = vld1q_s32(own + 4);
    sums_t sums;
    for (uint32_t i = 0; i < lines; i++) {
        sums.of[i][0] = vmulq_n_s32(o0, zero[i]);
        sums.of[i][1] = vmulq_n_s32(o1, zero[i]);
    }
    add_products(load_s4, a, w + 2 * HEAD, steps, lines, &sums);
    const float32x4_t s0 = vld1q_f32(scales), s1 = vld1q_f32(scales + 4);
    for (uint32_t i = 0; i < lines; i++, to += XNN_PANEL) {
        const float32x4_t x0 = vmulq_f32(vcvtq_n_f32_s32(sums.of[i][0], 4), s0);
        const float32x4_t x1 = vmulq_f32(vcvtq_n_f32_s32(sums.of[i][1], 4), s1);
        vst1q_f32(to, vaddq_f32(vld1q_f32(to), x0));
        vst1q_f32(to + 4, vaddq_f32(vld1q_f32(to + 4), x1));
    }
}

XNN_INLINE void add_groups(const ember_xnn_panel_t *panel, const uint8_t *w,
                           const int32_t *zero, const uint32_t lines, float *to) {
    const int8_t *a = (const int8_t *)panel->a;
    const uint32_t block = panel->block;
    const size_t bytes = 2 * HEAD + (size_t)block * UNIT * XNN_PANEL / 2;
    for (uint32_t k = 0; k < panel->steps; k += block, w += bytes) {
        add_group(a, w, block, zero, lines, to);
        a += (size_t)block * UNIT * lines;
    }
}

static void block_qb4(const ember_xnn_panel_t *panel, const uint8_t *w,
                      const void *start, const float *scales, uint32_t column) {
    const uint32_t lines = lines_of(panel->rows);
    float sums[XNN_PANEL * XNN_PANEL] = {0.0f};
    int32_t zero[XNN_PANEL] = {0};
    (void)scales;
    for (uint32_t i = 0; i < panel->rows; i++) {
        zero[i] = -xnn_panel_row(panel, i)->zero;
    }
    if (lines == 8) {
        add_groups(panel, w, zero, 8, sums);
    } else if (lines == 4) {
        add_groups(panel, w, zero, 4, sums);
    } else {
        add_groups(panel, w, zero, 1, sums);
    }
    ember_xnn_panel_put_qb4(panel, sums, start, column);
}

const ember_xnn_form_t ember_xnn_form_qd8_qc8_dot =
    XNN_FORM_INT8(ember_xnn_columns_s8, ember_xnn_type_qd8, UNIT,
                  ember_xnn_panel_begin_qd8, ember_xnn_panel_pack_dot, block_qc8, NULL);
const ember_xnn_form_t ember_xnn_form_qd8_qc4_dot =
    XNN_FORM_INT8(ember_xnn_columns_qc4, ember_xnn_type_qd8_qc4, UNIT,
                  ember_xnn_panel_begin_qd8, ember_xnn_panel_pack_dot, block_qc4, NULL);
const ember_xnn_form_t ember_xnn_form_qd8_qb4_dot =
    XNN_FORM_INT8(ember_xnn_columns_qb4, ember_xnn_type_qd8_qb4, UNIT,
                  ember_xnn_panel_begin_qd8, ember_xnn_panel_pack_dot, block_qb4, NULL);
