// SPDX-License-Identifier: Apache-2.0
// Fully connected, float32, by panels.
#include "panel.h"

static ember_status_t prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    return ember_xnn_panel_linear(graph, node, &ember_xnn_form_f32_neon);
}

static void run(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node) {
    ember_xnn_panel_linear_run(graph, node, &ember_xnn_form_f32_neon);
}

XNN_KERNEL_FOR(EMBER_CPU_NEON, fully_connected_f32_neon, "pf32_gemm",
               ember_xnn_linear_shape, XNN_KIND(FULLY_CONNECTED));
