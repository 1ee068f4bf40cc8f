// SPDX-License-Identifier: Apache-2.0
// ELU: alpha * (exp(x) - 1) below zero.
#include "elements.h"

static void compute(float *x, uint32_t count, float alpha) {
    for (uint32_t i = 0; i < count; i++) {
        x[i] = x[i] < 0.0f ? alpha * ember_expm1f(x[i]) : x[i];
    }
}

static ember_status_t prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    return ember_xnn_unary_prepare(graph, node);
}

static void run(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node) {
    (void)graph;
    ember_xnn_unary_run(node, compute);
}

XNN_KERNEL(elu, NULL, ember_xnn_shape_same, XNN_KIND(ELU));
