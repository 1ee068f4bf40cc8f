// SPDX-License-Identifier: Apache-2.0
// From float32 to dynamically quantised int8, with a scale and a zero point for each
// row, with HVX.
#include "backends/xnnpack/nodes/convert_qd8.h"
#include "elements_hvx.h"
#include "floats_hvx.h"
#include "kernels/engine/hvx/extent_hvx.h"

enum { FEW = 16 }; // numbers of a row

static ember_status_t prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    return node->in[0]->datatype == XNN_F32 ? ember_xnn_qd8_prepare(graph, node)
                                            : EMBER_UNSUPPORTED;
}

static ember_xnn_limits_t limits_of(const float *x, uint32_t length) {
    ember_xnn_limits_t limits;
    ember_extent_hvx(x, length, &limits.low, &limits.high);
    return limits;
}

static ember_xnn_limits_t limits_of_few(const float *x, uint32_t length) {
    ember_xnn_limits_t limits = {0.0f, 0.0f};
    bool numbers = true;
    for (uint32_t i = 0; i < length; i++) {
        limits.low = x[i] < limits.low ? x[i] : limits.low;
        limits.high = x[i] > limits.high ? x[i] : limits.high;
        numbers = numbers && x[i] == x[i];
    }
    limits.low = numbers ? limits.low : EMBER_NAN;
    return limits;
}

static void quantize_row(const ember_xnn_value_t *input, size_t at, uint32_t length,
                         int8_t *to, ember_xnn_row_t *row) {
    const float *x = (const float *)input->constant + at;
    const ember_xnn_limits_t limits =
        length < FEW ? limits_of_few(x, length) : limits_of(x, length);
    const float factor = xnn_find_parameters(&limits, &row->zero);
    const ember_xnn_range_t range = xnn_row_range(row);
    row->scale = 1.0f / factor;
    if (length >= FEW && xnn_hvx_is_factor(factor)) {
        xnn_hvx_quantise(x, length, factor, &range, to);
        return;
    }
    for (uint32_t i = 0; i < length; i++) {
        to[i] = xnn_quantize(x[i] * factor, &range);
    }
}

static void run(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node) {
    (void)graph;
    ember_xnn_qd8_run(node, quantize_row);
}

XNN_KERNEL(convert_qd8_hvx, NULL, ember_xnn_shape_same, XNN_KIND(CONVERT));
