// SPDX-License-Identifier: Apache-2.0
// Two to five inputs joined along one dimension.
#include "move.h"

static uint32_t axis_of(const ember_xnn_node_t *node) {
    const int64_t rank = node->in[0]->rank;
    const int64_t axis = (int32_t)node->params[0];
    return axis < 0 ? (uint32_t)(axis + rank) : (uint32_t)axis;
}

static ember_status_t shape(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    const ember_xnn_value_t *first = node->in[0];
    const uint32_t axis = axis_of(node);
    int32_t sizes[XNN_MOST_DIMS];
    int64_t length = 0;
    if (axis >= first->rank) {
        return ember_xnn_bad_shape(graph);
    }
    for (uint32_t k = 0; k < node->inputs; k++) {
        const ember_xnn_value_t *input = node->in[k];
        for (uint32_t i = 0; i < first->rank; i++) {
            if (input->rank != first->rank ||
                (i != axis && input->sizes[i] != first->sizes[i])) {
                return ember_xnn_bad_shape(graph);
            }
        }
        length += input->sizes[axis];
    }
    memcpy(sizes, first->sizes, sizeof(sizes));
    sizes[axis] = length <= INT32_MAX ? (int32_t)length : -1;
    return ember_xnn_resize(graph, node->out[0], first->rank, sizes)
               ? EMBER_OK
               : ember_xnn_bad_shape(graph);
}

static ember_status_t prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    (void)graph;
    for (uint32_t k = 0; k < node->inputs; k++) {
        if (!ember_xnn_same_elements(node, k)) {
            return EMBER_UNSUPPORTED;
        }
    }
    return EMBER_OK;
}

static void run(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node) {
    (void)graph;
    const ember_xnn_value_t *out = node->out[0];
    const uint32_t axis = axis_of(node);
    uint8_t *to = out->data;
    ember_xnn_move_t move = {
        .rank = out->rank,
        .element_size = ember_xnn_element_size(out->datatype),
    };
    if (out->numel == 0) {
        return;
    }
    ember_xnn_steps(out, move.to_steps);
    for (uint32_t k = 0; k < node->inputs; k++) {
        const ember_xnn_value_t *input = node->in[k];
        memcpy(move.sizes, input->sizes, sizeof(move.sizes));
        ember_xnn_steps(input, move.from_steps);
        ember_xnn_move(&move, to, input->data);
        to += (size_t)input->sizes[axis] * (uint32_t)move.to_steps[axis] *
              move.element_size;
    }
}

XNN_KERNEL(concatenate, NULL, shape,
           XNN_KIND(CONCATENATE_2) | XNN_KIND(CONCATENATE_3) | XNN_KIND(CONCATENATE_4) |
               XNN_KIND(CONCATENATE_5));
