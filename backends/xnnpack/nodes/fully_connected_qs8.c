// SPDX-License-Identifier: Apache-2.0
// Fully connected, static int8.
#include "product.h"

static ember_status_t prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    return ember_xnn_linear_prepare(graph, node, &ember_xnn_type_qs8);
}

static void run(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node) {
    (void)graph;
    ember_xnn_linear_run(node, &ember_xnn_type_qs8);
}

XNN_KERNEL(fully_connected_qs8, "pqs8_qc8w_gemm", ember_xnn_linear_shape,
           XNN_KIND(FULLY_CONNECTED));
