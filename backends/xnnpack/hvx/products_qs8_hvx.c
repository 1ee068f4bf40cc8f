// SPDX-License-Identifier: Apache-2.0
// Products of static int8 with HVX. Results as in product_s8.c.
#include "products_hvx.h"
#include "requantise_hvx.h"

enum { STARTS, SIGNIFICANDS, RIGHT };
enum { LANES = EMBER_LANES_HVX, WORDS = 4 };

static ember_status_t check(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    const uint32_t columns = (uint32_t)xnn_size(node->out[0], 0);
    const ember_status_t status = ember_xnn_type_qs8.check(graph, node);
    for (uint32_t i = 0; status == EMBER_OK && i < columns; i++) {
        if (!xnn_hvx_is_scale(node->scales[i])) {
            return xnn_refuse(node, XNN_ODD_SCALES);
        }
    }
    return status;
}

static const ember_xnn_type_t type = {.check = check};

static void begin(const ember_xnn_hvx_panel_t *panel) {
    const ember_xnn_node_t *node = panel->node;
    const uint32_t zero = (uint16_t)-node->in[0]->zero;
    for (int32_t v = 0; v < panel->vectors; v++) {
        HVX_Vector *start = xnn_hvx_number(panel, STARTS, v);
        HVX_Vector *scales = xnn_hvx_number(panel, SIGNIFICANDS, v);
        HVX_Vector bias = Q6_V_vzero();
        if (node->in[2] != NULL) {
            ember_xnn_hvx_spread(panel, v, node->in[2]->constant, start);
            bias = ember_hvx_load(start);
        }
        const HVX_Vector own = ember_hvx_load_any(panel->own + v * EMBER_HVX);
        const HVX_Vector by = Q6_Vw_vmpyi_VwRh(own, (int32_t)(zero << 16 | zero));
        ember_hvx_store(start, Q6_Vw_vadd_VwVw(bias, by));
        ember_xnn_hvx_spread(panel, v, node->scales, scales);
        const xnn_hvx_scales_t found = xnn_hvx_scales(ember_hvx_load(scales));
        ember_hvx_store(scales, found.significands);
        ember_hvx_store(xnn_hvx_number(panel, RIGHT, v), found.right);
    }
}

INLINE HVX_Vector scaled(const ember_xnn_hvx_panel_t *panel, int32_t v,
                         const HVX_Vector *sum) {
    const xnn_hvx_scales_t by = {ember_hvx_load(xnn_hvx_number(panel, SIGNIFICANDS, v)),
                                 ember_hvx_load(xnn_hvx_number(panel, RIGHT, v))};
    return xnn_hvx_scaled(ember_hvx_load(sum), &by);
}

// Windows whose results are adjacent in memory, whole vectors of them.
INLINE void put_dense(const ember_xnn_hvx_panel_t *panel, const HVX_Vector *sums,
                      int32_t words, const xnn_hvx_bounds_t *bounds, int8_t *y) {
    const int32_t vectors = panel->vectors;
    int32_t v = 0;
    for (int32_t i = 0; i < words; i += WORDS) {
        HVX_Vector four[WORDS];
        EMBER_HVX_UNROLL
        for (int n = 0; n < WORDS; n++) {
            four[n] = Q6_V_vzero();
            if (n < ember_hvx_hidden(words - i)) {
                four[n] = scaled(panel, v, sums + i + n);
                v = v + 1 < vectors ? v + 1 : 0;
            }
        }
        ember_store_left_hvx(y + i * LANES, xnn_hvx_bytes(four, bounds),
                             (words - i) * LANES);
    }
}

static void put_window(const ember_xnn_hvx_panel_t *panel, const HVX_Vector *sums,
                       uint32_t lanes, const xnn_hvx_bounds_t *bounds, int8_t *y) {
    HVX_Vector four[WORDS];
    EMBER_HVX_UNROLL
    for (int n = 0; n < WORDS; n++) {
        four[n] = Q6_V_vzero();
        if (n < panel->vectors) {
            four[n] = scaled(panel, n, sums + n);
        }
    }
    ember_store_left_hvx(y, xnn_hvx_bytes(four, bounds), (int32_t)lanes);
}

static void end(const ember_xnn_hvx_panel_t *panel, uint32_t count, uint32_t lanes,
                size_t y, uint32_t row, uint32_t row_step) {
    const xnn_hvx_bounds_t bounds = xnn_hvx_bounds(&panel->range);
    const uint32_t whole = (uint32_t)panel->vectors * LANES;
    int8_t *to = (int8_t *)panel->node->out[0]->data + y;
    (void)row;
    (void)row_step;
    if (lanes == whole && panel->y_step == whole && count > 1) {
        put_dense(panel, panel->sums, (int32_t)count * panel->vectors, &bounds, to);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        put_window(panel, panel->sums + i * (uint32_t)panel->vectors, lanes, &bounds,
                   to);
        to += panel->y_step;
    }
}

const ember_xnn_hvx_type_t ember_xnn_hvx_qs8 = {.type = &type,
                                                .layout = &ember_xnn_hvx_s8,
                                                .added = 128,
                                                .begin = begin,
                                                .end = end};
