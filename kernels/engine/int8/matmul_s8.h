// SPDX-License-Identifier: Apache-2.0
// linear and batch_matmul of cortex_m: rows of one matrix times rows of another,
//
//     c[n, i, j] = scaled(bias[j] + sum over k of (a[n, i, k] + a_offset) *
//                                                 (b[n, j, k] + b_offset))
#ifndef EMBER_KERNELS_ENGINE_INT8_MATMUL_S8_H
#define EMBER_KERNELS_ENGINE_INT8_MATMUL_S8_H

#include <string.h>

#include "kernels/engine/int8/requantize.h"

// The value of shift if sums are scaled in float32 (real_s8.h), by the number whose
// bits are the multiplier.
enum { EMBER_SHIFT_REAL = INT32_MAX };

typedef struct ember_matmul_s8 {
    const int8_t *a;     // (batches, rows, inner)
    const int8_t *b;     // (batches, columns, inner); linear: (columns, inner)
    const int32_t *bias; // (columns,) or NULL
    int8_t *c;           // (batches, rows, columns)
    ember_requantize_t by;
    int32_t batches;
    int32_t rows;
    int32_t inner;
    int32_t columns;
    int16_t a_offset; // -128 .. 128
    int16_t b_offset;
    int16_t c_offset;
    ember_limits_s8_t limits;
} ember_matmul_s8_t;

// Read a call and set the shape of its output. In a program exported for Helium, the
// bias of linear includes the sums of its weights times the offset of a: then a_offset
// is 0.
EMBER_MUST_USE ember_status_t ember_matmul_s8_linear(ember_matmul_s8_t *matmul,
                                                     ember_node_t *node);
EMBER_MUST_USE ember_status_t ember_matmul_s8_bmm(ember_matmul_s8_t *matmul,
                                                  ember_node_t *node);

// Computes, in plain C.
void ember_matmul_s8_run(const ember_matmul_s8_t *matmul);

static inline bool ember_matmul_s8_is_real(const ember_matmul_s8_t *matmul) {
    return matmul->by.shift == EMBER_SHIFT_REAL;
}

static inline float ember_matmul_s8_scale(const ember_matmul_s8_t *matmul) {
    float scale;
    memcpy(&scale, &matmul->by.multiplier, sizeof(scale));
    return scale;
}

#endif // EMBER_KERNELS_ENGINE_INT8_MATMUL_S8_H
