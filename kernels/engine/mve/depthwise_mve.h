// SPDX-License-Identifier: Apache-2.0
// Outputs of a depthwise convolution with Helium: sixteen lanes, each a channel of an
// output, from rows of the image that are in a ring.
#ifndef EMBER_KERNELS_ENGINE_MVE_DEPTHWISE_MVE_H
#define EMBER_KERNELS_ENGINE_MVE_DEPTHWISE_MVE_H

#include "kernels/engine/int8/conv_s8.h"

enum { EMBER_DEPTHWISE_LANES_MVE = 16 };

// One block of channels. Lane i of the vectors n is channel 4 i + n, because the
// products of bytes are widened twice.
typedef struct ember_depthwise_block_mve {
    int32_t first[4][4]; // initial sums of an output
    int32_t multipliers[4][4];
    int32_t shifts[4][4];
    const ember_scales_s8_t *scales;
    const int8_t *weights;
    int32_t rows, columns; // of taps
    int32_t zero_point;
    ember_limits_s8_t limits;
    bool paired;  // the products of two neighbouring taps may be added as int16
    bool shifted; // no shift is 0
} ember_depthwise_block_mve_t;

// Neighbouring outputs of a row.
typedef struct ember_depthwise_line_mve {
    const int8_t *ring;
    int32_t pitch;
    int32_t slots;
    int32_t slot;   // of the first row of taps
    int32_t down;   // slots between rows of taps
    int32_t step;   // bytes between taps
    int32_t x_step; // bytes between groups of outputs, in the ring
    int32_t y_step;
    int8_t *y;
    int32_t lanes; // that are stored
} ember_depthwise_line_mve_t;

// `count` groups of outputs, starting with group `from` of the row. All lanes are read
// for each tap.
typedef void (*ember_depthwise_mve_t)(const ember_depthwise_block_mve_t *block,
                                      const ember_depthwise_line_mve_t *line,
                                      int32_t from, int32_t count);
void ember_depthwise_mve(const ember_depthwise_block_mve_t *block,
                         const ember_depthwise_line_mve_t *line, int32_t from,
                         int32_t count);

#endif // EMBER_KERNELS_ENGINE_MVE_DEPTHWISE_MVE_H
