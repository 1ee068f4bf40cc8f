// SPDX-License-Identifier: Apache-2.0
// What panels of static int8 begin and end with. Numbers as in product_s8.c.
#include "panel.h"

#include <arm_neon.h>

ember_status_t ember_xnn_panel_check_qs8(ember_xnn_graph_t *graph,
                                         ember_xnn_node_t *node) {
    (void)graph;
    const uint32_t columns = (uint32_t)xnn_size(node->out[0], 0);
    if (!ember_xnn_qs8_fits(node, columns)) {
        return EMBER_UNSUPPORTED;
    }
    // Rounding by fcvtns has no bound for NaN.
    for (uint32_t i = 0; i < columns; i++) {
        if (!xnn_is_scale(ember_xnn_qs8_scale(node, i))) {
            return EMBER_UNSUPPORTED;
        }
    }
    return EMBER_OK;
}

void ember_xnn_panel_begin_qs8(const ember_xnn_panel_t *panel, uint32_t first,
                               void *start, float *scales) {
    const ember_xnn_node_t *node = panel->node;
    const ember_xnn_value_t *bias = node->in[2];
    const uint32_t zero = (uint32_t)node->in[0]->zero;
    uint32_t *sums = start;
    for (uint32_t i = 0; i < panel->n; i++) {
        const uint8_t *block = panel->w + i / XNN_PANEL * panel->block_bytes;
        const uint32_t sum = ((const uint32_t *)(const void *)block)[i % XNN_PANEL];
        sums[i] = bias != NULL ? ((const uint32_t *)bias->constant)[first + i] : 0;
        sums[i] -= zero * sum;
        scales[i] = ember_xnn_qs8_scale(node, first + i);
    }
}

// Sums of one row, rounded; bounds hold for what is saturated on the way, too.
static inline int16x8_t round_row(const int32_t *sums, float32x4_t s0, float32x4_t s1) {
    const int32x4_t x = vcvtnq_s32_f32(vmulq_f32(vcvtq_f32_s32(vld1q_s32(sums)), s0));
    const int32x4_t y =
        vcvtnq_s32_f32(vmulq_f32(vcvtq_f32_s32(vld1q_s32(sums + 4)), s1));
    return vqmovn_high_s32(vqmovn_s32(x), y);
}

void ember_xnn_panel_put_qs8(const ember_xnn_panel_t *panel, const void *sums,
                             const float *scales, uint32_t column) {
    const ember_xnn_range_t *range = &panel->range;
    const int32_t *from = sums;
    const float32x4_t s0 = vld1q_f32(scales);
    const float32x4_t s1 = vld1q_f32(scales + 4);
    const int16x8_t zero = vdupq_n_s16((int16_t)range->zero);
    const int8x16_t low = vdupq_n_s8((int8_t)((int32_t)range->low + range->zero));
    const int8x16_t high = vdupq_n_s8((int8_t)((int32_t)range->high + range->zero));
    const uint32_t columns = xnn_panel_columns(panel, column);
    int8_t *y = (int8_t *)panel->node->out[0]->data + panel->y + column;
    for (uint32_t i = 0; i < panel->rows; i += 2, from += 2 * XNN_PANEL) {
        const int16x8_t r0 = vqaddq_s16(round_row(from, s0, s1), zero);
        const int16x8_t r1 = vqaddq_s16(round_row(from + XNN_PANEL, s0, s1), zero);
        int8x16_t out = vqmovn_high_s16(vqmovn_s16(r0), r1);
        out = vminq_s8(vmaxq_s8(out, low), high);
        if (columns == XNN_PANEL) {
            vst1_s8(y, vget_low_s8(out));
        } else {
            memcpy(y, &out, columns);
        }
        y += panel->y_step;
        if (i + 1 < panel->rows) {
            const int8x8_t upper = vget_high_s8(out);
            memcpy(y, &upper, columns);
        }
        y += panel->y_step;
    }
}
