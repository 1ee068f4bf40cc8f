// SPDX-License-Identifier: Apache-2.0
#include "describe.h"

#include "graph.h"

// A float convolution is one product of matrices only when its kernel is one pixel.
static bool is_product(const ember_xnn_node_t *node) {
    return node->kind != XNN_CONV_2D || node->in[0]->datatype == XNN_QS8 ||
           (node->params[CONV_KERNEL] == 1 && node->params[CONV_KERNEL + 1] == 1);
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
    return true;
}
