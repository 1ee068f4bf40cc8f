// SPDX-License-Identifier: Apache-2.0
// Panels of static int8 by SMMLA.
#include "panel_i8mm.h"

// A pair's sums become the numbers of its upper row, then those of its lower row.
static inline int8x16_t round_pair(const int32x4_t *s, const float32x4_t *scales,
                                   int16x8_t zero) {
    int16x4_t x[4];
    for (uint32_t j = 0; j < 4; j++) {
        x[j] = vqmovn_s32(vcvtnq_s32_f32(vmulq_f32(vcvtq_f32_s32(s[j]), scales[j])));
    }
    const int16x8_t left = vqaddq_s16(vcombine_s16(x[0], x[1]), zero);
    const int16x8_t right = vqaddq_s16(vcombine_s16(x[2], x[3]), zero);
    const int16x8_t mixed =
        vreinterpretq_s16_s8(vqmovn_high_s16(vqmovn_s16(left), right));
    return vreinterpretq_s8_s16(vcombine_s16(vget_low_s16(vuzp1q_s16(mixed, mixed)),
                                             vget_low_s16(vuzp2q_s16(mixed, mixed))));
}

static inline __attribute__((always_inline)) void
finish(const ember_xnn_panel_t *panel, const tiles_t *tiles, const float *from,
       const uint32_t pairs, int8_t *y) {
    const ember_xnn_range_t *range = &panel->range;
    const int16x8_t zero = vdupq_n_s16((int16_t)range->zero);
    const int8x16_t low = vdupq_n_s8((int8_t)((int32_t)range->low + range->zero));
    const int8x16_t high = vdupq_n_s8((int8_t)((int32_t)range->high + range->zero));
    float32x4_t scales[4];
    for (uint32_t j = 0; j < 4; j++) {
        const float32x2_t two = vld1_f32(from + 2 * j);
        scales[j] = vcombine_f32(two, two);
    }
    uint32_t rows = panel->rows;
    for (uint32_t i = 0; i < pairs; i++, y += 2 * panel->y_step) {
        int8x16_t out = round_pair(tiles->of[i], scales, zero);
        out = vminq_s8(vmaxq_s8(out, low), high);
        vst1_s8(y, vget_low_s8(out));
        if (2 * i + 1 < rows) {
            vst1_s8(y + panel->y_step, vget_high_s8(out));
        }
    }
}

// Rows are 8, 4, 3, 2 or 1 here: all of their pairs, and of the last one at least the
// upper row.
XNN_INLINE void whole(const ember_xnn_panel_t *panel, const uint8_t *w,
                      const void *start, const float *scales, const uint32_t pairs,
                      uint32_t column) {
    int8_t *y = (int8_t *)panel->node->out[0]->data + panel->y + column;
    tiles_t tiles;
    multiply_pairs(load_s8, panel, w + HEAD, start, pairs, &tiles);
    finish(panel, &tiles, scales, pairs, y);
}

static void block(const ember_xnn_panel_t *panel, const uint8_t *w, const void *start,
                  const float *scales, uint32_t column) {
    const bool all = panel->n - column >= XNN_PANEL;
    if (all && panel->rows == 8) {
        whole(panel, w, start, scales, 4, column);
    } else if (all && (panel->rows == 3 || panel->rows == 4)) {
        whole(panel, w, start, scales, 2, column);
    } else if (all && panel->rows <= 2) {
        whole(panel, w, start, scales, 1, column);
    } else {
        int32_t sums[XNN_PANEL * XNN_PANEL];
        tiles_t tiles;
        multiply_some(load_s8, panel, w + HEAD, start, &tiles);
        store(&tiles, pairs_of(panel->rows), sums);
        ember_xnn_panel_put_qs8(panel, sums, scales, column);
    }
}

const ember_xnn_form_t ember_xnn_form_qs8_i8mm = XNN_FORM_I8MM(
    ember_xnn_columns_s8, ember_xnn_panel_qs8, ember_xnn_panel_begin_qs8, block);
