// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution, float16.
#include "depthwise.h"

#include <math.h>

static void add(const ember_xnn_node_t *node, void *sums, size_t a, size_t w) {
    const uint32_t multiplier = node->params[CONV_GROUP_OUTPUTS];
    float *sum = sums;
    for (uint32_t c = 0; c < node->params[CONV_GROUPS]; c++) {
        const float x = xnn_f16(node->in[0], a + c);
        for (uint32_t m = 0; m < multiplier; m++, sum++, w++) {
            *sum = fmaf(x, xnn_f16(node->in[1], w), *sum);
        }
    }
}

static ember_status_t prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    return ember_xnn_depthwise_prepare(graph, node, &ember_xnn_type_f16);
}

static void run(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node) {
    ember_xnn_depthwise_run(graph, node, &ember_xnn_type_f16, add);
}

XNN_KERNEL(depthwise_conv_2d_f16, NULL, ember_xnn_depthwise_shape,
           XNN_KIND(DEPTHWISE_CONV_2D));
