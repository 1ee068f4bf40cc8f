// SPDX-License-Identifier: Apache-2.0
// Fully connected, float16, by panels.
#include "panel.h"

static ember_status_t prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    return ember_xnn_panel_linear(graph, node, ember_xnn_panel_f16(node));
}

static void run(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node) {
    ember_xnn_panel_linear_run(graph, node, ember_xnn_panel_f16(node));
}

XNN_KERNEL_FOR(EMBER_CPU_NEON, fully_connected_f16_neon, "pf16_gemm",
               ember_xnn_linear_shape, XNN_KIND(FULLY_CONNECTED));
