// SPDX-License-Identifier: Apache-2.0
#include "broadcast.h"

#include "kernels/engine/strided.h"

enum { OPERANDS = 3 };

ember_status_t ember_xnn_broadcast_shape(ember_xnn_graph_t *graph,
                                         ember_xnn_node_t *node) {
    const ember_tensor_t a = {.sizes = node->in[0]->sizes, .rank = node->in[0]->rank};
    const ember_tensor_t b = {.sizes = node->in[1]->sizes, .rank = node->in[1]->rank};
    const ember_tensor_t *const both[] = {&a, &b};
    int32_t sizes[XNN_MOST_DIMS];
    uint32_t rank;
    return ember_broadcast_shape(both, 2, sizes, &rank) &&
                   ember_xnn_resize(graph, node->out[0], rank, sizes)
               ? EMBER_OK
               : ember_xnn_bad_shape(graph);
}

// Table rows {size, step of y, of a, of b}, in bytes, outermost first.
static uint32_t fill(const ember_xnn_value_t *const *values, int32_t *table) {
    const uint32_t rank = values[0]->rank;
    for (uint32_t k = 0; k < OPERANDS; k++) {
        int32_t step = (int32_t)ember_xnn_element_size(values[0]->datatype);
        for (uint32_t i = 0; i < rank; i++) { // from the innermost
            int32_t *row = table + (rank - 1 - i) * (OPERANDS + 1);
            const int32_t size = xnn_size(values[k], i);
            row[0] = xnn_size(values[0], i);
            row[1 + k] = size != 1 ? step : 0;
            step *= size;
        }
    }
    return ember_walk_join(table, rank, OPERANDS);
}

void ember_xnn_broadcast_run(const ember_xnn_node_t *node, const void *context,
                             ember_xnn_line_fn compute) {
    const ember_xnn_value_t *const values[] = {node->out[0], node->in[0], node->in[1]};
    const int32_t size = (int32_t)ember_xnn_element_size(values[0]->datatype);
    int32_t table[EMBER_WALK_ITEMS(OPERANDS)];
    ember_walk_t walk;
    if (values[0]->numel == 0) {
        return;
    }
    const uint32_t dims = fill(values, table);
    const int32_t *row = table + (dims - 1) * (OPERANDS + 1);
    ember_walk_start(&walk, table, dims, OPERANDS);
    for (uint32_t k = 0; k < OPERANDS; k++) {
        walk.at[k] = values[k]->data;
    }
    do {
        for (int32_t i = 0; i < row[0]; i += XNN_CHUNK) {
            const ember_xnn_line_t line = {
                .y = walk.at[0] + (ptrdiff_t)i * row[1],
                .a = walk.at[1] + (ptrdiff_t)i * row[2],
                .b = walk.at[2] + (ptrdiff_t)i * row[3],
                .a_step = (uint32_t)(row[2] / size),
                .b_step = (uint32_t)(row[3] / size),
                .count = (uint32_t)(row[0] - i < XNN_CHUNK ? row[0] - i : XNN_CHUNK),
            };
            compute(node, context, &line);
        }
    } while (ember_walk_next(&walk));
}
