// SPDX-License-Identifier: Apache-2.0
// Panels of static int8 by SMMLA.
#include "panel_i8mm.h"

// How sums of a pair of rows become results.
typedef struct round {
    float32x4_t scales[4];
    int16x8_t zero;
    int8x16_t low;
    int8x16_t high;
    uint8x16_t upper_first; // separates pairs of columns into two rows
} round_t;

static inline round_t round_of(const ember_xnn_range_t *range) {
    static const uint8_t order[] = {0, 1, 4, 5, 8,  9,  12, 13,
                                    2, 3, 6, 7, 10, 11, 14, 15};
    return (round_t){
        .zero = vdupq_n_s16((int16_t)range->zero),
        .low = vdupq_n_s8((int8_t)((int32_t)range->low + range->zero)),
        .high = vdupq_n_s8((int8_t)((int32_t)range->high + range->zero)),
        .upper_first = vld1q_u8(order),
    };
}

static inline int32x4_t rounded(int32x4_t sums, float32x4_t scales) {
    return vcvtnq_s32_f32(vmulq_f32(vcvtq_f32_s32(sums), scales));
}

// A pair's sums become the results of its upper row, then those of its lower row.
static inline int8x16_t round_pair(const int32x4_t *s, const round_t *round) {
    const float32x4_t *scales = round->scales;
    const int16x8_t left =
        vqmovn_high_s32(vqmovn_s32(rounded(s[0], scales[0])), rounded(s[1], scales[1]));
    const int16x8_t right =
        vqmovn_high_s32(vqmovn_s32(rounded(s[2], scales[2])), rounded(s[3], scales[3]));
    const int8x16_t mixed = vqmovn_high_s16(vqmovn_s16(vqaddq_s16(left, round->zero)),
                                            vqaddq_s16(right, round->zero));
    return vqtbl1q_s8(vminq_s8(vmaxq_s8(mixed, round->low), round->high),
                      round->upper_first);
}

// Rows are 8, 4, 3, 2 or 1: all of their pairs, and at least the upper row of the last
// pair.
XNN_INLINE void put(const ember_xnn_panel_t *panel, const tiles_t *tiles,
                    const round_t *round, const uint32_t pairs, int8_t *y) {
#pragma GCC unroll 4
    for (uint32_t i = 0; i < pairs; i++, y += 2 * panel->y_step) {
        const int8x16_t out = round_pair(tiles->of[i], round);
        vst1_s8(y, vget_low_s8(out));
        if (pairs == 4 || 2 * i + 1 < panel->rows) {
            vst1_s8(y + panel->y_step, vget_high_s8(out));
        }
    }
}

XNN_INLINE uint32_t put_blocks(const ember_xnn_panel_t *panel, uint32_t at,
                               const uint32_t pairs) {
    const uint8_t *w = panel->w + HEAD;
    const int32_t *start = (const int32_t *)(const void *)panel->start + at;
    const float *scales = panel->scales + at;
    int8_t *y = (int8_t *)panel->node->out[0]->data + panel->y;
    round_t round = round_of(&panel->range);
    uint32_t column = 0;
    for (; column + XNN_PANEL <= panel->n; column += XNN_PANEL) {
        tiles_t tiles;
        multiply_pairs(load_s8, panel, w, start + column, pairs, &tiles);
        for (uint32_t j = 0; j < 4; j++) {
            const float32x2_t two = vld1_f32(scales + column + 2 * j);
            round.scales[j] = vcombine_f32(two, two);
        }
        put(panel, &tiles, &round, pairs, y + column);
        w += panel->block_bytes;
    }
    return column;
}

static uint32_t whole(const ember_xnn_panel_t *panel, uint32_t at) {
    if (panel->rows == 8) {
        return put_blocks(panel, at, 4);
    }
    if (panel->rows > 4) {
        return 0;
    }
    return panel->rows > 2 ? put_blocks(panel, at, 2) : put_blocks(panel, at, 1);
}

static void block(const ember_xnn_panel_t *panel, const uint8_t *w, const void *start,
                  const float *scales, uint32_t column) {
    int32_t sums[XNN_PANEL * XNN_PANEL];
    tiles_t tiles;
    multiply_some(load_s8, panel, w + HEAD, start, &tiles);
    store(&tiles, xnn_panel_pairs(panel->rows), sums);
    ember_xnn_panel_put_qs8(panel, sums, scales, column);
}

const ember_xnn_form_t ember_xnn_form_qs8_i8mm = XNN_FORM_INT8(
    ember_xnn_columns_s8, ember_xnn_panel_qs8, UNIT, ember_xnn_panel_begin_qs8,
    ember_xnn_panel_pack_i8mm, block, whole, NULL);
