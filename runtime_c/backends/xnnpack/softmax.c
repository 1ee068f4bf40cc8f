// SPDX-License-Identifier: Apache-2.0
// Softmax along the innermost dimension.
#include "elements.h"

static ember_status_t prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    const uint32_t line = (uint32_t)xnn_size(node->in[0], 0);
    node->scratch = 4 * line;
    if (node->in[0]->rank < 1 || node->in[0]->datatype == XNN_QS8) {
        return EMBER_UNSUPPORTED;
    }
    return ember_xnn_unary_prepare(graph, node);
}

// A line must not grow beyond its place in scratch.
static ember_status_t shape(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    if (graph->placed && 4 * (uint32_t)xnn_size(node->in[0], 0) > node->scratch) {
        return ember_xnn_bad_shape(graph);
    }
    return ember_xnn_shape_same(graph, node);
}

static float largest(const float *x, uint32_t count) {
    float found = x[0];
    for (uint32_t i = 1; i < count; i++) {
        found = x[i] > found ? x[i] : found;
    }
    return found;
}

static void run(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node) {
    const ember_xnn_value_t *input = node->in[0];
    const uint32_t count = (uint32_t)xnn_size(input, 0);
    float *x = (float *)(void *)graph->work;
    for (uint32_t at = 0; at < input->numel; at += count) {
        float sum = 0.0f;
        ember_xnn_load(input, xnn_at(input, at), 1, count, x);
        const float top = largest(x, count);
        for (uint32_t i = 0; i < count; i++) {
            x[i] = ember_expf(x[i] - top);
            sum += x[i];
        }
        for (uint32_t i = 0; i < count; i++) {
            x[i] *= 1.0f / sum;
        }
        ember_xnn_store(node, xnn_at(node->out[0], at), count, x);
    }
}

XNN_KERNEL(softmax, NULL, shape, XNN_KIND(SOFTMAX));
