// SPDX-License-Identifier: Apache-2.0
// Sum and difference of static int8 values: both are brought to the output's scale by
// factors of 21 bits, then shifted and rounded once, like XNNPACK.
//
//     y = bound((bias + a * factors.a + b * factors.b) >> shift) + zero
#ifndef EMBER_XNNPACK_ADD_H
#define EMBER_XNNPACK_ADD_H

#include "broadcast.h"

typedef struct ember_xnn_add {
    int32_t a;
    int32_t b;
    uint32_t shift; // 12 to 30
    int32_t bias;   // the rounding, minus what the zero points add
    ember_xnn_range_t range;
} ember_xnn_add_t;

ember_status_t ember_xnn_add_prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node);

// Computes a part of a row.
typedef void (*ember_xnn_add_fn)(const ember_xnn_add_t *add,
                                 const ember_xnn_lines_t *line);

void ember_xnn_add_line(const ember_xnn_add_t *add, const ember_xnn_lines_t *line);

void ember_xnn_add_run(const ember_xnn_node_t *node, ember_xnn_add_fn compute);

#endif // EMBER_XNNPACK_ADD_H
