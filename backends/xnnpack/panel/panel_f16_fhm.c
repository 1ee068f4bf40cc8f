// SPDX-License-Identifier: Apache-2.0
// Panels of float16 by FMLAL, which adds products of float16 to float32 in one
// rounding: the bits of product_f16.c. Rows are read in place, eight elements at once.
#include "backends/xnnpack/nodes/neon.h"
#include "panel.h"

enum { LANES = XNN_READ / 2 };

// Of a panel's rows and eight columns.
typedef struct sums {
    float32x4_t of[XNN_PANEL][2];
} sums_t;

static inline float16x8_t load(const void *from) {
    return vreinterpretq_f16_u16(vld1q_u16(from));
}

#define ADD_LANE(LANE)                                                                 \
    case LANE:                                                                         \
        sum[0] = vfmlalq_laneq_low_f16(sum[0], w, x, LANE);                            \
        sum[1] = vfmlalq_laneq_high_f16(sum[1], w, x, LANE);                           \
        break

// Products of eight columns and one element of a row.
XNN_INLINE void add_lane(float32x4_t *sum, float16x8_t w, float16x8_t x,
                         const uint32_t lane) {
    switch (lane) {
        ADD_LANE(0);
        ADD_LANE(1);
        ADD_LANE(2);
        ADD_LANE(3);
        ADD_LANE(4);
        ADD_LANE(5);
        ADD_LANE(6);
        ADD_LANE(7);
    default:
        break;
    }
}

// A row's blocks of columns are adjacent.
typedef struct weights {
    const uint16_t *at;
    size_t pitch; // from block to block, elements
} weights_t;

// Up to eight elements of the rows.
XNN_INLINE void add_elements(const void *const *rows, size_t offset, weights_t w,
                             uint32_t count, const uint32_t lines,
                             const uint32_t blocks, sums_t *sums) {
    float16x8_t x[XNN_PANEL];
#pragma GCC unroll 8
    for (uint32_t i = 0; i < lines; i++) {
        x[i] = load((const uint8_t *)rows[i] + offset);
    }
#pragma GCC unroll 8
    for (uint32_t k = 0; k < LANES; k++) {
        if (k >= count) {
            return;
        }
#pragma GCC unroll 4
        for (uint32_t j = 0; j < blocks; j++) {
            const float16x8_t columns = load(w.at + j * w.pitch + k * XNN_PANEL);
#pragma GCC unroll 8
            for (uint32_t i = 0; i < lines; i++) {
                add_lane(sums->of[i * blocks + j], columns, x[i], k);
            }
        }
    }
}

// Sums (lines, blocks, XNN_PANEL) of blocks of columns, begun with `start`.
XNN_INLINE void multiply(const ember_xnn_panel_t *panel, weights_t w,
                         const float *start, const uint32_t lines,
                         const uint32_t blocks, float *to) {
    sums_t sums;
#pragma GCC unroll 8
    for (uint32_t i = 0; i < lines * blocks; i++) {
        sums.of[i][0] = vld1q_f32(start + i % blocks * XNN_PANEL);
        sums.of[i][1] = vld1q_f32(start + i % blocks * XNN_PANEL + 4);
    }
    size_t run = 0;
    for (uint32_t left = panel->runs; left > 0; left--, run += panel->pitch) {
        size_t offset = run;
        uint32_t k = panel->steps;
        for (; k >= LANES; k -= LANES, offset += XNN_READ) {
            add_elements(panel->from, offset, w, LANES, lines, blocks, &sums);
            w.at += LANES * XNN_PANEL;
        }
        if (k > 0) {
            add_elements(panel->from, offset, w, k, lines, blocks, &sums);
            w.at += (size_t)k * XNN_PANEL;
        }
    }
#pragma GCC unroll 8
    for (uint32_t i = 0; i < lines * blocks; i++, to += XNN_PANEL) {
        vst1q_f32(to, sums.of[i][0]);
        vst1q_f32(to + 4, sums.of[i][1]);
    }
}

static void block(const ember_xnn_panel_t *panel, const uint8_t *w, const void *start,
                  const float *scales, uint32_t column) {
    const uint32_t lines = xnn_panel_lines(panel->rows);
    const weights_t from = {(const uint16_t *)(const void *)w, 0};
    float sums[XNN_PANEL * XNN_PANEL];
    (void)scales;
    if (lines == 8) {
        multiply(panel, from, start, 8, 1, sums);
    } else if (lines == 4) {
        multiply(panel, from, start, 4, 1, sums);
    } else {
        multiply(panel, from, start, 1, 1, sums);
    }
    ember_xnn_panel_put_float(panel, sums, column);
}

// Columns of one row, while there are XNN_ROW_BLOCKS blocks; returns the first column
// left.
static uint32_t row(const ember_xnn_panel_t *panel, uint32_t at) {
    const float *start = (const float *)(const void *)panel->start + at;
    const size_t pitch = panel->block_bytes / sizeof(uint16_t);
    const uint16_t *from = (const uint16_t *)(const void *)panel->w;
    uint32_t column = 0;
    while (xnn_panel_has_blocks(panel, column)) {
        float sums[XNN_ROW_BLOCKS * XNN_PANEL];
        const weights_t w = {from + column / XNN_PANEL * pitch, pitch};
        multiply(panel, w, start + column, 1, XNN_ROW_BLOCKS, sums);
        for (uint32_t i = 0; i < XNN_ROW_BLOCKS; i++, column += XNN_PANEL) {
            ember_xnn_panel_put_float(panel, sums + (size_t)i * XNN_PANEL, column);
        }
    }
    return column;
}

#define FORM(LAYOUT)                                                                   \
    {                                                                                  \
        .layout = (LAYOUT),                                                            \
        .type = &ember_xnn_type_f16,                                                   \
        .unit = 1,                                                                     \
        .size = 2,                                                                     \
        .wide = 2,                                                                     \
        .begin = ember_xnn_panel_begin_float,                                          \
        .block = block,                                                                \
        .row = row,                                                                    \
    }

static const ember_xnn_form_t of_f16 = FORM(&ember_xnn_columns_f16);
static const ember_xnn_form_t of_f32 = FORM(&ember_xnn_columns_f16_of_f32);

const ember_xnn_form_t *ember_xnn_panel_f16_fhm(const ember_xnn_node_t *node) {
    return node->in[1]->datatype == XNN_F32 ? &of_f32 : &of_f16;
}
