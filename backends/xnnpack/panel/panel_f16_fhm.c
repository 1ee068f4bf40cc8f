// SPDX-License-Identifier: Apache-2.0
// Panels of float16 by FMLAL, which adds products of float16 to float32 in one
// rounding: the bits of product_f16.c. Rows are read where they lie, eight elements at
// once.
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

// Up to eight elements of the rows.
XNN_INLINE void add_elements(const void *const *rows, size_t offset, const uint16_t *w,
                             uint32_t count, const uint32_t lines, sums_t *sums) {
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
        const float16x8_t columns = load(w + (size_t)k * XNN_PANEL);
#pragma GCC unroll 8
        for (uint32_t i = 0; i < lines; i++) {
            add_lane(sums->of[i], columns, x[i], k);
        }
    }
}

// Sums (lines, XNN_PANEL) of a block of columns, begun with `start`.
XNN_INLINE void multiply(const ember_xnn_panel_t *panel, const uint16_t *w,
                         const float *start, const uint32_t lines, float *to) {
    sums_t sums;
#pragma GCC unroll 8
    for (uint32_t i = 0; i < lines; i++) {
        sums.of[i][0] = vld1q_f32(start);
        sums.of[i][1] = vld1q_f32(start + 4);
    }
    size_t run = 0;
    for (uint32_t left = panel->runs; left > 0; left--, run += panel->pitch) {
        size_t offset = run;
        uint32_t k = panel->steps;
        for (; k >= LANES; k -= LANES, w += LANES * XNN_PANEL, offset += XNN_READ) {
            add_elements(panel->from, offset, w, LANES, lines, &sums);
        }
        if (k > 0) {
            add_elements(panel->from, offset, w, k, lines, &sums);
            w += (size_t)k * XNN_PANEL;
        }
    }
#pragma GCC unroll 8
    for (uint32_t i = 0; i < lines; i++, to += XNN_PANEL) {
        vst1q_f32(to, sums.of[i][0]);
        vst1q_f32(to + 4, sums.of[i][1]);
    }
}

static void block(const ember_xnn_panel_t *panel, const uint8_t *w, const void *start,
                  const float *scales, uint32_t column) {
    const uint32_t lines = xnn_panel_lines(panel->rows);
    const uint16_t *from = (const uint16_t *)(const void *)w;
    float sums[XNN_PANEL * XNN_PANEL];
    (void)scales;
    if (lines == 8) {
        multiply(panel, from, start, 8, sums);
    } else if (lines == 4) {
        multiply(panel, from, start, 4, sums);
    } else {
        multiply(panel, from, start, 1, sums);
    }
    ember_xnn_panel_put_float(panel, sums, column);
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
    }

static const ember_xnn_form_t of_f16 = FORM(&ember_xnn_columns_f16);
static const ember_xnn_form_t of_f32 = FORM(&ember_xnn_columns_f16_of_f32);

const ember_xnn_form_t *ember_xnn_panel_f16_fhm(const ember_xnn_node_t *node) {
    return node->in[1]->datatype == XNN_F32 ? &of_f32 : &of_f16;
}
