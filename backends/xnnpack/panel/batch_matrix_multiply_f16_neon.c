// SPDX-License-Identifier: Apache-2.0
// Matrix products of batches, float16, by panels.
#include "backends/xnnpack/nodes/batch_matmul.h"
#include "panel.h"

static ember_status_t prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    return ember_xnn_panel_matmul(graph, node, &ember_xnn_form_f16_matmul_neon);
}

static void run(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node) {
    ember_xnn_panel_matmul_run(graph, node, &ember_xnn_form_f16_matmul_neon);
}

XNN_KERNEL_FOR(EMBER_CPU_NEON, batch_matrix_multiply_f16_neon, "pf16_gemm",
               ember_xnn_matmul_shape, XNN_KIND(BATCH_MATRIX_MULTIPLY));
