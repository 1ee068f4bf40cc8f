// SPDX-License-Identifier: Apache-2.0
// Panels of static int8 by SDOT.
#include "panel_dot.h"

// Sums of eight rows of static int8 become their numbers.
XNN_INLINE void put_whole(const ember_xnn_panel_t *panel, const sums_t *sums,
                          const float *scales, uint32_t column) {
    const xnn_neon_round_t round = xnn_neon_round(scales, &panel->range);
    int8_t *y = (int8_t *)panel->node->out[0]->data + panel->y + column;
#pragma GCC unroll 4
    for (uint32_t i = 0; i < XNN_PANEL; i += 2) {
        const int16x8_t x = xnn_neon_rounded(sums->of[i][0], sums->of[i][1], &round);
        const int16x8_t z =
            xnn_neon_rounded(sums->of[i + 1][0], sums->of[i + 1][1], &round);
        int8x16_t out = vqmovn_high_s16(vqmovn_s16(x), z);
        out = vminq_s8(vmaxq_s8(out, round.low), round.high);
        vst1_s8(y, vget_low_s8(out));
        vst1_s8(y + panel->y_step, vget_high_s8(out));
        y += 2 * panel->y_step;
    }
}

static uint32_t whole(const ember_xnn_panel_t *panel, uint32_t at) {
    const int32_t *start = (const int32_t *)(const void *)panel->start + at;
    const uint8_t *w = panel->w + HEAD;
    uint32_t column = 0;
    if (panel->rows == XNN_PANEL) {
        for (; column + XNN_PANEL <= panel->n; column += XNN_PANEL) {
            sums_t sums;
            begin_lines(start + column, XNN_PANEL, &sums);
            add_products(load_s8, (const int8_t *)panel->a, w, panel->steps, XNN_PANEL,
                         &sums);
            put_whole(panel, &sums, panel->scales + at + column, column);
            w += panel->block_bytes;
        }
    }
    return column;
}

static void block(const ember_xnn_panel_t *panel, const uint8_t *w, const void *start,
                  const float *scales, uint32_t column) {
    int32_t sums[XNN_PANEL * XNN_PANEL];
    multiply(load_s8, panel, w + HEAD, start, sums);
    ember_xnn_panel_put_qs8(panel, sums, scales, column);
}

const ember_xnn_form_t ember_xnn_form_qs8_dot =
    XNN_FORM_INT8(ember_xnn_columns_s8, ember_xnn_panel_qs8, UNIT,
                  ember_xnn_panel_begin_qs8, ember_xnn_panel_pack_dot, block, whole);
