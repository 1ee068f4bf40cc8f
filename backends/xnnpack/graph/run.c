// SPDX-License-Identifier: Apache-2.0
// Runs a graph in which everything has its place: all that prepared firmware has of the
// backend besides what computes nodes.
#include "graph.h"

// From the last element on: the wide ones are in the memory of the narrow ones.
static void widen(const ember_xnn_value_t *value) {
    uint8_t *data = value->data;
    for (uint32_t i = value->numel; i-- > 0;) {
        int32_t number;
        memcpy(&number, data + 4 * (size_t)i, sizeof(number));
        const int64_t wide = number;
        memcpy(data + 8 * (size_t)i, &wide, sizeof(wide));
    }
}

void ember_xnn_widen(const ember_xnn_graph_t *graph) {
    for (uint32_t i = 0; i < graph->value_count; i++) {
        if (graph->values[i].wide) {
            widen(&graph->values[i]);
        }
    }
}

int32_t ember_run_xnnpack(void *state) {
    const ember_xnn_graph_t *graph = state;
    for (uint32_t i = 0; i < graph->node_count; i++) {
        graph->nodes[i].run(graph, &graph->nodes[i]);
    }
    ember_xnn_widen(graph);
    return EMBER_OK;
}
