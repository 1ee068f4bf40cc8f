// SPDX-License-Identifier: Apache-2.0
// From float32 to static int8, in streaming mode.
#include "backends/xnnpack/nodes/elements.h"
#include "gemm.h"

static ember_status_t prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    return xnn_types(node, XNN_F32, XNN_QS8) ? ember_xnn_unary_prepare(graph, node)
                                             : EMBER_UNSUPPORTED;
}

static void run(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node) {
    (void)graph;
    const ember_xnn_value_t *out = node->out[0];
    const ember_xnn_sme_quantize_t job = {
        .x = node->in[0]->constant, .y = out->data, .count = 1, .length = out->numel};
    ember_xnn_range_t range;
    (void)ember_xnn_range(node, &range);
    ember_xnn_sme_quantize_fixed(&job, 1.0f / out->scale, &range);
}

XNN_KERNEL_FOR(EMBER_CPU_SME, convert_qs8_sme, NULL, ember_xnn_shape_same,
               XNN_KIND(CONVERT));
