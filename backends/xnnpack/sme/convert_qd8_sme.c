// SPDX-License-Identifier: Apache-2.0
// From floats to dynamically quantised int8, with parameters for each row, in streaming
// mode.
#include "backends/xnnpack/nodes/convert_qd8.h"
#include "gemm.h"

static ember_status_t prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    return ember_xnn_qd8_prepare(graph, node);
}

static void run(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node) {
    (void)graph;
    const ember_xnn_value_t *out = node->out[0];
    ember_xnn_sme_quantize_t job = {
        .x = node->in[0]->constant,
        .y = out->data,
        .rows = xnn_rows(out),
        .length = 1,
        .half = node->in[0]->datatype == XNN_F16,
    };
    for (uint32_t i = 0; i < out->group; i++) {
        job.length *= (uint32_t)xnn_size(out, i);
    }
    job.count = job.length > 0 ? out->numel / job.length : 0;
    ember_xnn_sme_quantize(&job);
}

XNN_KERNEL_FOR(EMBER_CPU_SME, convert_qd8_sme, NULL, ember_xnn_shape_same,
               XNN_KIND(CONVERT));
