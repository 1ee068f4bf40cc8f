// SPDX-License-Identifier: Apache-2.0
// Weights as panels read them: blocks of eight columns. A block consists of steps of
// `unit` products: those of the first column, of the second and so on, padded with
// zeros. The products of a tap of int8 begin a new step.
#ifndef EMBER_XNNPACK_COLUMNS_H
#define EMBER_XNNPACK_COLUMNS_H

#include "panel.h"

enum { XNN_COLUMNS_HEAD = 4 * XNN_PANEL }; // bytes of a 4-byte number for each column

static inline uint32_t xnn_columns_blocks(const ember_xnn_geometry_t *geometry) {
    return (geometry->n + XNN_PANEL - 1) / XNN_PANEL;
}

static inline uint64_t xnn_columns_steps(const ember_xnn_geometry_t *geometry) {
    return geometry->taps *
           (((uint64_t)geometry->k + geometry->unit - 1) / geometry->unit);
}

// Where product k of a column is among the weights, in elements.
static inline size_t xnn_columns_place(const ember_xnn_geometry_t *geometry,
                                       uint32_t column, uint32_t k) {
    return geometry->transposed ? (size_t)k * geometry->n + column
                                : (size_t)column * geometry->taps * geometry->k + k;
}

static inline uint64_t xnn_columns_size(const ember_xnn_geometry_t *geometry,
                                        uint64_t block) {
    return geometry->groups * (block < INT32_MAX ? block : INT32_MAX) *
           xnn_columns_blocks(geometry);
}

#endif // EMBER_XNNPACK_COLUMNS_H
