// SPDX-License-Identifier: Apache-2.0
// Convolution, float32, by panels.
#include "backends/xnnpack/nodes/window.h"
#include "panel.h"

static ember_status_t prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    return ember_xnn_panel_conv(graph, node, &ember_xnn_form_f32_neon);
}

static void run(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node) {
    ember_xnn_panel_conv_run(graph, node, &ember_xnn_form_f32_neon);
}

XNN_KERNEL_FOR(EMBER_CPU_NEON, conv_2d_f32_neon, "pf32_gemm", ember_xnn_conv_shape,
               XNN_KIND(CONV_2D));
