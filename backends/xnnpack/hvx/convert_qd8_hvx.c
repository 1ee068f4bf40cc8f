// SPDX-License-Identifier: Apache-2.0
// From float32 to dynamically quantised int8, with a scale and a zero point for each
// row, with HVX.
#include "backends/xnnpack/nodes/convert_qd8.h"
#include "elements_hvx.h"
#include "floats_hvx.h"

enum { FEW = 16 }; // numbers of a row

static ember_status_t prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    return node->in[0]->datatype == XNN_F32 ? ember_xnn_qd8_prepare(graph, node)
                                            : EMBER_UNSUPPORTED;
}

// The minimum and the maximum of all lanes, in the first lane.
INLINE void reduce(HVX_Vector *low, HVX_Vector *high) {
    EMBER_HVX_UNROLL
    for (int bytes = EMBER_HVX / 2; bytes >= 4; bytes /= 2) {
        *low = Q6_Vw_vmin_VwVw(*low, Q6_V_vror_VR(*low, bytes));
        *high = Q6_Vw_vmax_VwVw(*high, Q6_V_vror_VR(*high, bytes));
    }
}

static float number_of(HVX_Vector rising) {
    union {
        HVX_Vector vector;
        int32_t words[EMBER_HVX / 4];
    } lanes;
    ember_hvx_store(&lanes.vector, xnn_hvx_turned(rising));
    return ember_float_from((uint32_t)lanes.words[0]);
}

// Of the floats as integers in the same order; NaN is beyond both ends.
static ember_xnn_limits_t limits_of(const float *x, uint32_t length) {
    HVX_Vector low = Q6_V_vzero();
    HVX_Vector high = Q6_V_vzero();
    for (int32_t left = (int32_t)length; left > 0; left -= 32) {
        HVX_Vector some = ember_load_left_hvx((const int8_t *)x, left * 4);
        const int32_t count = ember_hvx_hidden(left);
        if (count < 32) {
            some = Q6_V_vand_QV(Q6_Q_vsetq_R(count * 4), some);
        }
        some = xnn_hvx_turned(some);
        low = Q6_Vw_vmin_VwVw(low, some);
        high = Q6_Vw_vmax_VwVw(high, some);
        x += 32;
    }
    reduce(&low, &high);
    return (ember_xnn_limits_t){number_of(low), number_of(high)};
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
