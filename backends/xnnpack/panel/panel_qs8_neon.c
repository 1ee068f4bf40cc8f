// SPDX-License-Identifier: Apache-2.0
// The beginning and end of panels of static int8. Results as in product_s8.c.
#include "backends/xnnpack/nodes/neon.h"
#include "panel.h"

#include <string.h>

// Whether all scales are positive and finite. They grow with those of the weights, so
// it is enough to check the minimum and maximum of these, by their bits: those of
// negative numbers and NaN are larger than all others.
static bool has_plain_scales(const ember_xnn_node_t *node, uint32_t columns) {
    const ember_xnn_value_t *weights = node->in[1];
    const uint8_t *bits = weights->scales;
    const uint32_t count = weights->datatype == XNN_QCS8 ? columns : 1;
    uint32_t least = 0, most = 0;
    uint32_t low = UINT32_MAX, high = 0;
    for (uint32_t i = 0; count > 1 && i < count; i++, bits += sizeof(float)) {
        uint32_t own;
        memcpy(&own, bits, sizeof(own));
        if (own < low) {
            low = own;
            least = i;
        }
        if (own > high) {
            high = own;
            most = i;
        }
    }
    return xnn_is_scale(ember_xnn_qs8_scale(node, least)) &&
           xnn_is_scale(ember_xnn_qs8_scale(node, most));
}

static ember_status_t check(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    (void)graph;
    const uint32_t columns = (uint32_t)xnn_size(node->out[0], 0);
    if (!ember_xnn_qs8_fits(node, columns)) {
        return EMBER_UNSUPPORTED;
    }
    // Rounding by fcvtns would not bound NaN.
    return columns == 0 || has_plain_scales(node, columns)
               ? EMBER_OK
               : xnn_refuse(node, XNN_ODD_SCALES);
}

const ember_xnn_type_t ember_xnn_panel_qs8 = {.check = check};

static inline void put_row(int8_t *y, int8x8_t row, uint32_t columns) {
    if (columns == XNN_PANEL) {
        vst1_s8(y, row);
    } else {
        memcpy(y, &row, columns);
    }
}

// Eight 4-byte values, of which `count` exist.
static inline const void *eight(const void *from, uint32_t count, void *room) {
    if (count == XNN_PANEL) {
        return from;
    }
    memset(room, 0, 4 * XNN_PANEL);
    memcpy(room, from, 4 * count);
    return room;
}

void ember_xnn_neon_columns_qs8(const ember_xnn_node_t *node, const int32_t *sums,
                                uint32_t first, uint32_t count, int32_t *start,
                                float *scales) {
    const ember_xnn_value_t *weights = node->in[1];
    const int32x4_t zero = vdupq_n_s32(node->in[0]->zero);
    const float32x4_t in = vdupq_n_f32(node->in[0]->scale);
    const float32x4_t out = vdupq_n_f32(node->out[0]->scale);
    float32x4_t own[] = {vdupq_n_f32(weights->scale), vdupq_n_f32(weights->scale)};
    int32x4_t bias[] = {vdupq_n_s32(0), vdupq_n_s32(0)};
    int32_t room[XNN_PANEL];
    if (weights->datatype == XNN_QCS8) {
        const float *from = eight((const float *)weights->scales + first, count, room);
        own[0] = vld1q_f32(from);
        own[1] = vld1q_f32(from + 4);
    }
    if (node->in[2] != NULL) {
        const int32_t *from =
            eight((const int32_t *)node->in[2]->constant + first, count, room);
        bias[0] = vld1q_s32(from);
        bias[1] = vld1q_s32(from + 4);
    }
    for (uint32_t i = 0; i < 2; i++, start += 4, scales += 4, sums += 4) {
        vst1q_s32(start, vsubq_s32(bias[i], vmulq_s32(vld1q_s32(sums), zero)));
        vst1q_f32(scales, vdivq_f32(vmulq_f32(in, own[i]), out));
    }
}

void ember_xnn_panel_begin_qs8(const ember_xnn_panel_t *panel, uint32_t first,
                               void *start, float *scales) {
    const uint8_t *block = panel->w;
    int32_t *sums = start;
    for (uint32_t i = 0; i < panel->n; i += XNN_PANEL, block += panel->block_bytes) {
        ember_xnn_neon_columns_qs8(panel->node, (const int32_t *)(const void *)block,
                                   first + i, xnn_panel_columns(panel, i), sums + i,
                                   scales + i);
    }
}

void ember_xnn_panel_put_qs8(const ember_xnn_panel_t *panel, const int32_t *sums,
                             const float *scales, uint32_t column) {
    const xnn_neon_round_t round = xnn_neon_round(scales, &panel->range);
    const uint32_t columns = xnn_panel_columns(panel, column);
    const int32_t *from = sums;
    int8_t *y = (int8_t *)panel->node->out[0]->data + panel->y + column;
    for (uint32_t i = 0; i < panel->rows; i += 2, from += 2 * XNN_PANEL) {
        const int16x8_t upper =
            xnn_neon_rounded(vld1q_s32(from), vld1q_s32(from + 4), &round);
        const int16x8_t lower =
            xnn_neon_rounded(vld1q_s32(from + 8), vld1q_s32(from + 12), &round);
        int8x16_t out = vqmovn_high_s16(vqmovn_s16(upper), lower);
        out = vminq_s8(vmaxq_s8(out, round.low), round.high);
        put_row(y, vget_low_s8(out), columns);
        y += panel->y_step;
        if (i + 1 < panel->rows) {
            put_row(y, vget_high_s8(out), columns);
        }
        y += panel->y_step;
    }
}
