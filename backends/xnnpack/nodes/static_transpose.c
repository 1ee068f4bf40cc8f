// SPDX-License-Identifier: Apache-2.0
// Permutes dimensions.
#include "move.h"

bool ember_xnn_transpose_order(const ember_xnn_node_t *node, int32_t *order) {
    const uint32_t rank = node->in[0]->rank;
    uint32_t seen = 0;
    if (node->params[0] != rank || !ember_xnn_items(node, 0, rank, order)) {
        return false;
    }
    for (uint32_t i = 0; i < rank; i++) {
        if ((uint32_t)order[i] >= rank || (seen >> order[i] & 1) != 0) {
            return false;
        }
        seen |= 1u << order[i];
    }
    return true;
}

ember_status_t ember_xnn_transpose_shape(ember_xnn_graph_t *graph,
                                         ember_xnn_node_t *node) {
    int32_t order[XNN_MOST_DIMS];
    int32_t sizes[XNN_MOST_DIMS];
    if (!ember_xnn_transpose_order(node, order)) {
        return ember_xnn_bad_shape(graph);
    }
    for (uint32_t i = 0; i < node->in[0]->rank; i++) {
        sizes[i] = node->in[0]->sizes[order[i]];
    }
    return ember_xnn_resize(graph, node->out[0], node->in[0]->rank, sizes)
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
    int32_t order[XNN_MOST_DIMS];
    int32_t steps[XNN_MOST_DIMS];
    ember_xnn_move_t move = {
        .rank = out->rank,
        .element_size = ember_xnn_element_size(out->datatype),
    };
    (void)!ember_xnn_transpose_order(node, order);
    ember_xnn_steps(node->in[0], steps);
    ember_xnn_steps(out, move.to_steps);
    for (uint32_t i = 0; i < out->rank; i++) {
        move.sizes[i] = out->sizes[i];
        move.from_steps[i] = steps[order[i]];
    }
    ember_xnn_move(&move, out->data, node->in[0]->data);
}

XNN_KERNEL(static_transpose, NULL, ember_xnn_transpose_shape,
           XNN_KIND(STATIC_TRANSPOSE));
