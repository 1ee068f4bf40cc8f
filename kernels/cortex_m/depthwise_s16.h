// SPDX-License-Identifier: Apache-2.0
// Depthwise convolutions of int16 with one filter for each channel, pixel by pixel, for
// kernels that compute some neighbouring channels at a time.
#ifndef EMBER_KERNELS_CORTEX_M_DEPTHWISE_S16_H
#define EMBER_KERNELS_CORTEX_M_DEPTHWISE_S16_H

#include <stddef.h>

#include "kernels/cortex_m/conv_s16.h"

// What is under the taps of an output that are in the image.
typedef struct ember_pixel_s16 {
    const int16_t *x; // channel 0 under the first of them
    const int8_t *w;  // its weights
    int16_t *y;
    int32_t rows;    // of taps
    int32_t columns; // of taps
    int32_t x_row;   // elements from a row of taps to the next
    int32_t x_step;  // from a tap to the next
    int32_t w_row;
    int32_t w_step;
} ember_pixel_s16_t;

// Computes all channels of a pixel.
typedef void (*ember_pixel_s16_fn)(const void *state, const ember_pixel_s16_t *pixel);

// Calls `one` with `state`, which begins with the convolution, for each output.
void ember_depthwise_s16_walk(const ember_conv_s16_t *s, ember_pixel_s16_fn one,
                              const void *state);

#endif // EMBER_KERNELS_CORTEX_M_DEPTHWISE_S16_H
