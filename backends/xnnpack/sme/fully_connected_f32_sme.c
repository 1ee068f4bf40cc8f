// SPDX-License-Identifier: Apache-2.0
// Fully connected, float32, by outer products.
#include "sme_nodes.h"

static ember_status_t prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    return ember_xnn_sme_linear_prepare(graph, node, &ember_xnn_type_f32, XNN_SME_F32);
}

static void run(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node) {
    ember_xnn_sme_linear_run(graph, node, XNN_SME_F32);
}

XNN_KERNEL_FOR(EMBER_CPU_SME, fully_connected_f32_sme, "pf32_gemm",
               ember_xnn_linear_shape, XNN_KIND(FULLY_CONNECTED));
