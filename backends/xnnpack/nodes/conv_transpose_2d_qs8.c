// SPDX-License-Identifier: Apache-2.0
// Transposed convolution, static int8.
#include "window.h"

static ember_status_t prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    return ember_xnn_conv_prepare(graph, node, &ember_xnn_type_qs8);
}

static void run(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node) {
    (void)graph;
    ember_xnn_transposed_run(node, &ember_xnn_type_qs8);
}

XNN_KERNEL(conv_transpose_2d_qs8, NULL, ember_xnn_transposed_shape,
           XNN_KIND(CONV_TRANSPOSE_2D));
