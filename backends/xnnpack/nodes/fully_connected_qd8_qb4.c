// SPDX-License-Identifier: Apache-2.0
// Fully connected, dynamically quantised int8, int4 weights in groups.
#include "product.h"

// Keeps the initial sums of all columns.
static ember_status_t keep_starts(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    const ember_xnn_value_t *weights = node->in[1];
    const uint32_t columns = (uint32_t)weights->sizes[0];
    const uint32_t k = (uint32_t)weights->sizes[1];
    const uint32_t group = weights->group;
    if (weights->constant == NULL || weights->scales == NULL) {
        return EMBER_OK; // left out: nothing runs
    }
    float *starts = ember_arena_alloc(graph->info->arena, 4 * (size_t)columns, 4);
    if (starts == NULL) {
        return EMBER_NO_MEMORY;
    }
    for (uint32_t i = 0; i < columns; i++) {
        const size_t first = (size_t)i * k;
        starts[i] = xnn_group_start((const uint8_t *)weights->constant + first / 2,
                                    (const uint16_t *)weights->scales + first / group,
                                    k, group);
    }
    node->scales = starts;
    return EMBER_OK;
}

static ember_status_t prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    const ember_status_t status =
        ember_xnn_linear_prepare(graph, node, &ember_xnn_type_qd8_qb4);
    return status == EMBER_OK ? keep_starts(graph, node) : status;
}

static void run(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node) {
    (void)graph;
    ember_xnn_linear_run(node, &ember_xnn_type_qd8_qb4);
}

XNN_KERNEL(fully_connected_qd8_qb4, "qp8_f32_qb4w_gemm", ember_xnn_linear_shape,
           XNN_KIND(FULLY_CONNECTED));
