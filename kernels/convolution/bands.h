// SPDX-License-Identifier: Apache-2.0
// A convolution of float32 with one input channel per group, contiguous planes.
//
// A band of rows of one channel is copied to scratch with zeros around it; then outputs
// of a row are summed, whatever the edges. Sums begin with the bias; infinite weights
// that fall on padding make NaN.
#ifndef EMBER_KERNELS_CONVOLUTION_BANDS_H
#define EMBER_KERNELS_CONVOLUTION_BANDS_H

#include <stddef.h>

#include "kernels/convolution/lines.h"

// Outputs that are summed side by side: the band has what a whole step reads.
enum { EMBER_BAND_STEP = 8 };

typedef struct ember_conv_bands {
    const float *x;    // (batches, groups, in_h, in_w)
    const float *w;    // (groups * filters, 1, kernel_h, kernel_w)
    const float *bias; // (groups * filters,) or NULL
    float *y;          // (batches, groups * filters, out_h, out_w)
    float *band;       // rows of the image, `pitch` elements each
    int32_t batches, groups, filters;
    int32_t rows; // of outputs that one band is for, at most
    int32_t pitch;
    ember_axis_t height;
    ember_axis_t width;
} ember_conv_bands_t;

// UNSUPPORTED when the convolution is not of that kind.
EMBER_MUST_USE ember_status_t ember_conv_bands_prepare(ember_conv_bands_t *bands,
                                                       ember_node_t *node);

// Computes one row of outputs at `y`; `from` is its first element in the band.
typedef void (*ember_bands_row_fn)(const ember_conv_bands_t *bands, const float *from,
                                   const float *filter, float bias, float *y);

// What a variant computes and copies with.
typedef struct ember_bands_parts {
    ember_bands_row_fn row;
    ember_line_copy_fn copy;
    ember_line_zeros_fn zeros;
} ember_bands_parts_t;

void ember_conv_bands_run(const ember_conv_bands_t *bands,
                          const ember_bands_parts_t *parts);

#endif // EMBER_KERNELS_CONVOLUTION_BANDS_H
