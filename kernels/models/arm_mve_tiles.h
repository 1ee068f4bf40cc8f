// SPDX-License-Identifier: Apache-2.0
// A model of kernels/intrinsics/arm_mve_tiles.h in C.
#ifndef EMBER_MODELS_ARM_MVE_TILES_H
#define EMBER_MODELS_ARM_MVE_TILES_H

#include <stddef.h>
#include <stdint.h>

enum { EMBER_MVE_TILE = 32 }; // sums of a column

typedef struct ember_mve_tiles {
    const int8_t *columns[3];
    int32_t inner;
    int32_t past;
    int32_t *end;
    int32_t *tile;
    const int8_t *w;
} ember_mve_tiles_t;

static inline int32_t ember_mve_dot(uint32_t sum, const int8_t *a, const int8_t *b,
                                    int32_t count) {
    for (int32_t i = 0; i < count; i++) {
        sum += (uint32_t)(a[i] * b[i]);
    }
    return (int32_t)sum;
}

static inline void ember_mve_multiply_tiles(const ember_mve_tiles_t *tiles) {
    const int8_t *w = tiles->w;

    for (int32_t *tile = tiles->tile; tile != tiles->end; tile++) {
        const uint32_t first = (uint32_t)*tile;
        for (int32_t n = 0; n < 3; n++) {
            tile[n * EMBER_MVE_TILE] =
                ember_mve_dot(first, w, tiles->columns[n], tiles->inner);
        }
        w += tiles->inner;
    }
}

#endif // EMBER_MODELS_ARM_MVE_TILES_H
