// SPDX-License-Identifier: Apache-2.0
// float16 matrix products in float32: blocks of the operands are widened in scratch,
// multiplied by gemm_f32.h's functions and rounded when they are stored. Any strides.
// Before that rounding a sum differs from the portable kernel's by the tolerance of
// gemm_f32.h.
#ifndef EMBER_KERNELS_LINEAR_MATMUL_F16_H
#define EMBER_KERNELS_LINEAR_MATMUL_F16_H

#include "kernels/linear/matmul.h"

typedef struct ember_matmul_f16 {
    ember_matmul_t matmul;
    float *scratch; // a block's part of a, of b, of the bias, and of the result
    int32_t height; // rows of a block at most
    int32_t width;  // columns of a block at most
    bool b_columns; // b's columns are dense, not its rows
    float alpha;
    float beta;
} ember_matmul_f16_t;

// UNSUPPORTED unless `matmul` is float16.
EMBER_MUST_USE ember_status_t ember_matmul_f16_prepare(ember_matmul_f16_t *half,
                                                       ember_node_t *node,
                                                       const ember_matmul_t *matmul);
void ember_matmul_f16_run_neon(const ember_matmul_f16_t *half);

#endif // EMBER_KERNELS_LINEAR_MATMUL_F16_H
