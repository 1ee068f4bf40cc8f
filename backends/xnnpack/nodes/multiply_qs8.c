// SPDX-License-Identifier: Apache-2.0
// Product of static int8 values, see multiply.h.
#include "multiply.h"

static ember_status_t prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    return ember_xnn_multiply_prepare(graph, node);
}

static void run(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node) {
    (void)graph;
    ember_xnn_multiply_run(node, ember_xnn_multiply_line);
}

XNN_KERNEL(multiply_qs8, NULL, ember_xnn_broadcast_shape, XNN_KIND(MULTIPLY));
