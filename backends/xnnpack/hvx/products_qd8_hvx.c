// SPDX-License-Identifier: Apache-2.0
// Products of dynamically quantised int8 with HVX; weights of eight or four bits with a
// scale per channel. Results as in product_qd8.c.
#include <math.h>

#include "floats_hvx.h"

enum { STARTS, SIGNIFICANDS, EXPONENTS, BIASES };

static bool fits(const ember_xnn_node_t *node) {
    const uint32_t columns = (uint32_t)xnn_size(node->out[0], 0);
    const float *scales = node->in[1]->scales;
    for (uint32_t i = 0; i < columns; i++) {
        if (scales != NULL && !xnn_hvx_is_factor(scales[i])) {
            return false;
        }
    }
    return xnn_hvx_has_terms(node, columns);
}

static ember_status_t check_qc8(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    const ember_status_t status = ember_xnn_type_qd8.check(graph, node);
    return status == EMBER_OK && !fits(node) ? xnn_refuse(node, XNN_ODD_SCALES)
                                             : status;
}

static ember_status_t check_qc4(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    const ember_status_t status = ember_xnn_type_qd8_qc4.check(graph, node);
    return status == EMBER_OK && !fits(node) ? xnn_refuse(node, XNN_ODD_SCALES)
                                             : status;
}

static const ember_xnn_type_t type_qc8 = {.check = check_qc8};
static const ember_xnn_type_t type_qc4 = {.check = check_qc4};

// The column of a lane, among all.
static uint32_t column_of(const ember_xnn_hvx_panel_t *panel, uint32_t lane) {
    return panel->column + (panel->first + lane) % panel->columns;
}

static void set_biases(const ember_xnn_hvx_panel_t *panel, float *to) {
    for (uint32_t i = 0; i < panel->lanes; i++) {
        to[i] = xnn_hvx_bias(panel->node, column_of(panel, i));
    }
}

static void begin(const ember_xnn_hvx_panel_t *panel) {
    const ember_xnn_value_t *bias = panel->node->in[2];
    for (int32_t v = 0; v < panel->vectors; v++) {
        HVX_Vector *scales = xnn_hvx_number(panel, SIGNIFICANDS, v);
        HVX_Vector *biases = xnn_hvx_number(panel, BIASES, v);
        ember_hvx_store(xnn_hvx_number(panel, STARTS, v), Q6_V_vzero());
        ember_xnn_hvx_spread(panel, v, panel->node->in[1]->scales, scales);
        const ember_float_hvx_t by = ember_float_hvx(ember_hvx_load(scales));
        ember_hvx_store(scales, by.significand);
        ember_hvx_store(xnn_hvx_number(panel, EXPONENTS, v), by.exponent);
        ember_hvx_store(biases, Q6_V_vzero());
        if (bias != NULL && bias->datatype == XNN_F32) {
            ember_xnn_hvx_spread(panel, v, bias->constant, biases);
        }
    }
    if (bias != NULL && bias->datatype == XNN_F16) {
        set_biases(panel, (float *)(void *)xnn_hvx_number(panel, BIASES, 0));
    }
}

// Subtracts what the zero point of the row has added.
INLINE HVX_Vector centred(const ember_xnn_hvx_panel_t *panel, int32_t v, HVX_Vector sum,
                          int32_t zero) {
    const uint32_t by = (uint16_t)-zero;
    const HVX_Vector own = ember_hvx_load_any(panel->own + v * EMBER_HVX);
    return Q6_Vw_vadd_VwVw(sum, Q6_Vw_vmpyi_VwRh(own, (int32_t)(by << 16 | by)));
}

// Replaces a window's sums by its results.
static void scale(const ember_xnn_hvx_panel_t *panel, HVX_Vector *sums,
                  const ember_xnn_row_t *row, const xnn_hvx_limits_t *limits) {
    const ember_float_hvx_t by =
        ember_float_hvx(Q6_V_vsplat_R((int32_t)ember_float_bits(row->scale)));
    for (int32_t v = 0; v < panel->vectors; v++) {
        const HVX_Vector sum = centred(panel, v, ember_hvx_load(sums + v), row->zero);
        const ember_float_hvx_t number = ember_float_of_int_hvx(sum);
        const ember_float_hvx_t scaled = ember_times_hvx(&number, &by);
        const ember_float_hvx_t own = {
            Q6_V_vzero(), ember_hvx_load(xnn_hvx_number(panel, SIGNIFICANDS, v)),
            ember_hvx_load(xnn_hvx_number(panel, EXPONENTS, v))};
        const HVX_Vector bits = ember_fma_hvx(
            &scaled, &own, ember_hvx_load(xnn_hvx_number(panel, BIASES, v)));
        ember_hvx_store(sums + v, xnn_hvx_limited(bits, limits));
    }
}

// The same for rows with unusual scales, such as NaN.
static void scale_rare(const ember_xnn_hvx_panel_t *panel, HVX_Vector *sums,
                       const ember_xnn_row_t *row) {
    const ember_xnn_node_t *node = panel->node;
    const float *scales = node->in[1]->scales;
    for (int32_t v = 0; v < panel->vectors; v++) {
        const HVX_Vector sum = ember_hvx_load(sums + v);
        ember_hvx_store(sums + v, centred(panel, v, sum, row->zero));
    }
    const int32_t *from = (const int32_t *)(void *)sums;
    float *to = (float *)(void *)sums;
    for (uint32_t i = 0; i < panel->lanes; i++) {
        const uint32_t column = column_of(panel, i);
        const float number = (float)from[i] * row->scale;
        to[i] = xnn_clamp(fmaf(number, scales[column], xnn_hvx_bias(node, column)),
                          node->low, node->high);
    }
}

static void end(const ember_xnn_hvx_panel_t *panel, uint32_t count, uint32_t lanes,
                size_t y, uint32_t row, uint32_t row_step) {
    const ember_xnn_node_t *node = panel->node;
    const ember_xnn_row_t *rows = xnn_rows(node->in[0]) + row;
    const xnn_hvx_limits_t limits = xnn_hvx_limits(node);
    HVX_Vector *sums = panel->sums;
    for (uint32_t i = 0; i < count; i++) {
        if (xnn_hvx_is_factor(rows->scale)) {
            scale(panel, sums, rows, &limits);
        } else {
            scale_rare(panel, sums, rows);
        }
        xnn_hvx_put(node->out[0], y, sums, lanes);
        sums += panel->vectors;
        rows += row_step;
        y += panel->y_step;
    }
}

const ember_xnn_hvx_type_t ember_xnn_hvx_qd8 = {.type = &type_qc8,
                                                .layout = &ember_xnn_hvx_s8,
                                                .added = 128,
                                                .begin = begin,
                                                .end = end};
const ember_xnn_hvx_type_t ember_xnn_hvx_qd8_qc4 = {.type = &type_qc4,
                                                    .layout = &ember_xnn_hvx_s4,
                                                    .added = 8,
                                                    .nibbles = true,
                                                    .begin = begin,
                                                    .end = end};
