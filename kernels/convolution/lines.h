// SPDX-License-Identifier: Apache-2.0
// The part of a line of an image under one tap of neighbouring outputs.
#ifndef EMBER_KERNELS_CONVOLUTION_LINES_H
#define EMBER_KERNELS_CONVOLUTION_LINES_H

#include "kernels/convolution/axis.h"

// Zeros, elements `stride` apart from `first` on, zeros.
typedef struct ember_line {
    int32_t before; // elements, as all here
    int32_t count;
    int32_t after;
    int32_t first;
    int32_t stride;
} ember_line_t;

// Tap `tap` of the outputs [at, at + outputs) along `axis`.
ember_line_t ember_line(const ember_axis_t *axis, int32_t at, int32_t tap,
                        int32_t outputs);

// Clears `count` elements; copies the line out of a row of the image.
typedef void (*ember_line_zeros_fn)(float *to, int32_t count);
typedef void (*ember_line_copy_fn)(ember_line_t line, float *to, const float *row);

#endif // EMBER_KERNELS_CONVOLUTION_LINES_H
