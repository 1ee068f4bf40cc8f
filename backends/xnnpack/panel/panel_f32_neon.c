// SPDX-License-Identifier: Apache-2.0
// Panels of float32.
#include "backends/xnnpack/nodes/neon.h"
#include "panel_float.h"

static float32x4_t load_four(const void *row, size_t at) {
    return vld1q_f32((const float *)row + at);
}

static float load_element(const void *row, size_t at) {
    return ((const float *)row)[at];
}

static void pack(const ember_xnn_panel_t *panel, const void *const *rows, uint32_t k) {
    const load_rows_t load = {load_four, load_element};
    pack_rows(load, rows, xnn_panel_lines(panel->rows), k, (float *)(void *)panel->a);
}

static void columns(const ember_xnn_geometry_t *geometry, const void *from, float *to) {
    pack_columns((load_rows_t){load_four, load_element}, 4, geometry, from, to);
}

XNN_INLINE columns_t load_columns(const void *w, size_t step) {
    const float *from = (const float *)w + step * XNN_PANEL;
    return (columns_t){{vld1q_f32(from), vld1q_f32(from + 4)}};
}

void ember_xnn_panel_block_f32(const ember_xnn_panel_t *panel, const uint8_t *w,
                               const void *start, const float *scales,
                               uint32_t column) {
    float sums[XNN_PANEL * XNN_PANEL];
    (void)scales;
    multiply(load_columns, panel, w, start, sums);
    ember_xnn_panel_put_float(panel, sums, column);
}

uint32_t ember_xnn_panel_row_f32(const ember_xnn_panel_t *panel, uint32_t at) {
    return multiply_blocks(load_columns, panel, at);
}

// Sums of a row and `vectors` vectors of columns of a matrix in place, with rows of n:
// those of multiply_row().
XNN_INLINE void multiply_apart(const float *a, const float *b, size_t n, uint32_t k,
                               const float *start, const uint32_t vectors,
                               float *sums) {
    float32x4_t s[2 * XNN_ROW_BLOCKS];
    for (uint32_t i = 0; i < vectors; i++) {
        s[i] = vld1q_f32(start + 4 * (size_t)i);
    }
    for (; k >= 4; k -= 4, a += 4) {
        const float32x4_t x = vld1q_f32(a);
#pragma GCC unroll 4
        for (uint32_t lane = 0; lane < 4; lane++, b += n) {
            for (uint32_t i = 0; i < vectors; i++) {
                s[i] = add_lane(s[i], vld1q_f32(b + 4 * (size_t)i), x, lane);
            }
        }
    }
    for (; k > 0; k--, a++, b += n) {
        for (uint32_t i = 0; i < vectors; i++) {
            s[i] = vfmaq_n_f32(s[i], vld1q_f32(b + 4 * (size_t)i), *a);
        }
    }
    for (uint32_t i = 0; i < vectors; i++) {
        vst1q_f32(sums + 4 * (size_t)i, s[i]);
    }
}

// If the last block is not full, it is computed together with columns of the one
// before.
static void row_as_it_lies(const ember_xnn_panel_t *panel, const void *row,
                           const void *matrix) {
    enum { WIDE = XNN_ROW_BLOCKS * XNN_PANEL };
    const float *b = matrix, *start = (const float *)(const void *)panel->start;
    const uint32_t n = panel->n;
    float sums[WIDE];
    uint32_t column = 0;
    for (; column + WIDE <= n; column += WIDE) {
        multiply_apart(row, b + column, n, panel->steps, start + column,
                       2 * XNN_ROW_BLOCKS, sums);
        for (uint32_t i = 0; i < WIDE; i += XNN_PANEL) {
            ember_xnn_panel_put_float(panel, sums + i, column + i);
        }
    }
    for (; column < n; column += XNN_PANEL) {
        const uint32_t at = column + XNN_PANEL <= n ? column : n - XNN_PANEL;
        multiply_apart(row, b + at, n, panel->steps, start + at, 2, sums);
        ember_xnn_panel_put_float(panel, sums, at);
    }
}

const ember_xnn_form_t ember_xnn_form_f32_neon = {
    .layout = &ember_xnn_columns_f32,
    .type = &ember_xnn_type_f32,
    .unit = 1,
    .size = 4,
    .wide = 4,
    .begin = ember_xnn_panel_begin_float,
    .pack = pack,
    .columns = columns,
    .as_it_lies = row_as_it_lies,
    .block = ember_xnn_panel_block_f32,
    .row = ember_xnn_panel_row_f32,
};
