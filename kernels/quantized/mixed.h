// SPDX-License-Identifier: Apache-2.0
// mixed_mm and mixed_linear: a real matrix by int8 weights with a scale, and optionally
// a zero point, for each row or for groups along a row.
//
//     mixed_mm      y = x W     W: (inner, columns)
//     mixed_linear  y = x W'    W: (columns, inner)
//
// Sums are float32, whatever the dtype of x and y.
#ifndef EMBER_KERNELS_QUANTIZED_MIXED_H
#define EMBER_KERNELS_QUANTIZED_MIXED_H

#include "ember/node.h"

typedef struct ember_mixed {
    const char *x; // (rows, inner)
    const int8_t *weight;
    const char *scales; // (rows of W, groups), of the dtype of x
    const char *zeros;  // the same; NULL: 0
    char *y;            // (rows, columns)
    uint32_t rows;
    uint32_t inner;
    uint32_t columns;
    uint32_t groups;
    uint32_t group; // elements of a row of W that share a scale
    uint8_t x_dtype;
    uint8_t y_dtype;
} ember_mixed_t;

// Reads (x, W, scales, zero_points), and the output `out`.
EMBER_MUST_USE ember_status_t ember_mixed_prepare(ember_mixed_t *mixed,
                                                  ember_node_t *node, bool linear,
                                                  uint32_t out);

// Reads elements from `first` on of an array of the dtype of x; returns where they are:
// in `buffer`, or in place.
const float *ember_mixed_floats(const ember_mixed_t *mixed, const char *from,
                                uint32_t first, uint32_t count, float *buffer);

// Writes elements of y from `first` on; clobbers `numbers`, which has 8 bytes for each.
void ember_mixed_store(const ember_mixed_t *mixed, uint32_t first, uint32_t count,
                       float *numbers);

#endif // EMBER_KERNELS_QUANTIZED_MIXED_H
