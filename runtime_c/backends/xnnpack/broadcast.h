// SPDX-License-Identifier: Apache-2.0
// Nodes of two inputs whose dimensions are broadcast.
#ifndef EMBER_XNNPACK_BROADCAST_H
#define EMBER_XNNPACK_BROADCAST_H

#include "elements.h"

// A row of the output, and of the inputs with steps 0 or 1.
typedef struct ember_xnn_line {
    void *y;
    const void *a;
    const void *b;
    uint32_t a_step;
    uint32_t b_step;
    uint32_t count;
} ember_xnn_line_t;

typedef void (*ember_xnn_line_fn)(const ember_xnn_node_t *node, const void *context,
                                  const ember_xnn_line_t *line);

ember_status_t ember_xnn_broadcast_shape(ember_xnn_graph_t *graph,
                                         ember_xnn_node_t *node);

// All values have elements of one size. Calls `compute` for each row, at most XNN_CHUNK
// elements at a time.
void ember_xnn_broadcast_run(const ember_xnn_node_t *node, const void *context,
                             ember_xnn_line_fn compute);

#endif // EMBER_XNNPACK_BROADCAST_H
