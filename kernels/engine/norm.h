// SPDX-License-Identifier: Apache-2.0
// y = (x - mean) / sqrt(var + eps) * weight + bias, of which all normalisation
// operators are forms. Any dtype, computed in double.
#ifndef EMBER_KERNELS_ENGINE_NORM_H
#define EMBER_KERNELS_ENGINE_NORM_H

#include "kernels/engine/axis.h"

// A parameter, whose elements are counted in logical order; `data` may be NULL if it is
// None. In memory each block of (outer, inner) elements is stored as (inner, outer).
typedef struct ember_norm_vector {
    char *data;
    uint32_t inner; // 1: all are in order
    uint32_t outer;
    uint8_t dtype;
    uint8_t size; // bytes of an element
    bool there;
} ember_norm_vector_t;

// Reads the optional tensor `arg`, which must have `count` elements: in order, or with
// two groups of neighbouring dimensions exchanged, as in channels_last.
void ember_norm_vector(ember_node_t *node, uint32_t arg, uint32_t count,
                       ember_norm_vector_t *vector);

// The same for an output of shape (rank, sizes).
void ember_norm_output(ember_node_t *node, uint32_t arg, uint32_t rank,
                       const int32_t *sizes, ember_norm_vector_t *vector);

// Element `i`, or `when_none`.
double ember_norm_get(const ember_norm_vector_t *vector, uint32_t i, double when_none);
void ember_norm_set(const ember_norm_vector_t *vector, uint32_t i, double number);

// Outputs `arg` and `arg` + 1 must be empty.
void ember_norm_no_outputs(ember_node_t *node, uint32_t arg);

enum { EMBER_NORM_DIMS = 5 }; // of tensors that are not contiguous, without those of 1

// Rows of elements in logical order, each normalised by its own mean and variance.
typedef struct ember_norm_rows {
    const char *x;
    char *y;
    ember_norm_vector_t weight;
    ember_norm_vector_t bias;
    ember_norm_vector_t mean; // saved, one for each row
    ember_norm_vector_t rstd;
    double eps;
    uint32_t rows;
    uint32_t count;  // elements of a row
    uint32_t repeat; // elements of a row that share a weight
    uint32_t period; // number of weights, which repeat along the rows
    uint8_t x_dtype;
    uint8_t y_dtype;
    uint8_t x_size;
    uint8_t y_size;
    uint8_t dims;                       // 0: both are contiguous
    bool uncentred;                     // the mean is taken for 0, and nothing is saved
    int32_t table[3 * EMBER_NORM_DIMS]; // {size, x stride, y stride}, in elements
} ember_norm_rows_t;

// Fills what follows from the tensors: data, dtypes, and where elements are.
EMBER_MUST_USE ember_status_t ember_norm_rows_tensors(ember_norm_rows_t *rows,
                                                      const ember_tensor_t *x,
                                                      const ember_tensor_t *y);

void ember_norm_rows_run(const ember_norm_rows_t *rows);

#endif // EMBER_KERNELS_ENGINE_NORM_H
