// SPDX-License-Identifier: Apache-2.0
// From one datatype to another, including int8 with parameters of each row.
#include "elements.h"

static ember_status_t prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    return ember_xnn_unary_prepare(graph, node);
}

static void compute(float *x, uint32_t count, float parameter) {
    (void)x;
    (void)count;
    (void)parameter;
}

static void run(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node) {
    (void)graph;
    ember_xnn_unary_run(node, compute);
}

XNN_KERNEL(convert, NULL, ember_xnn_shape_same, XNN_KIND(CONVERT));
