// SPDX-License-Identifier: Apache-2.0
// A block of the input from `offsets` on; a size of 0 extends to the end.
#include "move.h"

static bool read_block(const ember_xnn_node_t *node, int32_t *offsets, int32_t *sizes) {
    const ember_xnn_value_t *input = node->in[0];
    const uint32_t rank = input->rank;
    if (node->params[0] != rank || !ember_xnn_items(node, 0, rank, offsets) ||
        !ember_xnn_items(node, 1, rank, sizes)) {
        return false;
    }
    for (uint32_t i = 0; i < rank; i++) {
        if (offsets[i] > input->sizes[i] || sizes[i] > input->sizes[i] - offsets[i]) {
            return false;
        }
        sizes[i] = sizes[i] == 0 ? input->sizes[i] - offsets[i] : sizes[i];
    }
    return true;
}

static ember_status_t shape(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    int32_t offsets[XNN_MOST_DIMS];
    int32_t sizes[XNN_MOST_DIMS];
    return read_block(node, offsets, sizes) &&
                   ember_xnn_resize(graph, node->out[0], node->in[0]->rank, sizes)
               ? EMBER_OK
               : ember_xnn_bad_shape(graph);
}

static ember_status_t prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    (void)graph;
    return ember_xnn_same_elements(node, 0) ? EMBER_OK : EMBER_UNSUPPORTED;
}

static void run(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node) {
    (void)graph;
    const ember_xnn_value_t *out = node->out[0];
    int32_t offsets[XNN_MOST_DIMS];
    size_t start = 0;
    ember_xnn_move_t move = {
        .rank = out->rank,
        .element_size = ember_xnn_element_size(out->datatype),
    };
    if (out->numel == 0) {
        return;
    }
    (void)read_block(node, offsets, move.sizes);
    ember_xnn_steps(node->in[0], move.from_steps);
    ember_xnn_steps(out, move.to_steps);
    for (uint32_t i = 0; i < out->rank; i++) {
        start += (size_t)offsets[i] * (uint32_t)move.from_steps[i];
    }
    ember_xnn_move(&move, out->data,
                   (uint8_t *)node->in[0]->data + start * move.element_size);
}

XNN_KERNEL(static_slice, NULL, shape, XNN_KIND(STATIC_SLICE));
