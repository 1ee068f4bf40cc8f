// SPDX-License-Identifier: Apache-2.0
// What panels begin and end with whose output is float32 or float16. Numbers as in
// product_f32.c, product_f16.c, product_qd8.c and product_qd8_s4.c.
#include "neon.h"
#include "panel.h"

// Up to eight bounded numbers of a row, to the output from index `at` on.
static inline void put_row(const ember_xnn_node_t *node, float32x4_t x0, float32x4_t x1,
                           size_t at, uint32_t columns) {
    const ember_xnn_value_t *out = node->out[0];
    const bool wide = out->datatype == XNN_F32;
    uint8_t *to = (uint8_t *)out->data + (wide ? 4 : 2) * at;
    float room[XNN_PANEL];
    void *first = columns == XNN_PANEL ? (void *)to : room;
    x0 = xnn_neon_clamp(x0, node);
    x1 = xnn_neon_clamp(x1, node);
    if (wide) {
        vst1q_f32(first, x0);
        vst1q_f32((float *)first + 4, x1);
    } else {
        xnn_neon_store_f16(first, x0);
        xnn_neon_store_f16((uint16_t *)first + 4, x1);
    }
    if (columns < XNN_PANEL) {
        memcpy(to, room, (size_t)(wide ? 4 : 2) * columns);
    }
}

// --- floats --------------------------------------------------------------------------

void ember_xnn_panel_begin_float(const ember_xnn_panel_t *panel, uint32_t first,
                                 void *start, float *scales) {
    const ember_xnn_value_t *bias = panel->node->in[2];
    const bool half = panel->node->in[0]->datatype == XNN_F16;
    float *to = start;
    (void)scales;
    for (uint32_t i = 0; i < panel->n; i++) {
        to[i] = bias == NULL ? 0.0f
                : half || bias->datatype == XNN_F16
                    ? xnn_f16(bias, first + i)
                    : ((const float *)bias->constant)[first + i];
    }
    for (uint32_t i = panel->n; i % XNN_PANEL != 0; i++) {
        to[i] = 0.0f;
    }
}

void ember_xnn_panel_put_float(const ember_xnn_panel_t *panel, const float *sums,
                               uint32_t column) {
    const uint32_t columns = xnn_panel_columns(panel, column);
    size_t at = panel->y + column;
    for (uint32_t i = 0; i < panel->rows; i++, sums += XNN_PANEL, at += panel->y_step) {
        put_row(panel->node, vld1q_f32(sums), vld1q_f32(sums + 4), at, columns);
    }
}

// --- int8 that was quantised while it ran --------------------------------------------

void ember_xnn_panel_begin_qd8(const ember_xnn_panel_t *panel, uint32_t first,
                               void *start, float *scales) {
    const ember_xnn_value_t *weights = panel->node->in[1];
    ember_xnn_panel_begin_float(panel, first, start, scales);
    if (weights->datatype != XNN_QBS4) {
        memcpy(scales, (const float *)weights->scales + first, 4 * (size_t)panel->n);
        memset(scales + panel->n, 0, 4 * (-(size_t)panel->n % XNN_PANEL));
    }
}

// Four sums without what the zero point added to them.
static inline int32x4_t centred(const int32_t *sums, const int32_t *own, int32_t zero) {
    return vmlsq_n_s32(vld1q_s32(sums), vld1q_s32(own), zero);
}

static inline __attribute__((always_inline)) void
put(const ember_xnn_panel_t *panel, const int32_t *sums, const int32_t *own,
    const float *bias, const float *scales, uint32_t column, const bool times16) {
    const uint32_t columns = xnn_panel_columns(panel, column);
    const float32x4_t b0 = vld1q_f32(bias), b1 = vld1q_f32(bias + 4);
    const float32x4_t w0 = vld1q_f32(scales), w1 = vld1q_f32(scales + 4);
    size_t at = panel->y + column;
    for (uint32_t i = 0; i < panel->rows; i++, sums += XNN_PANEL, at += panel->y_step) {
        const ember_xnn_row_t *row = xnn_panel_row(panel, i);
        const int32x4_t s0 = centred(sums, own, row->zero);
        const int32x4_t s1 = centred(sums + 4, own + 4, row->zero);
        const float32x4_t x0 = times16 ? vcvtq_n_f32_s32(s0, 4) : vcvtq_f32_s32(s0);
        const float32x4_t x1 = times16 ? vcvtq_n_f32_s32(s1, 4) : vcvtq_f32_s32(s1);
        put_row(panel->node, vfmaq_f32(b0, vmulq_n_f32(x0, row->scale), w0),
                vfmaq_f32(b1, vmulq_n_f32(x1, row->scale), w1), at, columns);
    }
}

void ember_xnn_panel_put_qc8(const ember_xnn_panel_t *panel, const int32_t *sums,
                             const int32_t *own, const float *bias, const float *scales,
                             uint32_t column) {
    put(panel, sums, own, bias, scales, column, false);
}

void ember_xnn_panel_put_qc4(const ember_xnn_panel_t *panel, const int32_t *sums,
                             const int32_t *own, const float *bias, const float *scales,
                             uint32_t column) {
    put(panel, sums, own, bias, scales, column, true);
}

static inline __attribute__((always_inline)) void
put_groups(const ember_xnn_panel_t *panel, const float *sums, const float *bias,
           uint32_t column, const bool fused) {
    const uint32_t columns = xnn_panel_columns(panel, column);
    const float32x4_t b0 = vld1q_f32(bias), b1 = vld1q_f32(bias + 4);
    size_t at = panel->y + column;
    for (uint32_t i = 0; i < panel->rows; i++, sums += XNN_PANEL, at += panel->y_step) {
        const float32x4_t scale = vdupq_n_f32(xnn_panel_row(panel, i)->scale);
        const float32x4_t s0 = vld1q_f32(sums), s1 = vld1q_f32(sums + 4);
        put_row(panel->node,
                fused ? vfmaq_f32(b0, s0, scale) : vaddq_f32(vmulq_f32(s0, scale), b0),
                fused ? vfmaq_f32(b1, s1, scale) : vaddq_f32(vmulq_f32(s1, scale), b1),
                at, columns);
    }
}

void ember_xnn_panel_put_qb4(const ember_xnn_panel_t *panel, const float *sums,
                             const float *bias, uint32_t column) {
    put_groups(panel, sums, bias, column, false);
}

void ember_xnn_panel_put_half(const ember_xnn_panel_t *panel, const float *sums,
                              const float *bias, uint32_t column) {
    put_groups(panel, sums, bias, column, true);
}
