// SPDX-License-Identifier: Apache-2.0
// Element-wise nodes: rows of any float or static int8 value are read to floats, and
// written from floats, bounded by the node's range.
#ifndef EMBER_XNNPACK_ELEMENTS_H
#define EMBER_XNNPACK_ELEMENTS_H

#include "numbers.h"

enum { XNN_CHUNK = 64 }; // elements that are computed at a time

// Is it F32, F16 or QS8 with a good scale?
bool ember_xnn_is_plain(const ember_xnn_value_t *value);

// Address of element `index`.
static inline uint8_t *xnn_at(const ember_xnn_value_t *value, size_t index) {
    return (uint8_t *)value->data + index * ember_xnn_element_size(value->datatype);
}

// `count` elements of a value's datatype from `from` on, `step` 1 or 0.
void ember_xnn_load(const ember_xnn_value_t *value, const void *from, uint32_t step,
                    uint32_t count, float *to);

// Elements of output 0 of a node. `from` is changed.
void ember_xnn_store(const ember_xnn_node_t *node, void *to, uint32_t count,
                     float *from);

// Computes `count` numbers in place.
typedef void (*ember_xnn_unary_fn)(float *x, uint32_t count, float parameter);
void ember_xnn_unary_run(const ember_xnn_node_t *node, ember_xnn_unary_fn compute);

// Input and output are plain, or UNSUPPORTED.
ember_status_t ember_xnn_unary_prepare(ember_xnn_graph_t *graph,
                                       ember_xnn_node_t *node);

#endif // EMBER_XNNPACK_ELEMENTS_H
