// SPDX-License-Identifier: Apache-2.0
// Fully connected, static int8, by outer products.
#include "sme_nodes.h"

static ember_status_t prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    return ember_xnn_sme_linear_prepare(graph, node, &ember_xnn_sme_qs8, XNN_SME_QS8);
}

static void run(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node) {
    ember_xnn_sme_linear_run(graph, node, XNN_SME_QS8);
}

XNN_KERNEL_FOR(EMBER_CPU_SME, fully_connected_qs8_sme, "pqs8_qc8w_gemm",
               ember_xnn_linear_shape, XNN_KIND(FULLY_CONNECTED));
