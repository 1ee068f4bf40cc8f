// SPDX-License-Identifier: Apache-2.0
// Panels of int8 by SDOT, which adds four products to each of four sums. A step is four
// elements of each row behind each other: of eight rows, of four, or of one. Weights
// are int8, or numbers of four bits that become 16 times as large.
#ifndef EMBER_XNNPACK_PANEL_DOT_H
#define EMBER_XNNPACK_PANEL_DOT_H

#include "neon.h"
#include "panel.h"

#define XNN_INLINE static inline __attribute__((always_inline))

enum { UNIT = 4, HEAD = 4 * XNN_PANEL };

static inline uint32_t lines_of(uint32_t rows) {
    return rows > 4 ? 8 : rows > 1 ? 4 : 1;
}

void ember_xnn_panel_pack_dot(const ember_xnn_panel_t *panel, const void *const *rows,
                              uint32_t k);

// Four columns, and four.
typedef struct columns {
    int8x16_t of[2];
} columns_t;

// Of a panel's rows and eight columns.
typedef struct sums {
    int32x4_t of[XNN_PANEL][2];
} sums_t;

typedef columns_t (*load_fn)(const uint8_t *w, size_t step);

static inline columns_t load_s8(const uint8_t *w, size_t step) {
    const int8_t *from = (const int8_t *)w + step * UNIT * XNN_PANEL;
    return (columns_t){{vld1q_s8(from), vld1q_s8(from + 16)}};
}

static inline columns_t load_s4(const uint8_t *w, size_t step) {
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

XNN_INLINE void begin_lines(const int32_t *start, const uint32_t lines, sums_t *sums) {
    for (uint32_t i = 0; i < lines; i++) {
        sums->of[i][0] = vld1q_s32(start);
        sums->of[i][1] = vld1q_s32(start + 4);
    }
}

// Sums (lines, XNN_PANEL) of whole columns, begun with `start`.
XNN_INLINE void multiply_lines(load_fn load, const ember_xnn_panel_t *panel,
                               const uint8_t *w, const int32_t *start,
                               const uint32_t lines, int32_t *to) {
    sums_t sums;
    begin_lines(start, lines, &sums);
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

#endif // EMBER_XNNPACK_PANEL_DOT_H
