// SPDX-License-Identifier: Apache-2.0
// Matrix products of batches, float16, by outer products.
#include "sme_nodes.h"

static ember_status_t shape(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    return ember_xnn_sme_matmul_shape(graph, node, XNN_SME_F16);
}

static ember_status_t prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    return ember_xnn_sme_matmul_prepare(graph, node, &ember_xnn_type_f16, XNN_SME_F16);
}

static void run(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node) {
    ember_xnn_sme_matmul_run(graph, node, XNN_SME_F16);
}

XNN_KERNEL_FOR(EMBER_CPU_SME, batch_matrix_multiply_f16_sme, "pf16_gemm", shape,
               XNN_KIND(BATCH_MATRIX_MULTIPLY));
