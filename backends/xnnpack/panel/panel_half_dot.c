// SPDX-License-Identifier: Apache-2.0
// Weights of four bits with scales per group, to float16, by SDOT: four sums of a row
// and a column (numbers.h). Of four elements that an SDOT adds, two are set to zero.
#include "panel_dot.h"

enum { LINES = XNN_PANEL / 2, SUMS = XNN_GROUP_SUMS };

// Of rows, by eight columns.
typedef struct four {
    float of[LINES][SUMS][XNN_PANEL];
} four_t;

// Two elements of four, and from the third vector on the other two.
static const int8_t pairs[] = {-1, -1, 0, 0,  -1, -1, 0, 0,  -1,
                               -1, 0,  0, -1, -1, 0,  0, -1, -1};

// Every other step of sixteen elements of rows, from step `first` on: the first two
// elements of each go to one half of a row, the last two to the other.
XNN_INLINE void add_half(const rows_t *rows, size_t offset, const uint8_t *w,
                         const uint32_t first, const uint32_t lines, sums_t *sums) {
    const int8x16_t upper = vld1q_s8(pairs), lower = vld1q_s8(pairs + 2);
    int8x16_t x[XNN_PANEL];
#pragma GCC unroll 4
    for (uint32_t i = 0; i < lines; i++) {
        const int8x16_t all = vld1q_s8(rows->of[i] + offset);
        x[2 * i] = vandq_s8(all, upper);
        x[2 * i + 1] = vandq_s8(all, lower);
    }
#pragma GCC unroll 2
    for (uint32_t step = first; step < 4; step += 2) {
        const columns_t c = load(w + step * step_bytes(4), 4);
#pragma GCC unroll 8
        for (uint32_t i = 0; i < 2 * lines; i++) {
            sums->of[i][0] = dot(sums->of[i][0], c.of[0], x[i], step);
            sums->of[i][1] = dot(sums->of[i][1], c.of[1], x[i], step);
        }
    }
}

// A group of `steps` steps: its sums from sum 2 * first on, times its scales.
XNN_INLINE void add_group(const rows_t *rows, size_t offset, const uint8_t *w,
                          uint32_t steps, const uint32_t first, const uint32_t lines,
                          four_t *four) {
    const float *scales = (const float *)(const void *)(w + HEAD);
    const float32x4_t s0 = vld1q_f32(scales), s1 = vld1q_f32(scales + 4);
    sums_t sums;
    for (uint32_t i = 0; i < 2 * lines; i++) {
        sums.of[i][0] = vdupq_n_s32(0);
        sums.of[i][1] = vdupq_n_s32(0);
    }
    w += 2 * HEAD;
    for (; steps > 0; steps -= 4, offset += XNN_READ, w += 4 * step_bytes(4)) {
        add_half(rows, offset, w, first, lines, &sums);
    }
    for (uint32_t i = 0; i < 2 * lines; i++) {
        float *to = four->of[i / 2][2 * first + i % 2];
        const float32x4_t x0 = vcvtq_n_f32_s32(sums.of[i][0], 4);
        const float32x4_t x1 = vcvtq_n_f32_s32(sums.of[i][1], 4);
        vst1q_f32(to, vfmaq_f32(vld1q_f32(to), x0, s0));
        vst1q_f32(to + 4, vfmaq_f32(vld1q_f32(to + 4), x1, s1));
    }
}

XNN_INLINE void add_groups(const ember_xnn_panel_t *panel, uint32_t row,
                           const uint8_t *w, const uint32_t lines, four_t *four) {
    const rows_t rows = rows_of(panel, row, lines);
    const uint32_t block = panel->block;
    const size_t bytes = 2 * HEAD + (size_t)block * UNIT * XNN_PANEL / 2;
    for (uint32_t k = 0; k < panel->steps; k += block, w += bytes) {
        add_group(&rows, (size_t)k * UNIT, w, block, 0, lines, four);
        add_group(&rows, (size_t)k * UNIT, w, block, 1, lines, four);
    }
}

// Rows of the panel from `row` on, at most LINES, by columns that begin at `w`.
static void add_rows(const ember_xnn_panel_t *panel, uint32_t row, const uint8_t *w,
                     float *to) {
    const float *starts = (const float *)(const void *)w;
    const uint32_t left = panel->rows - row;
    const uint32_t rows = left < LINES ? left : LINES;
    four_t four = {0};
    for (uint32_t i = 0; i < rows; i++) {
        const float zero = xnn_group_zero(xnn_panel_row(panel, row + i), true);
        for (uint32_t j = 0; j < XNN_PANEL; j++) {
            four.of[i][0][j] = zero * starts[j];
        }
    }
    if (rows > 1) {
        add_groups(panel, row, w + HEAD, LINES, &four);
    } else {
        add_groups(panel, row, w + HEAD, 1, &four);
    }
    for (uint32_t i = 0; i < rows; i++, to += XNN_PANEL) {
        for (uint32_t j = 0; j < XNN_PANEL; j++) {
            to[j] = (four.of[i][0][j] + four.of[i][1][j]) +
                    (four.of[i][2][j] + four.of[i][3][j]);
        }
    }
}

static void block(const ember_xnn_panel_t *panel, const uint8_t *w, const void *start,
                  const float *scales, uint32_t column) {
    float sums[XNN_PANEL * XNN_PANEL];
    (void)scales;
    for (uint32_t row = 0; row < panel->rows; row += LINES) {
        add_rows(panel, row, w, sums + row * XNN_PANEL);
    }
    ember_xnn_panel_put_half(panel, sums, start, column);
}

const ember_xnn_form_t ember_xnn_form_qd8_qb4_half =
    XNN_FORM_INT8(ember_xnn_columns_qb4, ember_xnn_type_qd8_qb4, UNIT,
                  ember_xnn_panel_begin_qd8, NULL, block, NULL, NULL);
