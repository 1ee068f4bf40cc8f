// SPDX-License-Identifier: Apache-2.0
// Panels of float16 with float32 sums. Weights may be float32: convolutions are
// exported like this.
#include "backends/xnnpack/nodes/neon.h"
#include "panel_float.h"

static float32x4_t load_four(const void *row, size_t at) {
    return neon_load_f16((const uint16_t *)row + at);
}

static float load_element(const void *row, size_t at) {
    return ember_f32_from_f16(((const uint16_t *)row)[at]);
}

static void pack(const ember_xnn_panel_t *panel, const void *const *rows, uint32_t k) {
    const load_rows_t load = {load_four, load_element};
    pack_rows(load, rows, xnn_panel_lines(panel->rows), k, (float *)(void *)panel->a);
}

static void columns(const ember_xnn_geometry_t *geometry, const void *from, float *to) {
    pack_columns((load_rows_t){load_four, load_element}, 2, geometry, from, to);
}

XNN_INLINE columns_t load_columns(const void *w, size_t step) {
    const uint16x8_t both = vld1q_u16((const uint16_t *)w + step * XNN_PANEL);
    const float16x8_t from = vreinterpretq_f16_u16(both);
    return (columns_t){{vcvt_f32_f16(vget_low_f16(from)), vcvt_high_f32_f16(from)}};
}

static void block(const ember_xnn_panel_t *panel, const uint8_t *w, const void *start,
                  const float *scales, uint32_t column) {
    float sums[XNN_PANEL * XNN_PANEL];
    (void)scales;
    multiply(load_columns, panel, w, start, sums);
    ember_xnn_panel_put_float(panel, sums, column);
}

#define FORM(LAYOUT, BLOCK)                                                            \
    {                                                                                  \
        .layout = (LAYOUT),                                                            \
        .type = &ember_xnn_type_f16,                                                   \
        .unit = 1,                                                                     \
        .size = 2,                                                                     \
        .wide = 4,                                                                     \
        .begin = ember_xnn_panel_begin_float,                                          \
        .pack = pack,                                                                  \
        .columns = columns,                                                            \
        .block = (BLOCK),                                                              \
    }

static const ember_xnn_form_t of_f16 = FORM(&ember_xnn_columns_f16, block);
static const ember_xnn_form_t of_f32 = FORM(&ember_xnn_columns_f16_of_f32, block);
const ember_xnn_form_t ember_xnn_form_f16_matmul_neon =
    FORM(&ember_xnn_columns_f32, ember_xnn_panel_block_f32);

const ember_xnn_form_t *ember_xnn_panel_f16(const ember_xnn_node_t *node) {
    return node->in[1]->datatype == XNN_F32 ? &of_f32 : &of_f16;
}
