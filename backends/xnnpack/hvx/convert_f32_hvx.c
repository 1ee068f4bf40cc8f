// SPDX-License-Identifier: Apache-2.0
// From static int8 to float32 with HVX.
#include "elements_hvx.h"
#include "kernels/engine/hvx/dequantize_hvx.h"

static ember_status_t prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    return xnn_types(node, XNN_QS8, XNN_F32) && xnn_is_open(node) &&
                   ember_dequantize_hvx_takes(node->in[0]->scale)
               ? ember_xnn_unary_prepare(graph, node)
               : EMBER_UNSUPPORTED;
}

static void run(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node) {
    const ember_xnn_value_t *in = node->in[0];
    (void)graph;
    ember_dequantize_s8_hvx(in->constant, node->out[0]->numel, in->scale, in->zero,
                            node->out[0]->data);
}

XNN_KERNEL(convert_f32_hvx, NULL, ember_xnn_shape_same, XNN_KIND(CONVERT));
