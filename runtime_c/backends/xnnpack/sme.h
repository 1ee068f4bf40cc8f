// SPDX-License-Identifier: Apache-2.0
// Products of matrices on cores with SME: y = a * w + bias, bounded. Streaming mode is
// entered once for each of these functions. *_sme.c has the instructions; on computers
// without them *_sme_model.c does the same, so that what calls them is selected and
// tested everywhere.
#ifndef EMBER_XNNPACK_SME_H
#define EMBER_XNNPACK_SME_H

#include <stddef.h>
#include <stdint.h>

typedef struct ember_xnn_sme_f32 {
    const float *a;    // (m, k)
    const float *w;    // packed, see below
    const float *bias; // (n,); NULL: zeros
    float *y;          // (m, n)
    float *scratch;    // k * min(m, XNN_SME_ROWS) floats
    uint32_t m;
    uint32_t k;
    uint32_t n;
    float low;
    float high;
} ember_xnn_sme_f32_t;

// Rows of a block at most, at the longest vectors there are.
enum { XNN_SME_ROWS = 128 };

// Bytes of a vector in streaming mode.
uint32_t ember_xnn_sme_vector(void);

// The same, of the models; a tool sets it to what a board has.
extern uint32_t ember_xnn_sme_model_vector;

// Columns of a block of packed weights: two vectors. A block is (k, columns), the last
// one narrower, so that weights take k * n elements whatever the vector length is.
uint32_t ember_xnn_sme_columns_f32(void);

void ember_xnn_gemm_f32_sme(const ember_xnn_sme_f32_t *gemm);

#endif // EMBER_XNNPACK_SME_H
