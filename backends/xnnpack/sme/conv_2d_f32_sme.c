// SPDX-License-Identifier: Apache-2.0
// Convolution, float32, by outer products.
#include "sme_nodes.h"

static ember_status_t prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    return ember_xnn_sme_conv_prepare(graph, node, &ember_xnn_type_f32, XNN_SME_F32);
}

static void run(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node) {
    ember_xnn_sme_conv_run(graph, node, XNN_SME_F32);
}

XNN_KERNEL_FOR(EMBER_CPU_SME, conv_2d_f32_sme, "pf32_gemm", ember_xnn_conv_shape,
               XNN_KIND(CONV_2D));
