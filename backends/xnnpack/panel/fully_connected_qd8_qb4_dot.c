// SPDX-License-Identifier: Apache-2.0
// Fully connected, dynamically quantised int8, int4 weights in groups, by SDOT.
#include "panel.h"

static const ember_xnn_form_t *form_of(const ember_xnn_node_t *node) {
    return node->out[0]->datatype == XNN_F16 ? &ember_xnn_form_qd8_qb4_half
                                             : &ember_xnn_form_qd8_qb4_dot;
}

static ember_status_t prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    // Sums that become float16 read whole vectors of a group.
    return node->out[0]->datatype == XNN_F16 && node->in[1]->group % XNN_READ != 0
               ? EMBER_UNSUPPORTED
               : ember_xnn_panel_linear(graph, node, form_of(node));
}

static void run(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node) {
    ember_xnn_panel_linear_run(graph, node, form_of(node));
}

XNN_KERNEL_FOR(EMBER_CPU_DOT, fully_connected_qd8_qb4_dot, "qp8_f32_qb4w_gemm",
               ember_xnn_linear_shape, XNN_KIND(FULLY_CONNECTED));
