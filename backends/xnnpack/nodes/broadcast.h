// SPDX-License-Identifier: Apache-2.0
// Nodes with two inputs whose dimensions are broadcast.
#ifndef EMBER_XNNPACK_BROADCAST_H
#define EMBER_XNNPACK_BROADCAST_H

#include "elements.h"
#include "kernels/engine/strided.h"

enum { XNN_OPERANDS = 3 }; // of a walk: y, a, b

// A part of a row of the output, at most `most` elements, with the inputs' steps 0 or
// 1.
typedef struct ember_xnn_lines {
    void *y;
    const void *a;
    const void *b;
    uint32_t a_step; // elements
    uint32_t b_step;
    uint32_t count;
    // the walk:
    ember_walk_t walk;
    const int32_t *row;
    int32_t at; // in the row
    int32_t most;
    int32_t table[EMBER_WALK_ITEMS(XNN_OPERANDS)];
} ember_xnn_lines_t;

ember_status_t ember_xnn_broadcast_shape(ember_xnn_graph_t *graph,
                                         ember_xnn_node_t *node);

// Whether rows have at least `few` elements; adjacent whole dimensions are joined.
static inline bool xnn_lines_are_long(const ember_xnn_node_t *node, uint32_t few) {
    const uint32_t count = node->out[0]->numel;
    const uint32_t a = node->in[0]->numel, b = node->in[1]->numel;
    const bool joined = (a == count || a == 1) && (b == count || b == 1);
    return count >= few && (joined || (uint32_t)xnn_size(node->out[0], 0) >= few);
}

// Goes to the first part. All values have elements of one size. False if there is none.
EMBER_MUST_USE bool ember_xnn_lines_start(ember_xnn_lines_t *lines,
                                          const ember_xnn_node_t *node, int32_t most);

// Goes to the next part. False after the last.
EMBER_MUST_USE bool ember_xnn_lines_next(ember_xnn_lines_t *lines);

#endif // EMBER_XNNPACK_BROADCAST_H
