// SPDX-License-Identifier: Apache-2.0
// float32 matrix product, the core of mm, bmm, addmm, linear and 1x1 convolution:
//
//     c[i, j] = beta * bias[i, j] + alpha * sum over k of a[i, k] * b[k, j]
//
// Two forms, by the layout of b. _rows: b's rows are dense (b[k, j] at k * b_stride +
// j); one value of a is used for many columns. _columns: b's columns are dense (b[k, j]
// at j * b_stride + k), as the weights of `linear` are; each product is four
// interleaved partial sums.
//
// The order of all additions is fixed by this file, so the bits are the same on
// every board: products and sums are rounded one by one.
#ifndef EMBER_KERNELS_ENGINE_GEMM_F32_H
#define EMBER_KERNELS_ENGINE_GEMM_F32_H

#include <stdint.h>

typedef struct ember_gemm_f32 {
    const float *a;    // (rows, inner), a row is dense
    const float *b;    // (inner, columns)
    const float *bias; // broadcast to (rows, columns); NULL: none
    float *c;          // (rows, columns), a row is dense
    int32_t rows;      // elements, >= 0, as all sizes here
    int32_t inner;
    int32_t columns;
    int32_t a_stride; // elements from row to row
    int32_t b_stride; // elements, see above
    int32_t c_stride; // elements from row to row
    int32_t bias_row; // elements from row to row of bias; 0: the same for all
    int32_t bias_column;
    float alpha;
    float beta; // not used without bias
} ember_gemm_f32_t;

typedef void (*ember_gemm_f32_fn)(const ember_gemm_f32_t *gemm);

void ember_gemm_f32_rows(const ember_gemm_f32_t *gemm);
void ember_gemm_f32_columns(const ember_gemm_f32_t *gemm);

// With Helium: products are fused with the sums, and a sum of _columns has its last
// elements in whatever lanes they fall into. So each element differs from the portable
// one by the rounding of its products, at most about 1e-6 of the sum of their
// magnitudes; and Helium flushes denormals to zero.
void ember_gemm_f32_rows_mve(const ember_gemm_f32_t *gemm);
void ember_gemm_f32_columns_mve(const ember_gemm_f32_t *gemm);

// In the scalar unit of Cortex-M: the bits of the portable forms.
void ember_gemm_f32_rows_fpu(const ember_gemm_f32_t *gemm);
void ember_gemm_f32_columns_fpu(const ember_gemm_f32_t *gemm);

// With NEON: products are fused with the sums, and a sum of _columns has the last
// elements in the lanes where vectors end. The same tolerance; denormals stay.
void ember_gemm_f32_rows_neon(const ember_gemm_f32_t *gemm);
void ember_gemm_f32_columns_neon(const ember_gemm_f32_t *gemm);

#endif // EMBER_KERNELS_ENGINE_GEMM_F32_H
