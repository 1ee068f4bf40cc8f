// SPDX-License-Identifier: Apache-2.0
// Nodes that only move elements.
#ifndef EMBER_XNNPACK_MOVE_H
#define EMBER_XNNPACK_MOVE_H

#include "backends/xnnpack/graph/graph.h"

// Copies a block of (sizes) elements; steps in elements.
typedef struct ember_xnn_move {
    int32_t sizes[XNN_MOST_DIMS];
    int32_t to_steps[XNN_MOST_DIMS];
    int32_t from_steps[XNN_MOST_DIMS];
    uint32_t rank;
    uint32_t element_size; // bytes
} ember_xnn_move_t;

// The steps of a value's dimensions; the block has the value's sizes.
void ember_xnn_steps(const ember_xnn_value_t *value, int32_t *steps);

// `from` is only read.
void ember_xnn_move(const ember_xnn_move_t *move, void *to, void *from);

// The same bytes in another shape.
void ember_xnn_copy(void *to, const void *from, size_t bytes);

// Whether elements of input `index` and of output 0 have the same meaning.
bool ember_xnn_same_elements(const ember_xnn_node_t *node, uint32_t index);

// The order of a transpose's dimensions: output i is input order[i]. False if it is not
// a permutation. Also its shape.
EMBER_MUST_USE bool ember_xnn_transpose_order(const ember_xnn_node_t *node,
                                              int32_t *order);
ember_status_t ember_xnn_transpose_shape(ember_xnn_graph_t *graph,
                                         ember_xnn_node_t *node);

// Vector `index` of a node, `count` sizes that are not negative. False if it is not
// that.
EMBER_MUST_USE bool ember_xnn_items(const ember_xnn_node_t *node, uint32_t index,
                                    uint32_t count, int32_t *items);

#endif // EMBER_XNNPACK_MOVE_H
