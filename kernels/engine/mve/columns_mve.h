// SPDX-License-Identifier: Apache-2.0
// Convolutions with Helium as products of columns: the bytes under the taps of three
// neighbouring outputs, a column each, are multiplied with two filters at a time.
// Columns of a 1 x 1 kernel are used in place; others are first copied to scratch, with
// the zero point around the image, and so are those of an image that the outputs
// overwrite.
#ifndef EMBER_KERNELS_ENGINE_MVE_COLUMNS_MVE_H
#define EMBER_KERNELS_ENGINE_MVE_COLUMNS_MVE_H

#include "kernels/engine/int8/conv_s8.h"

enum { EMBER_COLUMNS_MVE = 3 };

typedef struct ember_columns_mve {
    ember_conv_s8_t conv;
    const int8_t *w; // (filters, inner)
    int8_t *turned;  // (filters, inner): scratch for transposed weights; or NULL
    int32_t *sums;   // (filters,) initial sums of an output; NULL: its bias
    int32_t *tile;   // (EMBER_COLUMNS_MVE, EMBER_MVE_TILE) sums of columns
    int8_t *copies;  // (EMBER_COLUMNS_MVE, pitch); NULL: columns in place
    int32_t inner;   // elements of a column
    int32_t pitch;
    int32_t inner_from; // outputs of a row whose taps all lie inside the image, if they
    int32_t inner_count; // are neighbours
    bool plain;          // no shift is 0, and outputs have no limits but int8's
} ember_columns_mve_t;

// Takes `s->conv`, which has been read and has all channels in one group; UNSUPPORTED
// if it does not suit Helium. A column has at most `taps` taps; with weights that are
// computed, columns are never used in place.
EMBER_MUST_USE ember_status_t ember_columns_mve_prepare(ember_columns_mve_t *s,
                                                        ember_node_t *node,
                                                        int64_t taps,
                                                        ember_weights_s8_t weights);

// What follows from `s->conv`: columns and how they are copied.
void ember_columns_mve_measure(ember_columns_mve_t *s);

// How sums of the tile become the outputs of `count` filters, from filter `from` on: of
// three columns, one after the other, the first of each at y[column], and of one,
// filters in fours.
typedef struct ember_ending_mve {
    void (*three)(const ember_columns_mve_t *s, const int32_t *tile, int32_t from,
                  int32_t count, int8_t *const *y);
    void (*one)(const ember_columns_mve_t *s, const int32_t *tile, int32_t from,
                int32_t count, int8_t *y);
} ember_ending_mve_t;

// Outputs are at s->conv.y, `steps` apart. An ending of NULL is that of cortex_m, here
// and below.
void ember_columns_mve_run(const ember_columns_mve_t *s, ember_steps_s8_t steps,
                           const ember_ending_mve_t *ending);

// The outputs of all filters with three columns, the first of each at y[column]. The
// first two may be the same column.
void ember_columns_mve_three(const ember_columns_mve_t *s, const int8_t *const *columns,
                             int8_t *const *y, const ember_ending_mve_t *ending);

// The same with a single column, of filters in fours.
void ember_columns_mve_one(const ember_columns_mve_t *s, const int8_t *column,
                           int8_t *y, const ember_ending_mve_t *ending);

#endif // EMBER_KERNELS_ENGINE_MVE_COLUMNS_MVE_H
