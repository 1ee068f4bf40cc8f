// SPDX-License-Identifier: Apache-2.0
// Panels of float32 and float16: each product is fused with its sum, in order, after
// the bias, so that sums have the bits of product_f32.c. Rows become float32 columns of
// eight, or of four, or stay as they are when there is one.
#include "panel.h"
#include "panel_float.h"

static uint32_t lines_of(uint32_t rows) {
    return rows > 4 ? 8 : rows > 1 ? 4 : 1;
}

// Four rows of k elements, turned over.
static void pack_four(const float *const *rows, uint32_t k, float *to, size_t lines) {
    uint32_t i = 0;
    for (; i + 4 <= k; i += 4, to += 4 * lines) {
        const float32x4_t r0 = vld1q_f32(rows[0] + i);
        const float32x4_t r1 = vld1q_f32(rows[1] + i);
        const float32x4_t r2 = vld1q_f32(rows[2] + i);
        const float32x4_t r3 = vld1q_f32(rows[3] + i);
        const float32x4_t a0 = vzip1q_f32(r0, r2);
        const float32x4_t a1 = vzip2q_f32(r0, r2);
        const float32x4_t b0 = vzip1q_f32(r1, r3);
        const float32x4_t b1 = vzip2q_f32(r1, r3);
        vst1q_f32(to, vzip1q_f32(a0, b0));
        vst1q_f32(to + lines, vzip2q_f32(a0, b0));
        vst1q_f32(to + 2 * lines, vzip1q_f32(a1, b1));
        vst1q_f32(to + 3 * lines, vzip2q_f32(a1, b1));
    }
    for (; i < k; i++, to += lines) {
        for (uint32_t j = 0; j < 4; j++) {
            to[j] = rows[j][i];
        }
    }
}

void ember_xnn_panel_pack_f32(const ember_xnn_panel_t *panel, const void *const *rows,
                              uint32_t k) {
    const uint32_t lines = lines_of(panel->rows);
    float *to = (float *)(void *)panel->a;
    if (lines == 1) {
        memcpy(to, rows[0], 4 * (size_t)k);
        return;
    }
    for (uint32_t i = 0; i < lines; i += 4) {
        const float *from[4];
        for (uint32_t j = 0; j < 4; j++) {
            from[j] = rows[i + j];
        }
        pack_four(from, k, to + i, lines);
    }
}

static inline columns_t load_f32(const void *w, size_t step) {
    const float *from = (const float *)w + step * XNN_PANEL;
    return (columns_t){{vld1q_f32(from), vld1q_f32(from + 4)}};
}

static void run(const ember_xnn_panel_t *panel, const uint8_t *w, const void *start,
                void *sums) {
    const float *a = (const float *)(const void *)panel->a;
    const uint32_t lines = lines_of(panel->rows);
    if (lines == 8) {
        multiply(load_f32, a, w, panel->steps, start, 2, sums);
    } else if (lines == 4) {
        multiply(load_f32, a, w, panel->steps, start, 1, sums);
    } else {
        multiply_one(load_f32, a, w, panel->steps, start, sums);
    }
}

static void begin(const ember_xnn_panel_t *panel, uint32_t first, void *start,
                  float *scales) {
    const ember_xnn_value_t *bias = panel->node->in[2];
    (void)scales;
    if (bias != NULL) {
        memcpy(start, (const float *)bias->constant + first, 4 * (size_t)panel->n);
    } else {
        memset(start, 0, 4 * (size_t)panel->n);
    }
}

static void put(const ember_xnn_panel_t *panel, const void *sums, const float *scales,
                uint32_t column) {
    const ember_xnn_node_t *node = panel->node;
    const uint32_t columns = xnn_panel_columns(panel, column);
    const float *from = sums;
    float *y = (float *)node->out[0]->data + panel->y + column;
    (void)scales;
    for (uint32_t i = 0; i < panel->rows; i++, from += XNN_PANEL, y += panel->y_step) {
        float out[XNN_PANEL];
        float *to = columns == XNN_PANEL ? y : out;
        vst1q_f32(to, bounded(vld1q_f32(from), node));
        vst1q_f32(to + 4, bounded(vld1q_f32(from + 4), node));
        if (columns < XNN_PANEL) {
            memcpy(y, out, 4 * columns);
        }
    }
}

const ember_xnn_form_t ember_xnn_form_f32_neon = {
    .layout = &ember_xnn_columns_f32,
    .type = &ember_xnn_type_f32,
    .unit = 1,
    .size = 4,
    .wide = 4,
    .begin = begin,
    .pack = ember_xnn_panel_pack_f32,
    .run = run,
    .put = put,
};
