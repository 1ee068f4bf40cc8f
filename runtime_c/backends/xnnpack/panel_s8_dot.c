// SPDX-License-Identifier: Apache-2.0
// Panels of int8 by SDOT, which adds four products to each of four sums. A step is four
// elements of each row behind each other: of eight rows, of four, or of one. Weights
// are int8, or numbers of four bits that become 16 times as large.
#include "panel.h"

#include <arm_neon.h>

#define XNN_INLINE static inline __attribute__((always_inline))

enum { UNIT = 4, HEAD = 4 * XNN_PANEL };

static uint32_t lines_of(uint32_t rows) {
    return rows > 4 ? 8 : rows > 1 ? 4 : 1;
}

// Four elements of each of four rows at a time, or what is left of them.
static void store_four(const int8_t *const from[4], int8_t *to, size_t step,
                       uint32_t steps) {
    const int32x4_t r0 = vreinterpretq_s32_s8(vld1q_s8(from[0]));
    const int32x4_t r1 = vreinterpretq_s32_s8(vld1q_s8(from[1]));
    const int32x4_t r2 = vreinterpretq_s32_s8(vld1q_s8(from[2]));
    const int32x4_t r3 = vreinterpretq_s32_s8(vld1q_s8(from[3]));
    const int32x4_t even0 = vtrn1q_s32(r0, r1);
    const int32x4_t even1 = vtrn1q_s32(r2, r3);
    const int32x4_t odd0 = vtrn2q_s32(r0, r1);
    const int32x4_t odd1 = vtrn2q_s32(r2, r3);
    const int64x2_t turned[] = {
        vzip1q_s64(vreinterpretq_s64_s32(even0), vreinterpretq_s64_s32(even1)),
        vzip1q_s64(vreinterpretq_s64_s32(odd0), vreinterpretq_s64_s32(odd1)),
        vzip2q_s64(vreinterpretq_s64_s32(even0), vreinterpretq_s64_s32(even1)),
        vzip2q_s64(vreinterpretq_s64_s32(odd0), vreinterpretq_s64_s32(odd1)),
    };
#pragma GCC unroll 4
    for (uint32_t i = 0; i < 4; i++, to += step) {
        if (i < steps) {
            vst1q_s8(to, vreinterpretq_s8_s64(turned[i]));
        }
    }
}

static void pack_four(const void *const *rows, uint32_t k, int8_t *to, size_t step) {
    const int8_t *from[4] = {rows[0], rows[1], rows[2], rows[3]};
    for (; k >= 4 * UNIT; k -= 4 * UNIT, to += 4 * step) {
        store_four(from, to, step, 4);
        for (uint32_t i = 0; i < 4; i++) {
            from[i] += 4 * UNIT;
        }
    }
    if (k > 0) {
        int8_t rest[4][4 * UNIT] = {{0}};
        for (uint32_t i = 0; i < 4; i++) {
            memcpy(rest[i], from[i], k);
            from[i] = rest[i];
        }
        store_four(from, to, step, (k + UNIT - 1) / UNIT);
    }
}

