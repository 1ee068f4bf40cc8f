// SPDX-License-Identifier: Apache-2.0
// The beginning and end of panels with float output. Results as in product_f32.c,
// product_f16.c, product_bf16.c, product_qd8.c and product_qd8_s4.c.
#include "backends/xnnpack/nodes/neon.h"
#include "panel.h"

// Where rows of a block go, and their bounds.
typedef struct place {
    uint8_t *to;    // of the next row
    size_t pitch;   // bytes
    uint32_t bytes; // of columns that exist
    bool whole;     // all of them do
    uint32_t datatype;
    float32x4_t low;
    float32x4_t high;
} place_t;

XNN_INLINE place_t find_place(const ember_xnn_panel_t *panel, uint32_t column) {
    const ember_xnn_value_t *out = panel->node->out[0];
    const uint32_t size = out->datatype == XNN_F32 ? 4 : 2;
    const uint32_t columns = xnn_panel_columns(panel, column);
    return (place_t){
        .to = (uint8_t *)out->data + (panel->y + column) * size,
        .pitch = panel->y_step * size,
        .bytes = columns * size,
        .whole = columns == XNN_PANEL,
        .datatype = out->datatype,
        .low = vdupq_n_f32(panel->node->low),
        .high = vdupq_n_f32(panel->node->high),
    };
}

XNN_INLINE void store_row(void *to, float32x4_t x0, float32x4_t x1, uint32_t datatype) {
    if (datatype == XNN_F32) {
        vst1q_f32(to, x0);
        vst1q_f32((float *)to + 4, x1);
    } else if (datatype == XNN_BF16) {
        neon_store_bf16(to, x0);
        neon_store_bf16((uint16_t *)to + 4, x1);
    } else {
        neon_store_f16(to, x0);
        neon_store_f16((uint16_t *)to + 4, x1);
    }
}

// Writes a row of eight results, or those that exist.
XNN_INLINE void put_row(place_t *place, float32x4_t x0, float32x4_t x1) {
    x0 = neon_between(x0, place->low, place->high);
    x1 = neon_between(x1, place->low, place->high);
    if (place->whole) {
        store_row(place->to, x0, x1, place->datatype);
    } else {
        float room[XNN_PANEL];
        store_row(room, x0, x1, place->datatype);
        memcpy(place->to, room, place->bytes);
    }
    place->to += place->pitch;
}

// --- floats --------------------------------------------------------------------------

void ember_xnn_panel_begin_float(const ember_xnn_panel_t *panel, uint32_t first,
                                 void *start, float *scales) {
    const ember_xnn_value_t *bias = panel->node->in[2];
    const bool half = panel->node->in[0]->datatype == XNN_F16;
    const uint32_t n = panel->n;
    float *to = start;
    (void)scales;
    memset(to, 0, 4 * (size_t)((n + XNN_PANEL - 1) / XNN_PANEL * XNN_PANEL));
    if (bias != NULL && (half || bias->datatype == XNN_F16)) {
        uint32_t i = 0;
        for (; i + 4 <= n; i += 4) {
            vst1q_f32(to + i, xnn_neon_f16(bias, first + i));
        }
        for (; i < n; i++) {
            to[i] = xnn_f16(bias, first + i);
        }
    } else if (bias != NULL) {
        memcpy(to, (const float *)bias->constant + first, 4 * (size_t)n);
    }
}

void ember_xnn_panel_put_float(const ember_xnn_panel_t *panel, const float *sums,
                               uint32_t column) {
    place_t place = find_place(panel, column);
    for (uint32_t left = panel->rows; left > 0; left--, sums += XNN_PANEL) {
        put_row(&place, vld1q_f32(sums), vld1q_f32(sums + 4));
    }
}

// --- dynamically quantised int8 ------------------------------------------------------

void ember_xnn_panel_begin_qd8(const ember_xnn_panel_t *panel, uint32_t first,
                               void *start, float *scales) {
    const ember_xnn_value_t *weights = panel->node->in[1];
    ember_xnn_panel_begin_float(panel, first, start, scales);
    if (weights->datatype != XNN_QBS4) {
        memcpy(scales, (const float *)weights->scales + first, 4 * (size_t)panel->n);
        memset(scales + panel->n, 0, 4 * (-(size_t)panel->n % XNN_PANEL));
    }
}

// Four sums without the zero point's contribution.
static inline int32x4_t centred(const int32_t *sums, const int32_t *own, int32_t zero) {
    return vmlsq_n_s32(vld1q_s32(sums), vld1q_s32(own), zero);
}

XNN_INLINE void put(const ember_xnn_panel_t *panel, const int32_t *sums,
                    const int32_t *own, const float *bias, const float *scales,
                    uint32_t column, const bool times16) {
    const float32x4_t b0 = vld1q_f32(bias), b1 = vld1q_f32(bias + 4);
    const float32x4_t w0 = vld1q_f32(scales), w1 = vld1q_f32(scales + 4);
    const ember_xnn_row_t *row = xnn_panel_row(panel, 0);
    const uint32_t step = panel->row_step;
    place_t place = find_place(panel, column);
    for (uint32_t left = panel->rows; left > 0; left--, sums += XNN_PANEL) {
        const int32x4_t s0 = centred(sums, own, row->zero);
        const int32x4_t s1 = centred(sums + 4, own + 4, row->zero);
        const float32x4_t x0 = times16 ? vcvtq_n_f32_s32(s0, 4) : vcvtq_f32_s32(s0);
        const float32x4_t x1 = times16 ? vcvtq_n_f32_s32(s1, 4) : vcvtq_f32_s32(s1);
        put_row(&place, vfmaq_f32(b0, vmulq_n_f32(x0, row->scale), w0),
                vfmaq_f32(b1, vmulq_n_f32(x1, row->scale), w1));
        row += step;
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

XNN_INLINE void put_groups(const ember_xnn_panel_t *panel, const float *sums,
                           const float *bias, uint32_t column, const bool fused) {
    const float32x4_t b0 = vld1q_f32(bias), b1 = vld1q_f32(bias + 4);
    const ember_xnn_row_t *row = xnn_panel_row(panel, 0);
    const uint32_t step = panel->row_step;
    place_t place = find_place(panel, column);
    for (uint32_t left = panel->rows; left > 0; left--, sums += XNN_PANEL) {
        const float32x4_t scale = vdupq_n_f32(row->scale);
        const float32x4_t s0 = vld1q_f32(sums), s1 = vld1q_f32(sums + 4);
        put_row(&place,
                fused ? vfmaq_f32(b0, s0, scale) : vaddq_f32(vmulq_f32(s0, scale), b0),
                fused ? vfmaq_f32(b1, s1, scale) : vaddq_f32(vmulq_f32(s1, scale), b1));
        row += step;
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
