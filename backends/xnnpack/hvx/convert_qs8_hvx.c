// SPDX-License-Identifier: Apache-2.0
// From float32 to static int8 with HVX.
#include "elements_hvx.h"

static ember_status_t prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    return xnn_types(node, XNN_F32, XNN_QS8) &&
                   xnn_hvx_is_scale(1.0f / node->out[0]->scale)
               ? ember_xnn_unary_prepare(graph, node)
               : EMBER_UNSUPPORTED;
}

static void run(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node) {
    ember_xnn_range_t range;
    (void)graph;
    (void)ember_xnn_range(node, &range);
    xnn_hvx_quantise(node->in[0]->constant, node->out[0]->numel,
                     1.0f / node->out[0]->scale, &range, node->out[0]->data);
}

XNN_KERNEL(convert_qs8_hvx, NULL, ember_xnn_shape_same, XNN_KIND(CONVERT));
