// SPDX-License-Identifier: Apache-2.0
// Pads the input with a constant.
#include "elements.h"
#include "move.h"

static ember_status_t shape(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    const ember_xnn_value_t *input = node->in[0];
    int32_t before[XNN_MOST_DIMS];
    int32_t after[XNN_MOST_DIMS];
    int32_t sizes[XNN_MOST_DIMS];
    if (!ember_xnn_items(node, 0, input->rank, before) ||
        !ember_xnn_items(node, 1, input->rank, after)) {
        return ember_xnn_bad_shape(graph);
    }
    for (uint32_t i = 0; i < input->rank; i++) {
        const int64_t size = (int64_t)input->sizes[i] + before[i] + after[i];
        sizes[i] = size <= INT32_MAX ? (int32_t)size : -1;
    }
    return ember_xnn_resize(graph, node->out[0], input->rank, sizes)
               ? EMBER_OK
               : ember_xnn_bad_shape(graph);
}

static ember_status_t prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    (void)graph;
    return ember_xnn_same_elements(node, 0) && ember_xnn_is_plain(node->out[0])
               ? EMBER_OK
               : EMBER_UNSUPPORTED;
}

static void fill(const ember_xnn_node_t *node) {
    const ember_xnn_value_t *out = node->out[0];
    const float number = ember_float_from(node->params[0]);
    float x[XNN_CHUNK];
    for (uint32_t at = 0; at < out->numel; at += XNN_CHUNK) {
        const uint32_t count =
            out->numel - at < XNN_CHUNK ? out->numel - at : XNN_CHUNK;
        for (uint32_t i = 0; i < count; i++) {
            x[i] = number;
        }
        ember_xnn_store(node, xnn_at(out, at), count, x);
    }
}

static void run(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node) {
    (void)graph;
    const ember_xnn_value_t *out = node->out[0];
    int32_t before[XNN_MOST_DIMS];
    size_t start = 0;
    ember_xnn_move_t move = {
        .rank = out->rank,
        .element_size = ember_xnn_element_size(out->datatype),
    };
    fill(node);
    if (node->in[0]->numel == 0) {
        return;
    }
    (void)!ember_xnn_items(node, 0, out->rank, before);
    memcpy(move.sizes, node->in[0]->sizes, sizeof(move.sizes));
    ember_xnn_steps(node->in[0], move.from_steps);
    ember_xnn_steps(out, move.to_steps);
    for (uint32_t i = 0; i < out->rank; i++) {
        start += (size_t)before[i] * (uint32_t)move.to_steps[i];
    }
    ember_xnn_move(&move, xnn_at(out, start), node->in[0]->data);
}

XNN_KERNEL(static_constant_pad, NULL, shape, XNN_KIND(STATIC_CONSTANT_PAD));
