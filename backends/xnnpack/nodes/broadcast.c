// SPDX-License-Identifier: Apache-2.0
#include "broadcast.h"

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
    for (uint32_t k = 0; k < XNN_OPERANDS; k++) {
        int32_t step = (int32_t)ember_xnn_element_size(values[0]->datatype);
        for (uint32_t i = 0; i < rank; i++) { // from the innermost
            int32_t *row = table + (rank - 1 - i) * (XNN_OPERANDS + 1);
            const int32_t size = xnn_size(values[k], i);
            row[0] = xnn_size(values[0], i);
            row[1 + k] = size != 1 ? step : 0;
            step *= size;
        }
    }
    return ember_walk_join(table, rank, XNN_OPERANDS);
}

static void set_part(ember_xnn_lines_t *lines) {
    const int32_t left = lines->row[0] - lines->at;
    const ptrdiff_t at = lines->at;
    lines->y = lines->walk.at[0] + at * lines->row[1];
    lines->a = lines->walk.at[1] + at * lines->row[2];
    lines->b = lines->walk.at[2] + at * lines->row[3];
    lines->count = (uint32_t)(left < lines->most ? left : lines->most);
}

bool ember_xnn_lines_start(ember_xnn_lines_t *lines, const ember_xnn_node_t *node,
                           int32_t most) {
    const ember_xnn_value_t *const values[] = {node->out[0], node->in[0], node->in[1]};
    if (values[0]->numel == 0) {
        return false;
    }
    const uint32_t dims = fill(values, lines->table);
    lines->row = lines->table + (dims - 1) * (XNN_OPERANDS + 1);
    lines->at = 0;
    lines->most = most;
    lines->a_step = lines->row[2] != 0;
    lines->b_step = lines->row[3] != 0;
    ember_walk_start(&lines->walk, lines->table, dims, XNN_OPERANDS);
    for (uint32_t k = 0; k < XNN_OPERANDS; k++) {
        lines->walk.at[k] = values[k]->data;
    }
    set_part(lines);
    return true;
}

bool ember_xnn_lines_next(ember_xnn_lines_t *lines) {
    lines->at += (int32_t)lines->count;
    if (lines->at == lines->row[0]) {
        lines->at = 0;
        if (!ember_walk_next(&lines->walk)) {
            return false;
        }
    }
    set_part(lines);
    return true;
}
