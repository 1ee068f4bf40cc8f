// SPDX-License-Identifier: Apache-2.0
// The dialect's linear and batch_matmul in plain C. Contract: matmul_s8.h.
#include <stddef.h>

#include "kernels/cortex_m/matmul_s8.h"

static uint32_t dot(const ember_matmul_s8_t *s, const int8_t *a, const int8_t *b) {
    const int32_t a_offset = s->a_offset;
    const int32_t b_offset = s->b_offset;
    const int32_t inner = s->inner;
    uint32_t sum = 0;

    for (int32_t k = 0; k < inner; k++) {
        sum += (uint32_t)((a[k] + a_offset) * (b[k] + b_offset));
    }
    return sum;
}

static void run_row(const ember_matmul_s8_t *s, const int8_t *a, const int8_t *b,
                    int8_t *c) {
    for (int32_t j = 0; j < s->columns; j++) {
        const uint32_t bias = s->bias == NULL ? 0 : (uint32_t)s->bias[j];
        const uint32_t sum = dot(s, a, b) + bias;
        c[j] = ember_requantize_s8((int32_t)sum, s->by, s->c_offset, s->limits);
        b += s->inner;
    }
}

void ember_matmul_s8_run(const ember_matmul_s8_t *s) {
    const int8_t *a = s->a;
    const int8_t *b = s->b;
    int8_t *c = s->c;

    for (int32_t n = 0; n < s->batches; n++) {
        for (int32_t i = 0; i < s->rows; i++) {
            run_row(s, a, b, c);
            a += s->inner;
            c += s->columns;
        }
        b += (ptrdiff_t)s->columns * s->inner;
    }
}
