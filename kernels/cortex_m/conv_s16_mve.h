// SPDX-License-Identifier: Apache-2.0
// Layers of int16 with Helium: three columns at a time are multiplied with two filters,
// or one column with four. Columns of a 1 x 1 kernel are used in place; others are
// first copied to scratch.
#ifndef EMBER_KERNELS_CORTEX_M_CONV_S16_MVE_H
#define EMBER_KERNELS_CORTEX_M_CONV_S16_MVE_H

#include "kernels/cortex_m/columns_s16.h"

typedef struct ember_conv_s16_mve {
    ember_conv_s16_t conv;
    int16_t *copies; // (column, inner); NULL: columns are in place
    int32_t *tile;   // (column, EMBER_MVE_TILE_S16) sums
    int32_t *zeros;  // (filters,): what sums start from; NULL: the bias
    int32_t inner;   // elements of a column
} ember_conv_s16_mve_t;

// Takes `s->conv`, which has been read; UNSUPPORTED unless all channels are in one
// group and shifts go to the right, or are 0.
EMBER_MUST_USE ember_status_t ember_conv_s16_mve_prepare(ember_conv_s16_mve_t *s,
                                                         ember_node_t *node);

void ember_conv_s16_mve_run(const ember_conv_s16_mve_t *s);

#endif // EMBER_KERNELS_CORTEX_M_CONV_S16_MVE_H
