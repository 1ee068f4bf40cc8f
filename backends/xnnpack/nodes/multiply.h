// SPDX-License-Identifier: Apache-2.0
// Product of static int8 values: exact in int32, then brought to the output's scale in
// float32. For kernels multiply_qs8*.c.
#ifndef EMBER_XNNPACK_MULTIPLY_H
#define EMBER_XNNPACK_MULTIPLY_H

#include "broadcast.h"

typedef struct ember_xnn_multiply {
    const ember_xnn_node_t *node;
    float scale; // of the product
    ember_xnn_range_t range;
} ember_xnn_multiply_t;

float ember_xnn_multiply_scale(const ember_xnn_node_t *node);
ember_status_t ember_xnn_multiply_prepare(ember_xnn_graph_t *graph,
                                          ember_xnn_node_t *node);

// Computes a part of a row.
typedef void (*ember_xnn_multiply_fn)(const ember_xnn_multiply_t *multiply,
                                      const ember_xnn_lines_t *line);
void ember_xnn_multiply_line(const ember_xnn_multiply_t *multiply,
                             const ember_xnn_lines_t *line);

void ember_xnn_multiply_run(const ember_xnn_node_t *node,
                            ember_xnn_multiply_fn compute);

#endif // EMBER_XNNPACK_MULTIPLY_H
