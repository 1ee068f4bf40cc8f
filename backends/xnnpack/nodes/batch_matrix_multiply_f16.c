// SPDX-License-Identifier: Apache-2.0
// Matrix products of batches, float16.
#include "batch_matmul.h"

static ember_status_t prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    return ember_xnn_matmul_prepare(graph, node, &ember_xnn_type_f16);
}

static void run(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node) {
    (void)graph;
    ember_xnn_matmul_run(node, &ember_xnn_type_f16);
}

XNN_KERNEL(batch_matrix_multiply_f16, "pf16_gemm", ember_xnn_matmul_shape,
           XNN_KIND(BATCH_MATRIX_MULTIPLY));
