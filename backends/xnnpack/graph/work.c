// SPDX-License-Identifier: Apache-2.0
// A bound of the steps of one run, from a graph with its largest shapes.
#include "graph.h"

#define MOST (UINT64_C(1) << 62)

// What a call and a node take, however small they are.
enum { GRAPH_STEPS = 64, NODE_STEPS = 32 };

// Kinds whose elements of the output take more than what they are made of.
#define RESULTS                                                                        \
    (XNN_KIND(FULLY_CONNECTED) | XNN_KIND(BATCH_MATRIX_MULTIPLY) | XNN_KIND(CONV_2D) | \
     XNN_KIND(DEPTHWISE_CONV_2D) | XNN_KIND(CONV_TRANSPOSE_2D) |                       \
     XNN_KIND(AVG_POOLING_2D) | XNN_KIND(MAX_POOLING_2D) |                             \
     XNN_KIND(ARG_MAX_POOLING_2D) | XNN_KIND(GLOBAL_AVG_POOLING_2D) |                  \
     XNN_KIND(STATIC_RESIZE_BILINEAR_2D) | XNN_KIND(SOFTMAX))

// Elements; for an empty value, what a walk over its sizes visits.
static uint64_t extent(const ember_xnn_value_t *value) {
    uint64_t extent = 1;
    for (uint32_t i = 0; i < value->rank; i++) {
        extent *= value->sizes[i] > 0 ? (uint64_t)value->sizes[i] : 1;
    }
    return extent;
}

// The most elements of a window: what is outside the image is skipped.
static uint64_t window(const ember_xnn_node_t *node) {
    const uint64_t height = (uint64_t)xnn_size(node->in[0], 2);
    const uint64_t width = (uint64_t)xnn_size(node->in[0], 1);
    const uint64_t down = node->params[POOL_KERNEL];
    const uint64_t across = node->params[POOL_KERNEL + 1];
    return (down < height ? down : height) * (across < width ? across : width);
}

// Steps for each element of the first output, besides reading and writing it.
static uint64_t steps_of_output(const ember_xnn_node_t *node) {
    switch (node->kind) {
    case XNN_FULLY_CONNECTED:
    case XNN_BATCH_MATRIX_MULTIPLY:
        return (uint64_t)xnn_size(node->in[0], 0);
    case XNN_CONV_2D:
    case XNN_DEPTHWISE_CONV_2D:
    case XNN_CONV_TRANSPOSE_2D: { // its share of the weights
        const uint64_t channels = (uint64_t)xnn_size(node->out[0], 0);
        return node->in[1]->numel / (channels > 0 ? channels : 1);
    }
    case XNN_AVG_POOLING_2D:
    case XNN_MAX_POOLING_2D:
    case XNN_ARG_MAX_POOLING_2D:
        return window(node);
    default:
        return 0;
    }
}

uint64_t ember_xnn_work(const ember_xnn_node_t *node) {
    uint64_t steps = 1 + extent(node->out[0]) * steps_of_output(node);
    for (uint32_t i = 0; i < node->inputs; i++) {
        steps += node->in[i] != NULL ? extent(node->in[i]) : 0;
    }
    for (uint32_t i = 0; i < XNN_MOST_OUTPUTS; i++) {
        steps += node->out[i] != NULL ? extent(node->out[i]) : 0;
    }
    return steps;
}

uint64_t ember_xnn_bound(const ember_xnn_graph_t *graph) {
    uint64_t steps = GRAPH_STEPS;
    for (uint32_t i = 0; i < graph->node_count && steps < MOST; i++) {
        const ember_xnn_node_t *node = &graph->nodes[i];
        steps += NODE_STEPS + ember_xnn_work(node);
        if ((RESULTS >> node->kind & 1) != 0) {
            steps += extent(node->out[0]) * EMBER_STEPS_RESULT;
        }
    }
    return steps < MOST ? steps : MOST;
}
