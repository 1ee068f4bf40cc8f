// SPDX-License-Identifier: Apache-2.0
// Dynamic quantisation, for kernels convert_qd8*.c: float32 or float16 to int8 with a
// scale and a zero point for each row.
#ifndef EMBER_XNNPACK_CONVERT_QD8_H
#define EMBER_XNNPACK_CONVERT_QD8_H

#include "numbers.h"

ember_status_t ember_xnn_qd8_prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node);

// Bounds of what is rounded.
static inline ember_xnn_range_t xnn_row_range(const ember_xnn_row_t *row) {
    return (ember_xnn_range_t){.low = (float)(INT8_MIN - row->zero),
                               .high = (float)(INT8_MAX - row->zero),
                               .zero = row->zero};
}

// Quantises `length` elements of the input from `at` on.
typedef void (*ember_xnn_qd8_row_fn)(const ember_xnn_value_t *input, size_t at,
                                     uint32_t length, int8_t *to, ember_xnn_row_t *row);

void ember_xnn_qd8_run(const ember_xnn_node_t *node, ember_xnn_qd8_row_fn quantize);

#endif // EMBER_XNNPACK_CONVERT_QD8_H
