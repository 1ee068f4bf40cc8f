// SPDX-License-Identifier: Apache-2.0
// Panels of dynamically quantised int8, by SDOT.
#include "panel_dot.h"

// --- whole columns -------------------------------------------------------------------

static const int32_t zeros[XNN_ROW_BLOCKS * XNN_PANEL];

static void block_qc8(const ember_xnn_panel_t *panel, const uint8_t *w,
                      const void *start, const float *scales, uint32_t column) {
    int32_t sums[XNN_PANEL * XNN_PANEL];
    multiply(panel, w + HEAD, 8, zeros, sums);
    ember_xnn_panel_put_qc8(panel, sums, (const void *)w, start, scales, column);
}

static void block_qc4(const ember_xnn_panel_t *panel, const uint8_t *w,
                      const void *start, const float *scales, uint32_t column) {
    int32_t sums[XNN_PANEL * XNN_PANEL];
    multiply(panel, w + HEAD, 4, zeros, sums);
    ember_xnn_panel_put_qc4(panel, sums, (const void *)w, start, scales, column);
}

// Columns of one row, while there are XNN_ROW_BLOCKS blocks; returns the first column
// left.
static uint32_t row_qc8(const ember_xnn_panel_t *panel, uint32_t at) {
    const float *bias = (const float *)(const void *)panel->start + at;
    const float *scales = panel->scales + at;
    const rows_t rows = rows_of(panel, 0, 1);
    const uint8_t *w = panel->w;
    uint32_t column = 0;
    while (xnn_panel_has_blocks(panel, column)) {
        const weights_t weights = {w + HEAD, panel->block_bytes, 8};
        const sums_t sums =
            multiply_lines(panel, &rows, weights, zeros, 1, XNN_ROW_BLOCKS);
        int32_t block[XNN_ROW_BLOCKS][XNN_PANEL];
        for (uint32_t i = 0; i < XNN_ROW_BLOCKS; i++) {
            vst1q_s32(block[i], sums.of[i][0]);
            vst1q_s32(block[i] + 4, sums.of[i][1]);
        }
        for (uint32_t i = 0; i < XNN_ROW_BLOCKS; i++, w += panel->block_bytes) {
            ember_xnn_panel_put_qc8(panel, block[i], (const void *)w, bias + column,
                                    scales + column, column);
            column += XNN_PANEL;
        }
    }
    return column;
}

// --- groups of elements --------------------------------------------------------------

// Adds the sums of a group, times its scales, to those of the groups before.
XNN_INLINE void add_group(const rows_t *rows, size_t offset, const uint8_t *w,
                          uint32_t steps, const uint32_t lines, float *to) {
    const int32_t *own = (const int32_t *)(const void *)w;
    const float *scales = (const float *)(const void *)(w + HEAD);
    const int32x4_t o0 = vshlq_n_s32(vld1q_s32(own), 7); // times 128
    const int32x4_t o1 = vshlq_n_s32(vld1q_s32(own + 4), 7);
    sums_t sums;
    for (uint32_t i = 0; i < lines; i++) {
        sums.of[i][0] = o0;
        sums.of[i][1] = o1;
    }
    const weights_t weights = {w + 2 * HEAD, 0, 4};
    add_products(rows, offset, weights, steps, lines, 1, &sums);
    const float32x4_t s0 = vld1q_f32(scales), s1 = vld1q_f32(scales + 4);
    for (uint32_t i = 0; i < lines; i++, to += XNN_PANEL) {
        const float32x4_t x0 = vcvtq_n_f32_s32(sums.of[i][0], 4);
        const float32x4_t x1 = vcvtq_n_f32_s32(sums.of[i][1], 4);
        vst1q_f32(to, vfmaq_f32(vld1q_f32(to), x0, s0));
        vst1q_f32(to + 4, vfmaq_f32(vld1q_f32(to + 4), x1, s1));
    }
}

XNN_INLINE void add_groups(const ember_xnn_panel_t *panel, const uint8_t *w,
                           const uint32_t lines, float *to) {
    const rows_t rows = rows_of(panel, 0, lines);
    const uint32_t block = panel->block;
    const size_t bytes = 2 * HEAD + (size_t)block * UNIT * XNN_PANEL / 2;
    for (uint32_t k = 0; k < panel->steps; k += block, w += bytes) {
        add_group(&rows, (size_t)k * UNIT, w, block, lines, to);
    }
}

static void block_qb4(const ember_xnn_panel_t *panel, const uint8_t *w,
                      const void *start, const float *scales, uint32_t column) {
    const uint32_t lines = xnn_panel_lines(panel->rows);
    const float *starts = (const float *)(const void *)w;
    float sums[XNN_PANEL * XNN_PANEL] = {0.0f};
    (void)scales;
    for (uint32_t i = 0; i < panel->rows; i++) {
        const float zero = xnn_group_zero(xnn_panel_row(panel, i), false);
        for (uint32_t j = 0; j < XNN_PANEL; j++) {
            sums[i * XNN_PANEL + j] = zero * starts[j];
        }
    }
    if (lines == 8) {
        add_groups(panel, w + HEAD, 8, sums);
    } else if (lines == 4) {
        add_groups(panel, w + HEAD, 4, sums);
    } else {
        add_groups(panel, w + HEAD, 1, sums);
    }
    ember_xnn_panel_put_qb4(panel, sums, start, column);
}

const ember_xnn_form_t ember_xnn_form_qd8_qc8_dot =
    XNN_FORM_INT8(ember_xnn_columns_s8, ember_xnn_type_qd8, UNIT,
                  ember_xnn_panel_begin_qd8, NULL, block_qc8, NULL, row_qc8);
const ember_xnn_form_t ember_xnn_form_qd8_qc4_dot =
    XNN_FORM_INT8(ember_xnn_columns_qc4, ember_xnn_type_qd8_qc4, UNIT,
                  ember_xnn_panel_begin_qd8, NULL, block_qc4, NULL, NULL);
const ember_xnn_form_t ember_xnn_form_qd8_qb4_dot =
    XNN_FORM_INT8(ember_xnn_columns_qb4, ember_xnn_type_qd8_qb4, UNIT,
                  ember_xnn_panel_begin_qd8, NULL, block_qb4, NULL, NULL);
