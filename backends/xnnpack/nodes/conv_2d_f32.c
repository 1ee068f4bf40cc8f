// SPDX-License-Identifier: Apache-2.0
// Convolution, float32.
#include "window.h"

static ember_status_t prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    return ember_xnn_conv_prepare(graph, node, &ember_xnn_type_f32);
}

static void run(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node) {
    (void)graph;
    ember_xnn_conv_run(node, &ember_xnn_type_f32);
}

XNN_KERNEL(conv_2d_f32, "pf32_gemm", ember_xnn_conv_shape, XNN_KIND(CONV_2D));
