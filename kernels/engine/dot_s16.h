// SPDX-License-Identifier: Apache-2.0
// The exact sum of products of int16.
#ifndef EMBER_KERNELS_ENGINE_DOT_S16_H
#define EMBER_KERNELS_ENGINE_DOT_S16_H

#include <stdint.h>

typedef int64_t (*ember_dot_s16_fn)(const int16_t *a, const int16_t *b, uint32_t count);

static inline int64_t ember_dot_s16(const int16_t *a, const int16_t *b,
                                    uint32_t count) {
    int64_t sum = 0;
    for (uint32_t k = 0; k < count; k++) {
        sum += (int32_t)a[k] * b[k];
    }
    return sum;
}

#endif // EMBER_KERNELS_ENGINE_DOT_S16_H
