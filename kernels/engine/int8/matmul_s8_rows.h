// SPDX-License-Identifier: Apache-2.0
// Rows of one matrix times rows of another in plain C, for files that say how sums
// become outputs.
#ifndef EMBER_KERNELS_ENGINE_INT8_MATMUL_S8_ROWS_H
#define EMBER_KERNELS_ENGINE_INT8_MATMUL_S8_ROWS_H

#include <stddef.h>

#include "kernels/engine/int8/matmul_s8.h"

typedef int8_t (*ember_matmul_ending_t)(const ember_matmul_s8_t *matmul, int32_t sum);

static inline uint32_t dot(const ember_matmul_s8_t *s, const int8_t *a,
                           const int8_t *b) {
    const int32_t a_offset = s->a_offset;
    const int32_t b_offset = s->b_offset;
    const int32_t inner = s->inner;
    uint32_t sum = 0;

    for (int32_t k = 0; k < inner; k++) {
        sum += (uint32_t)((a[k] + a_offset) * (b[k] + b_offset));
    }
    return sum;
}

static inline void run_row(const ember_matmul_s8_t *s, const int8_t *a, const int8_t *b,
                           ember_matmul_ending_t ending, int8_t *c) {
    for (int32_t j = 0; j < s->columns; j++) {
        const uint32_t bias = s->bias == NULL ? 0 : (uint32_t)s->bias[j];
        const uint32_t sum = dot(s, a, b) + bias;
        c[j] = ending(s, (int32_t)sum);
        b += s->inner;
    }
}

static inline void ember_matmul_s8_rows(const ember_matmul_s8_t *s,
                                        ember_matmul_ending_t ending) {
    const int8_t *a = s->a;
    const int8_t *b = s->b;
    int8_t *c = s->c;

    for (int32_t n = 0; n < s->batches; n++) {
        for (int32_t i = 0; i < s->rows; i++) {
            run_row(s, a, b, ending, c);
            a += s->inner;
            c += s->columns;
        }
        b += (ptrdiff_t)s->columns * s->inner;
    }
}

#endif // EMBER_KERNELS_ENGINE_INT8_MATMUL_S8_ROWS_H
