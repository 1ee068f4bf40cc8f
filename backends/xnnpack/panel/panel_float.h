// SPDX-License-Identifier: Apache-2.0
// Sums of products in float32 for forms of panels, whatever the type of rows and
// weights. Each product is fused with its sum, in order, after the bias: the bits of
// product_f32.c. A panel's rows become float32 in columns of eight or four; a single
// row stays a row.
#ifndef EMBER_XNNPACK_PANEL_FLOAT_H
#define EMBER_XNNPACK_PANEL_FLOAT_H

#include "backends/xnnpack/nodes/neon.h"
#include "panel.h"

// --- rows ----------------------------------------------------------------------------

typedef float32x4_t (*load_four_fn)(const void *row, size_t at);
typedef float (*load_element_fn)(const void *row, size_t at);

// How rows are read.
typedef struct load_rows {
    load_four_fn four;
    load_element_fn one;
} load_rows_t;

// Four rows of k elements, transposed.
XNN_INLINE void pack_four(load_rows_t load, const void *const *rows, uint32_t k,
                          float *to, size_t lines) {
    size_t i = 0;
    for (; i + 4 <= k; i += 4, to += 4 * lines) {
        const float32x4_t r0 = load.four(rows[0], i);
        const float32x4_t r1 = load.four(rows[1], i);
        const float32x4_t r2 = load.four(rows[2], i);
        const float32x4_t r3 = load.four(rows[3], i);
        const float32x4_t a0 = vzip1q_f32(r0, r2);
        const float32x4_t a1 = vzip2q_f32(r0, r2);
        const float32x4_t b0 = vzip1q_f32(r1, r3);
        const float32x4_t b1 = vzip2q_f32(r1, r3);
        vst1q_f32(to, vzip1q_f32(a0, b0));
        vst1q_f32(to + lines, vzip2q_f32(a0, b0));
        vst1q_f32(to + 2 * lines, vzip1q_f32(a1, b1));
        vst1q_f32(to + 3 * lines, vzip2q_f32(a1, b1));
    }
    for (; i < k; i++, to += lines) {
        for (uint32_t j = 0; j < 4; j++) {
            to[j] = load.one(rows[j], i);
        }
    }
}

// Rows of k elements in `lines` lines.
XNN_INLINE void pack_rows(load_rows_t load, const void *const *rows, uint32_t lines,
                          uint32_t k, float *to) {
    if (lines > 1) {
        for (uint32_t i = 0; i < lines; i += 4) {
            pack_four(load, rows + i, k, to + i, lines);
        }
        return;
    }
    size_t i = 0;
    for (; i + 4 <= k; i += 4) {
        vst1q_f32(to + i, load.four(rows[0], i));
    }
    for (; i < k; i++) {
        to[i] = load.one(rows[0], i);
    }
}

// --- columns of a matrix (k, n), or (n, k) ------------------------------------------

// Columns [first, first + 8) of rows of n elements, as far as they exist.
XNN_INLINE void pack_block(load_rows_t load, const uint8_t *from, uint32_t size,
                           const ember_xnn_geometry_t *geometry, uint32_t first,
                           float *to) {
    const size_t pitch = (size_t)geometry->n * size;
    const uint32_t left = geometry->n - first;
    for (uint32_t k = 0; k < geometry->k; k++, from += pitch, to += XNN_PANEL) {
        if (left >= XNN_PANEL) {
            vst1q_f32(to, load.four(from, first));
            vst1q_f32(to + 4, load.four(from, first + 4));
        } else {
            for (uint32_t j = 0; j < XNN_PANEL; j++) {
                to[j] = j < left ? load.one(from, first + j) : 0.0f;
            }
        }
    }
}

XNN_INLINE void pack_columns(load_rows_t load, uint32_t size,
                             const ember_xnn_geometry_t *geometry, const uint8_t *from,
                             float *to) {
    const uint32_t n = geometry->n;
    for (uint32_t j = 0; j < n; j += XNN_PANEL, to += (size_t)geometry->k * XNN_PANEL) {
        if (!geometry->transposed) {
            pack_block(load, from, size, geometry, j, to);
            continue;
        }
        const void *lines[XNN_PANEL];
        for (uint32_t i = 0; i < XNN_PANEL; i++) {
            const uint32_t line = j + i < n ? j + i : n - 1;
            lines[i] = from + (size_t)line * geometry->k * size;
        }
        pack_rows(load, lines, XNN_PANEL, geometry->k, to);
    }
}

// --- sums ----------------------------------------------------------------------------

