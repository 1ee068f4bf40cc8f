// SPDX-License-Identifier: Apache-2.0
// The columns of a convolution of int16: what is under the taps of each output, three
// neighbours at a time, for kernels that multiply them.
#ifndef EMBER_KERNELS_CORTEX_M_COLUMNS_S16_H
#define EMBER_KERNELS_CORTEX_M_COLUMNS_S16_H

#include <stddef.h>

#include "kernels/cortex_m/conv_s16.h"

enum { EMBER_COLUMNS_S16 = 3 };

typedef struct ember_column_s16 {
    const int16_t *from; // what is under tap (0, 0), maybe beside the image
    int16_t *y;          // outputs of all filters
    int32_t oy;
    int32_t ox;
} ember_column_s16_t;

// Computes the outputs of `count` > 0 columns; those that lack are the first one again.
// `whole`: all taps are in the image.
typedef void (*ember_columns_s16_fn)(
    const void *state, const ember_column_s16_t columns[EMBER_COLUMNS_S16],
    int32_t count, bool whole);

// Calls `take` with `state` for all columns of `s`, which begins with the images.
void ember_columns_s16_walk(const ember_conv_s16_t *s, ember_columns_s16_fn take,
                            const void *state);

// Elements of an image that become a part of a column, in runs: `across` of them make a
// row; they lie side by side in the column, whose rows are `line` apart.
typedef struct ember_runs_s16 {
    const int16_t *from;
    int16_t *to;
    int32_t length; // elements
    int32_t across;
    int32_t step; // to the next run of a row
    int32_t rows;
    int32_t pitch; // to the next row
    int32_t line;
} ember_runs_s16_t;

// Those under all taps of `column`, and under the ones that are in the image; the
// column is at `to`.
ember_runs_s16_t ember_runs_s16(const ember_conv_s16_t *s,
                                const ember_column_s16_t *column, int16_t *to);
ember_runs_s16_t ember_runs_s16_inside(const ember_conv_s16_t *s,
                                       const ember_column_s16_t *column, int16_t *to);

#endif // EMBER_KERNELS_CORTEX_M_COLUMNS_S16_H
