// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution, float16. Sums of few taps are rounded after each tap, see
// depthwise.h.
#include "depthwise.h"

#include <math.h>

static float rounded(float x) {
    return ember_f32_from_f16(ember_f16_from_f32(x));
}

static void add_several(const ember_xnn_node_t *node, void *sums, size_t a, size_t w,
                        uint32_t tap) {
    const uint32_t multiplier = node->params[CONV_GROUP_OUTPUTS];
    float *sum = sums;
    (void)tap;
    for (uint32_t c = 0; c < node->params[CONV_GROUPS]; c++) {
        const float x = xnn_f16(node->in[0], a + c);
        for (uint32_t m = 0; m < multiplier; m++, sum++, w++) {
            *sum = fmaf(x, xnn_f16(node->in[1], w), *sum);
        }
    }
}

static void add(const ember_xnn_node_t *node, void *sums, size_t a, size_t w,
                uint32_t tap) {
    const uint32_t channels = node->params[CONV_GROUPS];
    float *sum = (float *)sums + (xnn_by_halves(node) ? tap % 2 * channels : 0);
    for (uint32_t c = 0; c < channels; c++) {
        sum[c] = rounded(
            fmaf(xnn_f16(node->in[0], a + c), xnn_f16(node->in[1], w + c), sum[c]));
    }
}

// Adds the two sums of every other tap, and clears them for the next pixel.
static void join(const ember_xnn_node_t *node, void *sums) {
    const uint32_t channels = node->params[CONV_GROUPS];
    float *sum = sums;
    for (uint32_t c = 0; c < channels; c++) {
        sum[c] += sum[channels + c];
        sum[channels + c] = 0.0f;
    }
}

static ember_status_t prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    const ember_status_t status =
        ember_xnn_depthwise_prepare(graph, node, &ember_xnn_type_f16);
    node->scratch *= xnn_by_halves(node) ? 2 : 1;
    return status;
}

static void run(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node) {
    const uint32_t outputs = ember_xnn_depthwise_outputs(node);
    const bool halves = xnn_by_halves(node);
    const ember_xnn_depthwise_t depthwise = {
        .node = node,
        .add = xnn_by_columns(node) ? add : add_several,
        .end = halves ? join : NULL,
        .channels = outputs,
    };
    if (halves) {
        memset(graph->work + 4 * (size_t)outputs, 0, 4 * (size_t)outputs);
    }
    ember_xnn_depthwise_run(graph, node, &ember_xnn_type_f16, &depthwise);
}

XNN_KERNEL(depthwise_conv_2d_f16, NULL, ember_xnn_depthwise_shape,
           XNN_KIND(DEPTHWISE_CONV_2D));
