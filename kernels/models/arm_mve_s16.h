// SPDX-License-Identifier: Apache-2.0
// A model of kernels/intrinsics/arm_mve_s16.h in C.
#ifndef EMBER_MODELS_ARM_MVE_S16_H
#define EMBER_MODELS_ARM_MVE_S16_H

#include <stddef.h>
#include <stdint.h>

enum { EMBER_MVE_TILE_S16 = 32 };

typedef struct ember_mve_tiles_s16 {
    const int16_t *columns[3];
    int32_t inner;
    int32_t past;
    int32_t *end;
    int32_t *tile;
    const int8_t *w;
} ember_mve_tiles_s16_t;

static inline int32_t ember_mve_sum_s16(int32_t first, const int16_t *x,
                                        const int8_t *w, int32_t inner) {
    uint32_t sum = (uint32_t)first;

    for (int32_t i = 0; i < inner; i++) {
        sum += (uint32_t)(x[i] * w[i]);
    }
    return (int32_t)sum;
}

static inline void ember_mve_multiply_tiles_s16(const ember_mve_tiles_s16_t *tiles) {
    const int8_t *w = tiles->w;

    for (int32_t *tile = tiles->tile; tile != tiles->end; tile++) {
        const int32_t first = *tile;
        for (int32_t n = 0; n < 3; n++) {
            tile[n * EMBER_MVE_TILE_S16] =
                ember_mve_sum_s16(first, tiles->columns[n], w, tiles->inner);
        }
        w += tiles->inner;
    }
}

typedef struct ember_mve_rows_s16 {
    int32_t *sums;
    const int32_t *first;
    const int8_t *rows;
    const int16_t *x;
    int32_t step;
    int32_t count;
    int32_t fours;
} ember_mve_rows_s16_t;

static inline void ember_mve_multiply_rows_s16(const ember_mve_rows_s16_t *rows) {
    const int8_t *w = rows->rows;

    for (int32_t f = 0; f < 4 * rows->fours; f++) {
        rows->sums[f] = ember_mve_sum_s16(rows->first[f], rows->x, w, rows->count);
        w += rows->step;
    }
}

enum { EMBER_MVE_BLOCK_S16 = 64 };

static inline void ember_mve_multiply_block_s16(const ember_mve_rows_s16_t *rows) {
    ember_mve_rows_s16_t block = *rows;

    block.count = EMBER_MVE_BLOCK_S16;
    ember_mve_multiply_rows_s16(&block);
}

#endif // EMBER_MODELS_ARM_MVE_S16_H
