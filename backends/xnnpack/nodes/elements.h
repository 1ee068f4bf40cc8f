// SPDX-License-Identifier: Apache-2.0
// Element-wise nodes: rows of float or static int8 values are read as floats, and
// written from floats, clamped to the node's range.
#ifndef EMBER_XNNPACK_ELEMENTS_H
#define EMBER_XNNPACK_ELEMENTS_H

#include "numbers.h"

enum { XNN_CHUNK = 64 }; // elements that are computed at a time

// Whether it is F32, F16, BF16, or QS8 with a usable scale.
bool ember_xnn_is_plain(const ember_xnn_value_t *value);

// Address of element `index`.
static inline uint8_t *xnn_at(const ember_xnn_value_t *value, size_t index) {
    return (uint8_t *)value->data + index * ember_xnn_element_size(value->datatype);
}

// `count` elements of a value's datatype from `from` on, `step` 1 or 0.
void ember_xnn_load(const ember_xnn_value_t *value, const void *from, uint32_t step,
                    uint32_t count, float *to);

// Writes elements of a node's output 0. `from` is modified.
void ember_xnn_store(const ember_xnn_node_t *node, void *to, uint32_t count,
                     float *from);

// Computes `count` values in place.
typedef void (*ember_xnn_unary_fn)(float *x, uint32_t count, float parameter);
void ember_xnn_unary_run(const ember_xnn_node_t *node, ember_xnn_unary_fn compute);

// EMBER_OK if input and output are plain; else UNSUPPORTED.
ember_status_t ember_xnn_unary_prepare(ember_xnn_graph_t *graph,
                                       ember_xnn_node_t *node);

#endif // EMBER_XNNPACK_ELEMENTS_H
