// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution, float32.
#include "depthwise.h"

#include <math.h>

static void add(const ember_xnn_node_t *node, void *sums, size_t a, size_t w,
                uint32_t tap) {
    (void)tap;
    const float *x = (const float *)node->in[0]->constant + a;
    const float *weights = (const float *)node->in[1]->constant + w;
    const uint32_t multiplier = node->params[CONV_GROUP_OUTPUTS];
    float *sum = sums;
    for (uint32_t c = 0; c < node->params[CONV_GROUPS]; c++) {
        for (uint32_t m = 0; m < multiplier; m++, sum++) {
            *sum = fmaf(x[c], *weights++, *sum);
        }
    }
}

static ember_status_t prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    return ember_xnn_depthwise_prepare(graph, node, &ember_xnn_type_f32);
}

static void run(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node) {
    const ember_xnn_depthwise_t depthwise = {node, add, NULL,
                                             ember_xnn_depthwise_outputs(node)};
    ember_xnn_depthwise_run(graph, node, &ember_xnn_type_f32, &depthwise);
}

XNN_KERNEL(depthwise_conv_2d_f32, NULL, ember_xnn_depthwise_shape,
           XNN_KIND(DEPTHWISE_CONV_2D));
