// SPDX-License-Identifier: Apache-2.0
#include "softmax.h"

// Bytes of a row in scratch.
static uint32_t scratch_of(const ember_xnn_node_t *node) {
    return 4 * (((uint32_t)xnn_size(node->in[0], 0) + 3) & ~(uint32_t)3);
}

ember_status_t ember_xnn_softmax_prepare(ember_xnn_graph_t *graph,
                                         ember_xnn_node_t *node) {
    node->scratch = scratch_of(node);
    if (node->in[0]->rank < 1 || node->in[0]->datatype == XNN_QS8) {
        return EMBER_UNSUPPORTED;
    }
    return ember_xnn_unary_prepare(graph, node);
}

// A row must not grow beyond its place in scratch.
ember_status_t ember_xnn_softmax_shape(ember_xnn_graph_t *graph,
                                       ember_xnn_node_t *node) {
    if (graph->placed && scratch_of(node) > node->scratch) {
        return ember_xnn_bad_shape(graph);
    }
    return ember_xnn_shape_same(graph, node);
}

void ember_xnn_softmax_run(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node,
                           ember_xnn_softmax_fn compute) {
    const ember_xnn_value_t *input = node->in[0];
    const uint32_t count = (uint32_t)xnn_size(input, 0);
    float *x = (float *)(void *)graph->work;
    for (uint32_t at = 0; at < input->numel; at += count) {
        ember_xnn_load(input, xnn_at(input, at), 1, count, x);
        compute(x, count);
        ember_xnn_store(node, xnn_at(node->out[0], at), count, x);
    }
}
