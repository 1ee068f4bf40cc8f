// SPDX-License-Identifier: Apache-2.0
// Pointwise convolutions of dynamically quantised images: in XNNPACK they are fully
// connected layers, so each pixel is quantised by itself.
#include "graph.h"

// Whether it is a sum over the channels of each pixel.
static bool is_pointwise(const ember_xnn_node_t *node) {
    if (node->kind != XNN_CONV_2D) {
        return false;
    }
    const uint32_t *params = node->params;
    uint32_t padding = 0;
    for (uint32_t i = 0; i < 4; i++) {
        padding |= params[CONV_PADDING + i];
    }
    return padding == 0 && params[CONV_KERNEL] == 1 && params[CONV_KERNEL + 1] == 1 &&
           params[CONV_STRIDE] == 1 && params[CONV_STRIDE + 1] == 1 &&
           params[CONV_GROUPS] == 1 && node->flags == 0;
}

static bool reads(const ember_xnn_node_t *node, const ember_xnn_value_t *value) {
    bool found = false;
    for (uint32_t i = 0; i < node->inputs; i++) {
        found = found || node->in[i] == value;
    }
    return found;
}

// Whether an image is read only by such convolutions. Others need one scale for all of
// it.
static bool is_of_pixels(const ember_xnn_graph_t *graph,
                         const ember_xnn_value_t *image) {
    for (uint32_t i = image->first; i <= image->last; i++) {
        const ember_xnn_node_t *node = &graph->nodes[i];
        if (reads(node, image) && !(node->in[0] == image && is_pointwise(node))) {
            return false;
        }
    }
    return true;
}

void ember_xnn_split_pixels(ember_xnn_graph_t *graph) {
    for (uint32_t i = 0; i < graph->node_count; i++) {
        ember_xnn_value_t *image = graph->nodes[i].out[0];
        if (graph->nodes[i].kind != XNN_CONVERT || image->datatype != XNN_QDS8 ||
            image->group != 3 || !is_of_pixels(graph, image)) {
            continue;
        }
        image->group = 1;
        for (uint32_t reader = image->first; reader <= image->last; reader++) {
            if (graph->nodes[reader].in[0] == image) {
                graph->nodes[reader].kind = XNN_FULLY_CONNECTED;
            }
        }
    }
}
