// SPDX-License-Identifier: Apache-2.0
// Convolution, static int8.
#include "window.h"

static ember_status_t prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    return ember_xnn_conv_prepare(graph, node, &ember_xnn_type_qs8);
}

static void run(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node) {
    (void)graph;
    ember_xnn_conv_run(node, &ember_xnn_type_qs8);
}

XNN_KERNEL(conv_2d_qs8, "pqs8_qc8w_gemm", ember_xnn_conv_shape, XNN_KIND(CONV_2D));
