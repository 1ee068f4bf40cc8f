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

static inline void ember_mve_multiply_from(const ember_mve_tiles_t *tiles,
                                           int32_t column) {
    const int8_t *w = tiles->w;

    for (int32_t *tile = tiles->tile; tile != tiles->end; tile++) {
        const uint32_t first = (uint32_t)*tile;
        for (int32_t n = column; n < 3; n++) {
            tile[n * EMBER_MVE_TILE] =
                ember_mve_dot(first, w, tiles->columns[n], tiles->inner);
        }
        w += tiles->inner;
    }
}

static inline void ember_mve_multiply_tiles(const ember_mve_tiles_t *tiles) {
    ember_mve_multiply_from(tiles, 0);
}

static inline void ember_mve_multiply_last_two(const ember_mve_tiles_t *tiles) {
    ember_mve_multiply_from(tiles, 1);
}

typedef struct ember_mve_pairs {
    const int8_t *columns[3];
    int32_t inner;
    const int32_t *sums;
    int32_t *tile;
    const int8_t *w;
    int32_t count;
} ember_mve_pairs_t;

static inline void ember_mve_multiply_one(const ember_mve_pairs_t *pairs) {
    const int8_t *w = pairs->w;

    for (int32_t f = 0; f < 2 * pairs->count; f++) {
        for (int32_t n = 0; n < 3; n++) {
            pairs->tile[n * EMBER_MVE_TILE + f] = ember_mve_dot(
                (uint32_t)pairs->sums[f], w, pairs->columns[n], pairs->inner);
        }
        w += pairs->inner;
    }
}

static inline void ember_mve_multiply_two(const ember_mve_pairs_t *pairs) {
    ember_mve_multiply_one(pairs);
}

typedef struct ember_mve_rows {
    int32_t *tile;
    const int32_t *first;
    const int8_t *b;
    const int8_t *a;
    int32_t step;
    int32_t fours;
} ember_mve_rows_t;

static inline void ember_mve_multiply_rows(const ember_mve_rows_t *rows) {
    for (int32_t i = 0; i < 4 * rows->fours; i++) {
        rows->tile[i] = ember_mve_dot((uint32_t)rows->first[i], rows->a,
                                      rows->b + i * rows->step, 128);
    }
}

typedef struct ember_mve_nine {
    const int8_t *rows[3];
    int32_t step;
    int32_t rest;
    int8_t *y;
    int32_t y_step;
    int32_t zero_point;
    int32_t count;
    int32_t lanes;
    const int8_t *weights;
    const int32_t *scales;
} ember_mve_nine_t;

static inline int32_t ember_mve_between(int64_t x, int32_t least, int32_t most) {
    return (int32_t)(x < least ? least : x > most ? most : x);
}

// The output of a sum; `scales` are those of its channel.
static inline int8_t ember_mve_shifted(int32_t sum, const int32_t *scales,
                                       int32_t zero_point) {
    const int64_t product = 2 * (int64_t)sum * scales[16];
    const int64_t high = (product + ((int64_t)1 << 31)) >> 32;
    const int64_t away = high < 0 ? high - 1 : high;
    const int32_t right = -scales[32];
    const int64_t shifted = (away + ((int64_t)1 << (right - 1))) >> right;
    const int32_t half = ember_mve_between(shifted, INT16_MIN, INT16_MAX);
    return (int8_t)ember_mve_between(half + zero_point, INT8_MIN, INT8_MAX);
}

static inline void ember_mve_run_nine(const ember_mve_nine_t *nine) {
    for (int32_t group = 0; group < nine->count; group++) {
        const int32_t at = group * (2 * nine->step + nine->rest);
        for (int32_t i = 0; i < nine->lanes; i++) {
            const int32_t *scales = nine->scales + i % 4 * 4 + i / 4;
            int32_t sum = *scales;
            for (int32_t tap = 0; tap < 9; tap++) {
                const int8_t *x = nine->rows[tap / 3] + at + tap % 3 * nine->step;
                sum += x[i] * nine->weights[16 * tap + i];
            }
            nine->y[group * nine->y_step + i] =
                ember_mve_shifted(sum, scales, nine->zero_point);
        }
    }
}

#endif // EMBER_MODELS_ARM_MVE_TILES_H
