// SPDX-License-Identifier: Apache-2.0
// Panels of float32.
#include "backends/xnnpack/nodes/neon.h"
#include "panel_float.h"

static float32x4_t load_four(const void *row, size_t at) {
    return vld1q_f32((const float *)row + at);
}

static float load_element(const void *row, size_t at) {
    return ((const float *)row)[at];
}

static void pack(const ember_xnn_panel_t *panel, const void *const *rows, uint32_t k) {
    const load_rows_t load = {load_four, load_element};
    pack_rows(load, rows, xnn_panel_lines(panel->rows), k, (float *)(void *)panel->a);
}

static void columns(const ember_xnn_geometry_t *geometry, const void *from, float *to) {
    pack_columns((load_rows_t){load_four, load_element}, 4, geometry, from, to);
}

XNN_INLINE columns_t load_columns(const void *w, size_t step) {
    const float *from = (const float *)w + step * XNN_PANEL;
    return (columns_t){{vld1q_f32(from), vld1q_f32(from + 4)}};
}

void ember_xnn_panel_block_f32(const ember_xnn_panel_t *panel, const uint8_t *w,
                               const void *start, const float *scales,
                               uint32_t column) {
    float sums[XNN_PANEL * XNN_PANEL];
    (void)scales;
    multiply(load_columns, panel, w, start, sums);
    ember_xnn_panel_put_float(panel, sums, column);
}

uint32_t ember_xnn_panel_row_f32(const ember_xnn_panel_t *panel, uint32_t at) {
    return multiply_blocks(load_columns, panel, at);
}

const ember_xnn_form_t ember_xnn_form_f32_neon = {
    .layout = &ember_xnn_columns_f32,
    .type = &ember_xnn_type_f32,
    .unit = 1,
    .size = 4,
    .wide = 4,
    .begin = ember_xnn_panel_begin_float,
    .pack = pack,
    .columns = columns,
    .block = ember_xnn_panel_block_f32,
    .row = ember_xnn_panel_row_f32,
};
