// SPDX-License-Identifier: Apache-2.0
// From floats to dynamically quantised int8: a scale and a zero point for each row.
#include "convert_qd8.h"
#include "elements.h"

ember_status_t ember_xnn_qd8_prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    (void)graph;
    const uint32_t from = node->in[0]->datatype;
    return node->out[0]->datatype == XNN_QDS8 && (from == XNN_F32 || from == XNN_F16)
               ? EMBER_OK
               : EMBER_UNSUPPORTED;
}

static ember_xnn_limits_t find_limits(const ember_xnn_value_t *input, size_t at,
                                      uint32_t length) {
    float x[XNN_CHUNK];
    ember_xnn_limits_t found = {0.0f, 0.0f};
    bool numbers = true;
    while (length > 0) {
        const uint32_t count = length < XNN_CHUNK ? length : XNN_CHUNK;
        ember_xnn_load(input, xnn_at(input, at), 1, count, x);
        for (uint32_t i = 0; i < count; i++) {
            found.low = x[i] < found.low ? x[i] : found.low;
            found.high = x[i] > found.high ? x[i] : found.high;
            numbers = numbers && x[i] == x[i];
        }
        at += count;
        length -= count;
    }
    if (!numbers) {
        found.low = EMBER_NAN;
    }
    return found;
}

static void quantize_row(const ember_xnn_value_t *input, size_t at, uint32_t length,
                         int8_t *to, ember_xnn_row_t *row) {
    const ember_xnn_limits_t limits = find_limits(input, at, length);
    const float exact = xnn_find_parameters(&limits, &row->zero);
    const float factor = input->datatype == XNN_F16 ? xnn_half_factor(exact) : exact;
    const ember_xnn_range_t range = xnn_row_range(row);
    float x[XNN_CHUNK];
    row->scale = 1.0f / exact;
    while (length > 0) {
        const uint32_t count = length < XNN_CHUNK ? length : XNN_CHUNK;
        ember_xnn_load(input, xnn_at(input, at), 1, count, x);
        for (uint32_t i = 0; i < count; i++) {
            *to++ = xnn_quantize(x[i] * factor, &range);
        }
        at += count;
        length -= count;
    }
}

void ember_xnn_qd8_run(const ember_xnn_node_t *node, ember_xnn_qd8_row_fn quantize) {
    const ember_xnn_value_t *out = node->out[0];
    ember_xnn_row_t *row = xnn_rows(out);
    uint32_t length = 1;
    for (uint32_t i = 0; i < out->group; i++) {
        length *= (uint32_t)xnn_size(out, i);
    }
    for (uint32_t at = 0; at < out->numel; at += length, row++) {
        quantize(node->in[0], at, length, (int8_t *)out->data + at, row);
    }
}

static ember_status_t prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    return ember_xnn_qd8_prepare(graph, node);
}

static void run(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node) {
    (void)graph;
    ember_xnn_qd8_run(node, quantize_row);
}

XNN_KERNEL(convert_qd8, NULL, ember_xnn_shape_same, XNN_KIND(CONVERT));
