// SPDX-License-Identifier: Apache-2.0
// Gradients of a normalisation of rows (norm.h): of the input, and of the weights and
// biases that rows share. Any float dtype, in double.
#ifndef EMBER_KERNELS_NORM_BACKWARD_H
#define EMBER_KERNELS_NORM_BACKWARD_H

#include "kernels/engine/norm.h"

// Indices of arguments; the outputs are those of input, weight and bias, in this order.
typedef struct ember_norm_places {
    uint8_t gradient, input, mean, rstd, weight, mask, outputs;
} ember_norm_places_t;

typedef struct ember_norm_backward {
    const char *gradient; // contiguous, like the input and its gradient
    const char *x;
    char *dx;
    ember_norm_vector_t mean; // (rows,)
    ember_norm_vector_t rstd; // (rows,)
    ember_norm_vector_t weight;
    ember_norm_vector_t to_weight;
    ember_norm_vector_t to_bias;
    uint32_t rows;
    uint32_t count;   // elements of a row
    uint32_t repeat;  // elements of a row that share a weight
    uint32_t weights; // number of weights, which repeat along the rows
    uint8_t dtype;
    uint8_t size; // bytes of an element
    bool wants_dx;
} ember_norm_backward_t;

// Reads all tensors. The caller has set rows, count, repeat and weights from the input
// (without elements, rows are 0); the weights have `rank` and shape `sizes`.
EMBER_MUST_USE ember_status_t ember_norm_backward_prepare(ember_norm_backward_t *state,
                                                          ember_node_t *node,
                                                          const ember_norm_places_t *at,
                                                          uint32_t rank,
                                                          const int32_t *sizes);

int32_t ember_norm_backward_run(void *state);

#endif // EMBER_KERNELS_NORM_BACKWARD_H