// A step of weights: eight columns.
typedef struct columns {
    float32x4_t of[2];
} columns_t;

typedef columns_t (*load_columns_fn)(const void *w, size_t step);

// Sums of `fours` times four rows and a block of columns, begun with `start`.
XNN_INLINE void multiply_fours(load_columns_fn load, const float *a, const void *w,
                               uint32_t steps, const float *start, const uint32_t fours,
                               float *sums) {
    float32x4_t s[8][2];
    for (uint32_t i = 0; i < 4 * fours; i++) {
        s[i][0] = vld1q_f32(start);
        s[i][1] = vld1q_f32(start + 4);
    }
#pragma GCC unroll 4
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

XNN_INLINE float32x4_t add_lane(float32x4_t sum, float32x4_t w, float32x4_t x,
                                const uint32_t lane) {
    switch (lane) {
    case 0:
        return vfmaq_laneq_f32(sum, w, x, 0);
    case 1:
        return vfmaq_laneq_f32(sum, w, x, 1);
    case 2:
        return vfmaq_laneq_f32(sum, w, x, 2);
    default:
        return vfmaq_laneq_f32(sum, w, x, 3);
    }
}

// Sums of one row and `blocks` blocks of columns that lie `pitch` bytes apart.
XNN_INLINE void multiply_row(load_columns_fn load, const float *a, const uint8_t *w,
                             size_t pitch, uint32_t steps, const float *start,
                             const uint32_t blocks, float *sums) {
    float32x4_t s[2 * XNN_ROW_BLOCKS];
    for (uint32_t i = 0; i < 2 * blocks; i++) {
        s[i] = vld1q_f32(start + 4 * (size_t)i);
    }
    size_t k = 0;
    for (; k + 4 <= steps; k += 4) {
        const float32x4_t x = vld1q_f32(a + k);
#pragma GCC unroll 16
        for (uint32_t i = 0; i < 4 * blocks; i++) {
            const uint32_t lane = i / blocks, block = i % blocks;
            const columns_t c = load(w + block * pitch, k + lane);
            s[2 * block] = add_lane(s[2 * block], c.of[0], x, lane);
            s[2 * block + 1] = add_lane(s[2 * block + 1], c.of[1], x, lane);
        }
    }
    for (; k < steps; k++) {
#pragma GCC unroll 4
        for (uint32_t i = 0; i < blocks; i++) {
            const columns_t c = load(w + i * pitch, k);
            s[2 * i] = vfmaq_n_f32(s[2 * i], c.of[0], a[k]);
            s[2 * i + 1] = vfmaq_n_f32(s[2 * i + 1], c.of[1], a[k]);
        }
    }
    for (uint32_t i = 0; i < 2 * blocks; i++) {
        vst1q_f32(sums + 4 * (size_t)i, s[i]);
    }
}

// Sums (rows, XNN_PANEL) of a panel's rows and the block of columns at `w`.
XNN_INLINE void multiply(load_columns_fn load, const ember_xnn_panel_t *panel,
                         const void *w, const float *start, float *sums) {
    const float *a = (const float *)(const void *)panel->a;
    const uint32_t lines = xnn_panel_lines(panel->rows);
    if (lines == 8) {
        multiply_fours(load, a, w, panel->steps, start, 2, sums);
    } else if (lines == 4) {
        multiply_fours(load, a, w, panel->steps, start, 1, sums);
    } else {
        multiply_row(load, a, w, 0, panel->steps, start, 1, sums);
    }
}

// Columns of one row, while there are XNN_ROW_BLOCKS blocks; returns the first column
// left.
XNN_INLINE uint32_t multiply_blocks(load_columns_fn load,
                                    const ember_xnn_panel_t *panel, uint32_t at) {
    const float *a = (const float *)(const void *)panel->a;
    const float *start = (const float *)(const void *)panel->start + at;
    const size_t pitch = panel->block_bytes;
    uint32_t column = 0;
    while (xnn_panel_has_blocks(panel, column)) {
        float sums[XNN_ROW_BLOCKS * XNN_PANEL];
        multiply_row(load, a, panel->w + column / XNN_PANEL * pitch, pitch,
                     panel->steps, start + column, XNN_ROW_BLOCKS, sums);
        for (uint32_t i = 0; i < XNN_ROW_BLOCKS; i++, column += XNN_PANEL) {
            ember_xnn_panel_put_float(panel, sums + (size_t)i * XNN_PANEL, column);
        }
    }
    return column;
}

#endif // EMBER_XNNPACK_PANEL_FLOAT_H
