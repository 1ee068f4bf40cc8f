// SPDX-License-Identifier: Apache-2.0
// Layer normalisation of layer_norm_rows.h without vectors: four sums in registers.
#ifndef EMBER_KERNELS_NORM_LAYER_NORM_PLAIN_H
#define EMBER_KERNELS_NORM_LAYER_NORM_PLAIN_H

#include "kernels/norm/layer_norm_rows.h"

EMBER_LAYER_NORM_INLINE void plain_add(float *sums, const ember_layer_norm_row_t *row,
                                       uint32_t count, bool half) {
    for (uint32_t i = 0; i < count; i += 4) {
#pragma GCC unroll 4
        for (uint32_t lane = 0; lane < 4; lane++) {
            sums[lane] += ember_layer_norm_get(row->x, i + lane, half);
        }
    }
}

EMBER_LAYER_NORM_INLINE void plain_add_squares(float *sums,
                                               const ember_layer_norm_row_t *row,
                                               uint32_t count, bool half) {
    for (uint32_t i = 0; i < count; i += 4) {
#pragma GCC unroll 4
        for (uint32_t lane = 0; lane < 4; lane++) {
            sums[lane] += ember_layer_norm_square(row, i + lane, half);
        }
    }
}

EMBER_LAYER_NORM_INLINE void
ember_layer_norm_run_plain(const ember_layer_norm_rows_t *s, bool half) {
    ember_layer_norm_run(s, half, plain_add, plain_add_squares, NULL);
}

#endif // EMBER_KERNELS_NORM_LAYER_NORM_PLAIN_H
