// SPDX-License-Identifier: Apache-2.0
// Sum and difference of static int8 values, see add.h.
#include "add.h"

static ember_status_t prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    return ember_xnn_add_prepare(graph, node);
}

static void run(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node) {
    (void)graph;
    ember_xnn_add_run(node, ember_xnn_add_line);
}

XNN_KERNEL(add_qs8, NULL, ember_xnn_broadcast_shape,
           XNN_KIND(ADD) | XNN_KIND(SUBTRACT));
