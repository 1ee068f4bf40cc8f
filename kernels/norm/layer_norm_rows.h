// SPDX-License-Identifier: Apache-2.0
// Layer normalisation over the last dimensions, contiguous float32 or float16 of one
// type, in float32.
//
// Element i of a row is added in lane i % 4; those after the last group of four in lane
// 0. So kernels with vectors have the bits of those without.
#ifndef EMBER_KERNELS_NORM_LAYER_NORM_ROWS_H
#define EMBER_KERNELS_NORM_LAYER_NORM_ROWS_H

#include "ember/node.h"
#include "kernels/engine/element.h"

typedef struct ember_layer_norm_rows {
    const void *x;      // (rows, count)
    void *y;            // (rows, count); may be x
    const void *weight; // (count,), or NULL
    const void *bias;   // (count,), or NULL
    void *mean;         // (rows,)
    void *rstd;         // (rows,)
    uint32_t rows;
    uint32_t count;
    float eps;
} ember_layer_norm_rows_t;

// One row.
typedef struct ember_layer_norm_row {
    const void *x;
    void *y;
    float mean;
    float rstd;
} ember_layer_norm_row_t;

// Accepts tensors of `dtype`, refuses others.
EMBER_MUST_USE ember_status_t ember_layer_norm_prepare(ember_node_t *node,
                                                       ember_layer_norm_rows_t *s,
                                                       ember_dtype_t dtype);

#define EMBER_LAYER_NORM_INLINE static inline __attribute__((always_inline))

EMBER_LAYER_NORM_INLINE float ember_layer_norm_get(const void *from, uint32_t i,
                                                   bool half) {
    return half ? ember_f32_from_f16(((const uint16_t *)from)[i])
                : ((const float *)from)[i];
}

EMBER_LAYER_NORM_INLINE void ember_layer_norm_set(void *to, uint32_t i, float number,
                                                  bool half) {
    if (half) {
        ((uint16_t *)to)[i] = ember_f16_from_f32(number);
    } else {
        ((float *)to)[i] = number;
    }
}

EMBER_LAYER_NORM_INLINE float ember_layer_norm_square(const ember_layer_norm_row_t *row,
                                                      uint32_t i, bool half) {
    const float d = ember_layer_norm_get(row->x, i, half) - row->mean;
    return d * d;
}

EMBER_LAYER_NORM_INLINE void ember_layer_norm_scale(const ember_layer_norm_rows_t *s,
                                                    const ember_layer_norm_row_t *row,
                                                    uint32_t i, bool half) {
    float y = (ember_layer_norm_get(row->x, i, half) - row->mean) * row->rstd;
    if (s->weight != NULL) {
        y *= ember_layer_norm_get(s->weight, i, half);
    }
    if (s->bias != NULL) {
        y += ember_layer_norm_get(s->bias, i, half);
    }
    ember_layer_norm_set(row->y, i, y, half);
}

// What is done with the first `count` elements of a row, a multiple of four; `sums` are
// the lanes.
typedef void (*ember_layer_norm_sum_fn)(float *sums, const ember_layer_norm_row_t *row,
                                        uint32_t count, bool half);
typedef void (*ember_layer_norm_scale_fn)(const ember_layer_norm_rows_t *s,
                                          const ember_layer_norm_row_t *row,
                                          uint32_t count, bool half);

EMBER_LAYER_NORM_INLINE float ember_layer_norm_mean(const float *sums, uint32_t count) {
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])) / (float)count;
}

// All rows. The functions and `half` are constants in every call; without `scale`,
// results are computed one by one.
EMBER_LAYER_NORM_INLINE void ember_layer_norm_run(const ember_layer_norm_rows_t *s,
                                                  bool half,
                                                  ember_layer_norm_sum_fn add,
                                                  ember_layer_norm_sum_fn add_squares,
                                                  ember_layer_norm_scale_fn scale) {
    const uint32_t whole = s->count & ~3u;
    for (uint32_t r = 0; r < s->rows; r++) {
        const size_t at = (size_t)r * s->count * (half ? 2 : 4);
        ember_layer_norm_row_t row = {(const char *)s->x + at, (char *)s->y + at, 0, 0};
        float sums[4] = {0};
        float squares[4] = {0};
        add(sums, &row, whole, half);
        for (uint32_t i = whole; i < s->count; i++) {
            sums[0] += ember_layer_norm_get(row.x, i, half);
        }
        row.mean = ember_layer_norm_mean(sums, s->count);
        add_squares(squares, &row, whole, half);
        for (uint32_t i = whole; i < s->count; i++) {
            squares[0] += ember_layer_norm_square(&row, i, half);
        }
        const float var = ember_layer_norm_mean(squares, s->count);
        row.rstd = 1.0f / __builtin_sqrtf(var + s->eps);
        if (scale != NULL) {
            scale(s, &row, whole, half);
        }
        for (uint32_t i = scale != NULL ? whole : 0; i < s->count; i++) {
            ember_layer_norm_scale(s, &row, i, half);
        }
        ember_layer_norm_set(s->mean, r, row.mean, half);
        ember_layer_norm_set(s->rstd, r, row.rstd, half);
    }
}

#endif // EMBER_KERNELS_NORM_LAYER_NORM_ROWS_H
