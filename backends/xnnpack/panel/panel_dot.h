// SPDX-License-Identifier: Apache-2.0
// Panels of int8 by SDOT, which adds four products to each of four sums. Rows are read
// in place, four steps of a row at once: eight rows, four, or one. Weights are int8, or
// four-bit weights scaled by 16.
#ifndef EMBER_XNNPACK_PANEL_DOT_H
#define EMBER_XNNPACK_PANEL_DOT_H

#include "backends/xnnpack/nodes/neon.h"
#include "panel.h"

enum { UNIT = 4, HEAD = 4 * XNN_PANEL };

// Four columns, and four.
typedef struct columns {
    int8x16_t of[2];
} columns_t;

// Of rows times blocks of columns, at most XNN_PANEL; the blocks of a row are adjacent.
typedef struct sums {
    int32x4_t of[XNN_PANEL][2];
} sums_t;

// Where weights are, and how many bits they have: 8 or 4.
typedef struct weights {
    const uint8_t *at;
    size_t block_bytes;
    uint32_t bits;
} weights_t;

XNN_INLINE uint32_t step_bytes(const uint32_t bits) {
    return UNIT * XNN_PANEL * bits / 8;
}

XNN_INLINE columns_t load(const uint8_t *from, const uint32_t bits) {
    const int8x16_t first = vld1q_s8((const int8_t *)from);
    return bits == 8
               ? (columns_t){{first, vld1q_s8((const int8_t *)from + 16)}}
               : (columns_t){{vshlq_n_s8(first, 4), vandq_s8(first, vdupq_n_s8(-16))}};
}

// The step that is lane `lane` of a row's sixteen elements.
XNN_INLINE int32x4_t dot(int32x4_t sum, int8x16_t w, int8x16_t x, const uint32_t lane) {
    switch (lane) {
    case 0:
        return vdotq_laneq_s32(sum, w, x, 0);
    case 1:
        return vdotq_laneq_s32(sum, w, x, 1);
    case 2:
        return vdotq_laneq_s32(sum, w, x, 2);
    default:
        return vdotq_laneq_s32(sum, w, x, 3);
    }
}

typedef struct rows {
    const int8_t *of[XNN_PANEL];
} rows_t;

// `lines` rows from row `first` of the panel on.
XNN_INLINE rows_t rows_of(const ember_xnn_panel_t *panel, uint32_t first,
                          const uint32_t lines) {
    rows_t rows;
#pragma GCC unroll 8
    for (uint32_t i = 0; i < lines; i++) {
        rows.of[i] = panel->from[first + i];
    }
    return rows;
}

// Up to four steps.
XNN_INLINE void add_steps(const rows_t *rows, size_t offset, const weights_t *w,
                          const uint32_t steps, const uint32_t lines,
                          const uint32_t blocks, sums_t *sums) {
    int8x16_t x[XNN_PANEL];
#pragma GCC unroll 8
    for (uint32_t i = 0; i < lines; i++) {
        x[i] = vld1q_s8(rows->of[i] + offset);
    }
#pragma GCC unroll 16
    for (uint32_t k = 0; k < steps * blocks; k++) {
        const uint32_t step = k / blocks, block = k % blocks;
        const columns_t c =
            load(w->at + block * w->block_bytes + step * step_bytes(w->bits), w->bits);
#pragma GCC unroll 8
        for (uint32_t i = 0; i < lines; i++) {
            int32x4_t *sum = sums->of[i * blocks + block];
            sum[0] = dot(sum[0], c.of[0], x[i], step);
            sum[1] = dot(sum[1], c.of[1], x[i], step);
        }
    }
}

// Products of `steps` steps of the rows, from `offset` on; `w` is at the first step.
XNN_INLINE void add_products(const rows_t *rows, size_t offset, weights_t w,
                             uint32_t steps, const uint32_t lines,
                             const uint32_t blocks, sums_t *sums) {
    for (uint32_t left = steps / 4; left > 0; left--) {
        add_steps(rows, offset, &w, 4, lines, blocks, sums);
        offset += XNN_READ;
        w.at += 4 * step_bytes(w.bits);
    }
    if (steps % 4 == 1) {
        add_steps(rows, offset, &w, 1, lines, blocks, sums);
    } else if (steps % 4 == 2) {
        add_steps(rows, offset, &w, 2, lines, blocks, sums);
    } else if (steps % 4 == 3) {
        add_steps(rows, offset, &w, 3, lines, blocks, sums);
    }
}

// Sums of all runs of the rows, begun with `start`; `w` is at the first step.
XNN_INLINE sums_t multiply_lines(const ember_xnn_panel_t *panel, const rows_t *rows,
                                 weights_t w, const int32_t *start,
                                 const uint32_t lines, const uint32_t blocks) {
    const uint32_t steps = panel->steps;
    sums_t sums;
    size_t offset = 0;
#pragma GCC unroll 8
    for (uint32_t i = 0; i < lines * blocks; i++) {
        sums.of[i][0] = vld1q_s32(start + i % blocks * XNN_PANEL);
        sums.of[i][1] = vld1q_s32(start + i % blocks * XNN_PANEL + 4);
    }
    for (uint32_t left = panel->runs; left > 0; left--, offset += panel->pitch) {
        add_products(rows, offset, w, steps, lines, blocks, &sums);
        w.at += (size_t)steps * step_bytes(w.bits);
    }
    return sums;
}

// Sums (lines, XNN_PANEL) of a block, in memory.
XNN_INLINE void multiply_to(const ember_xnn_panel_t *panel, const uint8_t *w,
                            const uint32_t bits, const int32_t *start,
                            const uint32_t lines, int32_t *to) {
    const weights_t weights = {w, 0, bits};
    const rows_t rows = rows_of(panel, 0, lines);
    const sums_t sums = multiply_lines(panel, &rows, weights, start, lines, 1);
    for (uint32_t i = 0; i < lines; i++, to += XNN_PANEL) {
        vst1q_s32(to, sums.of[i][0]);
        vst1q_s32(to + 4, sums.of[i][1]);
    }
}

XNN_INLINE void multiply(const ember_xnn_panel_t *panel, const uint8_t *w,
                         const uint32_t bits, const int32_t *start, int32_t *to) {
    const uint32_t lines = xnn_panel_lines(panel->rows);
    if (lines == 8) {
        multiply_to(panel, w, bits, start, 8, to);
    } else if (lines == 4) {
        multiply_to(panel, w, bits, start, 4, to);
    } else {
        multiply_to(panel, w, bits, start, 1, to);
    }
}

#endif // EMBER_XNNPACK_PANEL_DOT_H
