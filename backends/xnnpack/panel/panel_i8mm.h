// SPDX-License-Identifier: Apache-2.0
// Panels of int8 by SMMLA, which multiplies two rows by two columns, eight products
// each. Rows are interleaved in pairs: eight elements of one, eight of the other.
// Weights are int8, or four-bit weights scaled by 16.
#ifndef EMBER_XNNPACK_PANEL_I8MM_H
#define EMBER_XNNPACK_PANEL_I8MM_H

#include "backends/xnnpack/nodes/neon.h"
#include "panel.h"

enum { UNIT = 8, HEAD = 4 * XNN_PANEL };

void ember_xnn_panel_pack_i8mm(const ember_xnn_panel_t *panel, const void *const *rows,
                               uint32_t k);

// Two columns, and two, and so on.
typedef struct columns {
    int8x16_t of[4];
} columns_t;

// Of a panel's pairs of rows and eight columns: a vector has those of a pair and of two
// columns.
typedef struct tiles {
    int32x4_t of[4][4];
} tiles_t;

typedef columns_t (*load_fn)(const uint8_t *w, size_t step);

static inline columns_t load_s8(const uint8_t *w, size_t step) {
    const int8_t *from = (const int8_t *)w + step * UNIT * XNN_PANEL;
    return (columns_t){{vld1q_s8(from), vld1q_s8(from + 16), vld1q_s8(from + 32),
                        vld1q_s8(from + 48)}};
}

static inline columns_t load_s4(const uint8_t *w, size_t step) {
    const int8_t *from = (const int8_t *)w + step * UNIT * XNN_PANEL / 2;
    const int8x16_t x = vld1q_s8(from);
    const int8x16_t y = vld1q_s8(from + 16);
    const int8x16_t high = vdupq_n_s8(-16);
    return (columns_t){
        {vshlq_n_s8(x, 4), vshlq_n_s8(y, 4), vandq_s8(x, high), vandq_s8(y, high)}};
}

XNN_INLINE void add_products(load_fn load, const int8_t *a, const uint8_t *w,
                             uint32_t steps, const uint32_t pairs, tiles_t *tiles) {
    tiles_t s = *tiles;
#pragma GCC unroll 2
    for (size_t k = 0; k < steps; k++, a += 2 * UNIT * pairs) {
        const columns_t c = load(w, k);
        for (uint32_t i = 0; i < pairs; i++) {
            const int8x16_t x = vld1q_s8(a + 2 * UNIT * i);
            for (uint32_t j = 0; j < 4; j++) {
                s.of[i][j] = vmmlaq_s32(s.of[i][j], x, c.of[j]);
            }
        }
    }
    *tiles = s;
}

// Sums of whole columns, begun with `start`.
XNN_INLINE void multiply_pairs(load_fn load, const ember_xnn_panel_t *panel,
                               const uint8_t *w, const int32_t *start,
                               const uint32_t pairs, tiles_t *tiles) {
    for (uint32_t j = 0; j < 4; j++) {
        const int32x2_t two = vld1_s32(start + 2 * j);
        for (uint32_t i = 0; i < pairs; i++) {
            tiles->of[i][j] = vcombine_s32(two, two);
        }
    }
    add_products(load, (const int8_t *)panel->a, w, panel->steps, pairs, tiles);
}

XNN_INLINE void multiply_some(load_fn load, const ember_xnn_panel_t *panel,
                              const uint8_t *w, const int32_t *start, tiles_t *tiles) {
    const uint32_t pairs = xnn_panel_pairs(panel->rows);
    if (pairs == 4) {
        multiply_pairs(load, panel, w, start, 4, tiles);
    } else if (pairs == 2) {
        multiply_pairs(load, panel, w, start, 2, tiles);
    } else {
        multiply_pairs(load, panel, w, start, 1, tiles);
    }
}

// Separates vectors of pairs into rows: (rows, XNN_PANEL).
XNN_INLINE void store(const tiles_t *tiles, const uint32_t pairs, int32_t *sums) {
    for (uint32_t i = 0; i < pairs; i++, sums += 2 * XNN_PANEL) {
        for (uint32_t j = 0; j < 2; j++) {
            const int64x2_t x = vreinterpretq_s64_s32(tiles->of[i][2 * j]);
            const int64x2_t y = vreinterpretq_s64_s32(tiles->of[i][2 * j + 1]);
            vst1q_s32(sums + 4 * j, vreinterpretq_s32_s64(vzip1q_s64(x, y)));
            vst1q_s32(sums + XNN_PANEL + 4 * j,
                      vreinterpretq_s32_s64(vzip2q_s64(x, y)));
        }
    }
}

#endif // EMBER_XNNPACK_PANEL_I8MM_H
