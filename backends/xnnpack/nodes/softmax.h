// SPDX-License-Identifier: Apache-2.0
// Softmax along the innermost dimension: rows are computed in scratch.
#ifndef EMBER_XNNPACK_SOFTMAX_H
#define EMBER_XNNPACK_SOFTMAX_H

#include "elements.h"

ember_status_t ember_xnn_softmax_prepare(ember_xnn_graph_t *graph,
                                         ember_xnn_node_t *node);
ember_status_t ember_xnn_softmax_shape(ember_xnn_graph_t *graph,
                                       ember_xnn_node_t *node);

// Replaces a row of at least one value by its softmax. There is room for a multiple of
// four.
typedef void (*ember_xnn_softmax_fn)(float *x, uint32_t count);

void ember_xnn_softmax_run(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node,
                           ember_xnn_softmax_fn compute);

#endif // EMBER_XNNPACK_SOFTMAX_H