static void pack(const ember_xnn_panel_t *panel, const void *const *rows, uint32_t k) {
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

// --- sums ----------------------------------------------------------------------------

// Four columns, and four.
typedef struct columns {
    int8x16_t of[2];
} columns_t;

// Of a panel's rows and eight columns.
typedef struct sums {
    int32x4_t of[XNN_PANEL][2];
} sums_t;

typedef columns_t (*load_fn)(const uint8_t *w, size_t step);

static columns_t load_s8(const uint8_t *w, size_t step) {
    const int8_t *from = (const int8_t *)w + step * UNIT * XNN_PANEL;
    return (columns_t){{vld1q_s8(from), vld1q_s8(from + 16)}};
}

static columns_t load_s4(const uint8_t *w, size_t step) {
    const int8x16_t both = vld1q_s8((const int8_t *)w + step * UNIT * XNN_PANEL / 2);
    return (columns_t){{vshlq_n_s8(both, 4), vandq_s8(both, vdupq_n_s8(-16))}};
}

XNN_INLINE void add_products(load_fn load, const int8_t *a, const uint8_t *w,
                             uint32_t steps, const uint32_t lines, sums_t *sums) {
    sums_t s = *sums;
#pragma GCC unroll 2
    for (size_t k = 0; k < steps; k++, a += UNIT * lines) {
        const columns_t c = load(w, k);
        if (lines == 1) {
            const int32x4_t four = vld1q_dup_s32((const int32_t *)(const void *)a);
            const int8x16_t x = vreinterpretq_s8_s32(four);
            s.of[0][0] = vdotq_s32(s.of[0][0], c.of[0], x);
            s.of[0][1] = vdotq_s32(s.of[0][1], c.of[1], x);
        }
        for (uint32_t i = 0; i + 4 <= lines; i += 4) {
            const int8x16_t x = vld1q_s8(a + UNIT * i);
            for (uint32_t j = 0; j < 2; j++) {
                s.of[i][j] = vdotq_laneq_s32(s.of[i][j], c.of[j], x, 0);
                s.of[i + 1][j] = vdotq_laneq_s32(s.of[i + 1][j], c.of[j], x, 1);
                s.of[i + 2][j] = vdotq_laneq_s32(s.of[i + 2][j], c.of[j], x, 2);
                s.of[i + 3][j] = vdotq_laneq_s32(s.of[i + 3][j], c.of[j], x, 3);
            }
        }
    }
    *sums = s;
}

// Sums (lines, XNN_PANEL) of whole columns, begun with `start`.
XNN_INLINE void multiply_lines(load_fn load, const ember_xnn_panel_t *panel,
                               const uint8_t *w, const int32_t *start,
                               const uint32_t lines, int32_t *to) {
    sums_t sums;
    for (uint32_t i = 0; i < lines; i++) {
        sums.of[i][0] = vld1q_s32(start);
        sums.of[i][1] = vld1q_s32(start + 4);
    }
    add_products(load, (const int8_t *)panel->a, w, panel->steps, lines, &sums);
    for (uint32_t i = 0; i < lines; i++, to += XNN_PANEL) {
        vst1q_s32(to, sums.of[i][0]);
        vst1q_s32(to + 4, sums.of[i][1]);
    }
}

XNN_INLINE void multiply(load_fn load, const ember_xnn_panel_t *panel, const uint8_t *w,
                         const int32_t *start, int32_t *to) {
    const uint32_t lines = lines_of(panel->rows);
    if (lines == 8) {
        multiply_lines(load, panel, w, start, 8, to);
    } else if (lines == 4) {
        multiply_lines(load, panel, w, start, 4, to);
    } else {
        multiply_lines(load, panel, w, start, 1, to);
    }
}

// --- whole columns -------------------------------------------------------------------

static const int32_t zeros[XNN_PANEL];

static void block_qs8(const ember_xnn_panel_t *panel, const uint8_t *w,
                      const void *start, const float *scales, uint32_t column) {
    int32_t sums[XNN_PANEL * XNN_PANEL];
    multiply(load_s8, panel, w + HEAD, start, sums);
    ember_xnn_panel_put_qs8(panel, sums, scales, column);
}

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

// --- forms ---------------------------------------------------------------------------

#define FORM(LAYOUT, TYPE, BEGIN, BLOCK)                                               \
    {                                                                                  \
        .layout = &(LAYOUT),                                                           \
        .type = &(TYPE),                                                               \
        .unit = UNIT,                                                                  \
        .size = 1,                                                                     \
        .wide = 1,                                                                     \
        .begin = (BEGIN),                                                              \
        .pack = pack,                                                                  \
        .block = (BLOCK),                                                              \
    }

const ember_xnn_form_t ember_xnn_form_qs8_dot = FORM(
    ember_xnn_columns_s8, ember_xnn_panel_qs8, ember_xnn_panel_begin_qs8, block_qs8);
const ember_xnn_form_t ember_xnn_form_qd8_qc8_dot = FORM(
    ember_xnn_columns_s8, ember_xnn_type_qd8, ember_xnn_panel_begin_qd8, block_qc8);
const ember_xnn_form_t ember_xnn_form_qd8_qc4_dot =
    FORM(ember_xnn_columns_qc4, ember_xnn_type_qd8_qc4, ember_xnn_panel_begin_qd8,
         block_qc4);
const ember_xnn_form_t ember_xnn_form_qd8_qb4_dot =
    FORM(ember_xnn_columns_qb4, ember_xnn_type_qd8_qb4, ember_xnn_panel_begin_qd8,
         block_qb4);
