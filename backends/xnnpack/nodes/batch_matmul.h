// SPDX-License-Identifier: Apache-2.0
// Batched matrix products, for kernels batch_matrix_multiply_*.
#ifndef EMBER_XNNPACK_BATCH_MATMUL_H
#define EMBER_XNNPACK_BATCH_MATMUL_H

#include "product.h"

ember_status_t ember_xnn_matmul_shape(ember_xnn_graph_t *graph, ember_xnn_node_t *node);
ember_status_t ember_xnn_matmul_prepare(ember_xnn_graph_t *graph,
                                        ember_xnn_node_t *node,
                                        const ember_xnn_type_t *type);
void ember_xnn_matmul_run(const ember_xnn_node_t *node, const ember_xnn_type_t *type);

// The matrix of `value` for matrix `index` of the output.
size_t ember_xnn_matrix_of(const ember_xnn_value_t *value, const ember_xnn_value_t *out,
                           size_t index);

#endif // EMBER_XNNPACK_BATCH_MATMUL_H
