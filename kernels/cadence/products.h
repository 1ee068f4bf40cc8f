// SPDX-License-Identifier: Apache-2.0
// quantized_linear, quantized_fully_connected and quantized_matmul: rows of one matrix
// times rows, or columns, of another.
//
//     c[n, i, j] = quantised(scale[j] * (bias[j] + sum over k of (a[n, i, k] - a_zero)
//     *
//                                                                (b[n, j, k] -
//                                                                b_zero)))
//
// Sums are of int32 and wrap around.
#ifndef EMBER_KERNELS_CADENCE_PRODUCTS_H
#define EMBER_KERNELS_CADENCE_PRODUCTS_H

#include "kernels/engine/cadence/numbers.h"

typedef struct ember_cadence_products {
    const void *a;       // (batches, rows, inner)
    const void *b;       // (batches, columns, inner) or (batches, inner, columns)
    const int32_t *bias; // (columns,) or NULL
    void *c;             // (batches, rows, columns)
    ember_cadence_number_t b_zero;
    ember_cadence_number_t multipliers;
    ember_cadence_number_t shifts;
    ember_cadence_cut_t cut;
    int32_t a_zero;
    int32_t batches; // of linear: 1
    int32_t rows;
    int32_t inner;
    int32_t columns;
    bool turned; // b is (inner, columns)
    uint8_t a_dtype;
    uint8_t b_dtype;
} ember_cadence_products_t;

EMBER_MUST_USE ember_status_t ember_cadence_linear(ember_cadence_products_t *products,
                                                   ember_node_t *node);
EMBER_MUST_USE ember_status_t ember_cadence_matmul(ember_cadence_products_t *products,
                                                   ember_node_t *node);
void ember_cadence_products_run(const ember_cadence_products_t *products);

#endif // EMBER_KERNELS_CADENCE_PRODUCTS_H
