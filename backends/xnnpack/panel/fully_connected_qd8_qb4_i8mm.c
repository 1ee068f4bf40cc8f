// SPDX-License-Identifier: Apache-2.0
// Fully connected, dynamically quantised int8, int4 weights in groups, by SMMLA.
#include "panel.h"

static ember_status_t prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    // Sums that become float16 are split in four, with two products in eight each.
    return node->out[0]->datatype == XNN_F16
               ? xnn_refuse(node, XNN_HALF_SUMS)
               : ember_xnn_panel_linear(graph, node, &ember_xnn_form_qd8_qb4_i8mm);
}

static void run(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node) {
    ember_xnn_panel_linear_run(graph, node, &ember_xnn_form_qd8_qb4_i8mm);
}

XNN_KERNEL_FOR(EMBER_CPU_I8MM, fully_connected_qd8_qb4_i8mm, "qp8_f32_qb4w_gemm",
               ember_xnn_linear_shape, XNN_KIND(FULLY_CONNECTED));
