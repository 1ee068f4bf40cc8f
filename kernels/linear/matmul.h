// SPDX-License-Identifier: Apache-2.0
// What mm, bmm, addmm, baddbmm and linear share: the product of two batches of
// matrices, with strides, for every dtype.
//
//     c[n, i, j] = beta * bias[n, i, j] + alpha * sum over k of a[n, i, k] * b[n, k, j]
//
// Each operator reads its arguments into an ember_matmul_t, with every check. The
// generic kernels keep it as their state; the float32 ones derive their own from it.
#ifndef EMBER_KERNELS_LINEAR_MATMUL_H
#define EMBER_KERNELS_LINEAR_MATMUL_H

#include "kernels/engine/element.h"
#include "kernels/engine/gemm_f32.h"
#include "kernels/engine/scalar.h"
#include "kernels/engine/view.h"

// A (batch, rows, columns) operand; steps in bytes.
typedef struct ember_matrices {
    char *data;
    int32_t batch;
    int32_t row;
    int32_t column;
} ember_matrices_t;

typedef struct ember_matmul {
    ember_matrices_t a, b, c;
    ember_matrices_t bias; // data NULL: none
    int32_t batches;       // elements, as all sizes here
    int32_t rows;
    int32_t inner;
    int32_t columns;
    ember_scalar_t alpha;
    ember_scalar_t beta;
    uint8_t dtype; // of all operands
} ember_matmul_t;

// Read the arguments of an operator, from its schema.
EMBER_MUST_USE ember_status_t ember_matmul_mm(ember_matmul_t *matmul,
                                              ember_node_t *node);
EMBER_MUST_USE ember_status_t ember_matmul_bmm(ember_matmul_t *matmul,
                                               ember_node_t *node);
EMBER_MUST_USE ember_status_t ember_matmul_addmm(ember_matmul_t *matmul,
                                                 ember_node_t *node);
EMBER_MUST_USE ember_status_t ember_matmul_baddbmm(ember_matmul_t *matmul,
                                                   ember_node_t *node);
EMBER_MUST_USE ember_status_t ember_matmul_linear(ember_matmul_t *matmul,
                                                  ember_node_t *node);

// Computes, for any dtype and strides.
void ember_matmul_run(const ember_matmul_t *matmul);

// float32 with dense rows of a and c, and dense rows or columns of b.
typedef struct ember_matmul_f32 {
    ember_gemm_f32_t gemm; // of the first batch
    int32_t batches;
    int32_t a_batch; // steps in elements
    int32_t b_batch;
    int32_t c_batch;
    int32_t bias_batch;
    bool b_columns; // b's columns are dense, not its rows
} ember_matmul_f32_t;

// UNSUPPORTED if `matmul` is not of that kind.
EMBER_MUST_USE ember_status_t ember_matmul_f32_prepare(ember_matmul_f32_t *fast,
                                                       ember_node_t *node,
                                                       const ember_matmul_t *matmul);

// Computes with one of the two forms of gemm_f32.h; a Helium kernel with Helium's.
void ember_matmul_f32_run(const ember_matmul_f32_t *fast, ember_gemm_f32_fn rows,
                          ember_gemm_f32_fn columns);

#endif // EMBER_KERNELS_LINEAR_MATMUL_H
