// SPDX-License-Identifier: Apache-2.0
// Panels of bfloat16 with float32 sums: the bits of product_bf16.c.
#include "backends/xnnpack/nodes/neon.h"
#include "panel_float.h"

static float32x4_t load_four(const void *row, size_t at) {
    return neon_load_bf16((const uint16_t *)row + at);
}

static float load_element(const void *row, size_t at) {
    return ember_f32_from_bf16(((const uint16_t *)row)[at]);
}

static void pack(const ember_xnn_panel_t *panel, const void *const *rows, uint32_t k) {
    const load_rows_t load = {load_four, load_element};
    pack_rows(load, rows, xnn_panel_lines(panel->rows), k, (float *)(void *)panel->a);
}

XNN_INLINE columns_t load_columns(const void *w, size_t step) {
    const uint16_t *from = (const uint16_t *)w + step * XNN_PANEL;
    return (columns_t){{neon_load_bf16(from), neon_load_bf16(from + 4)}};
}

static void block(const ember_xnn_panel_t *panel, const uint8_t *w, const void *start,
                  const float *scales, uint32_t column) {
    float sums[XNN_PANEL * XNN_PANEL];
    (void)scales;
    multiply(load_columns, panel, w, start, sums);
    ember_xnn_panel_put_float(panel, sums, column);
}

static uint32_t row(const ember_xnn_panel_t *panel, uint32_t at) {
    return multiply_blocks(load_columns, panel, at);
}

const ember_xnn_form_t ember_xnn_form_bf16_neon = {
    .layout = &ember_xnn_columns_f16,
    .type = &ember_xnn_type_bf16,
    .unit = 1,
    .size = 2,
    .wide = 4,
    .begin = ember_xnn_panel_begin_float,
    .pack = pack,
    .block = block,
    .row = row,
};
