// SPDX-License-Identifier: Apache-2.0
#include "describe.h"

// A float convolution is a single matrix product only if its kernel is one pixel.
static bool is_product(const ember_xnn_node_t *node) {
    return node->kind != XNN_CONV_2D || node->in[0]->datatype == XNN_QS8 ||
           (node->params[CONV_KERNEL] == 1 && node->params[CONV_KERNEL + 1] == 1);
}

// What the node packed, if the program can hold it instead of the weights.
static void describe_packed(const ember_xnn_graph_t *graph,
                            const ember_xnn_node_t *node,
                            ember_xnnpack_choice_t *choice) {
    const ember_xnn_packing_t *packing = ember_xnn_packing(node);
    if (packing != NULL) {
        const uint32_t length =
            ember_xnn_packing_name(graph, node->in[1], packing, choice->name);
        choice->name[length] = '\0';
        choice->packed = length > 0 ? node->packed : NULL;
        choice->size = packing->size;
        choice->scales = packing->layout->scales;
    }
}

bool ember_xnnpack_describe(const void *handle, uint32_t index,
                            ember_xnnpack_choice_t *choice) {
    const ember_xnn_graph_t *graph = handle;
    if (index >= graph->node_count) {
        return false;
    }
    const ember_xnn_node_t *node = &graph->nodes[index];
    choice->kernel = node->kernel->name;
    choice->variant = is_product(node) ? node->kernel->variant : NULL;
    choice->packed = NULL;
    choice->refusals = node->refusals;
    choice->row = node->kind == XNN_FULLY_CONNECTED &&
                  node->out[0]->numel <= (uint32_t)xnn_size(node->out[0], 0);
    describe_packed(graph, node, choice);
    return true;
}

// Bytes of the values that are alive while node `index` runs.
static uint32_t alive_at(const ember_xnn_graph_t *graph, uint32_t index) {
    uint32_t bytes = 0;
    for (uint32_t i = 0; i < graph->value_count; i++) {
        const ember_xnn_value_t *value = &graph->values[i];
        if (value->place == XNN_INTERNAL && value->known && value->first <= index &&
            index <= value->last) {
            bytes += value->capacity;
        }
    }
    return bytes;
}

ember_xnnpack_scratch_t ember_xnnpack_scratch(const void *handle) {
    const ember_xnn_graph_t *graph = handle;
    ember_xnnpack_scratch_t found = {.values = graph->internal,
                                     .work = graph->scratch - graph->internal};
    for (uint32_t i = 0; i < graph->node_count; i++) {
        const uint32_t bytes = alive_at(graph, i);
        found.bound = bytes > found.bound ? bytes : found.bound;
    }
    return found;
}
