// SPDX-License-Identifier: Apache-2.0
// Fully connected, float16.
#include "product.h"

static ember_status_t prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    return ember_xnn_linear_prepare(graph, node, &ember_xnn_type_f16);
}

static void run(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node) {
    (void)graph;
    ember_xnn_linear_run(node, &ember_xnn_type_f16);
}

XNN_KERNEL(fully_connected_f16, "pf16_gemm", ember_xnn_linear_shape,
           XNN_KIND(FULLY_CONNECTED));
