// SPDX-License-Identifier: Apache-2.0
// Fully connected, float32.
#include "product.h"

static ember_status_t prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    return ember_xnn_linear_prepare(graph, node, &ember_xnn_type_f32);
}

static void run(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node) {
    (void)graph;
    ember_xnn_linear_run(node, &ember_xnn_type_f32);
}

XNN_KERNEL(fully_connected_f32, "pf32_gemm", ember_xnn_linear_shape,
           XNN_KIND(FULLY_CONNECTED));
