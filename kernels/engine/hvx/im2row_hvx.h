// SPDX-License-Identifier: Apache-2.0
// im2row with HVX: the elements under each window of an int8 image as a row of a
// matrix, whose product with the weights is the convolution. It pays if windows have
// many rows of few elements, and few windows are side by side.
#ifndef EMBER_KERNELS_ENGINE_HVX_IM2ROW_HVX_H
#define EMBER_KERNELS_ENGINE_HVX_IM2ROW_HVX_H

#include "kernels/engine/hvx/scale_hvx.h"
#include "kernels/engine/hvx/windows_hvx.h"
#include "kernels/engine/int8/conv_s8.h"

typedef struct ember_im2row_hvx {
    int32_t channels;
    int32_t batches;
    ember_conv_s8_axis_t height;
    ember_conv_s8_axis_t width;
    int8_t padding; // the value around the image
    int32_t cell;   // bytes of a window, a multiple of EMBER_STEP_HVX; 0: no matrix
} ember_im2row_hvx_t;

// Takes the geometry of a convolution with one group, whose `merged` adjacent outputs
// would otherwise share a window. `cell` is 0 if the matrix would take longer, or more
// than `most` bytes.
void ember_im2row_hvx_plan(ember_im2row_hvx_t *im2row, const ember_conv_s8_t *conv,
                           int32_t merged, int32_t most);

// Number of windows, bytes of all of them, and bytes of scratch for making them.
int32_t ember_im2row_hvx_windows(const ember_im2row_hvx_t *im2row);
int64_t ember_im2row_hvx_bytes(const ember_im2row_hvx_t *im2row);
int64_t ember_im2row_hvx_room_bytes(const ember_im2row_hvx_t *im2row);

// The windows of x, (batches, height, width, channels), to `to`, (windows, cell); zeros
// after the elements of each.
void ember_im2row_hvx_make(const ember_im2row_hvx_t *im2row, const int8_t *x,
                           int8_t *to, int8_t *room);

#endif // EMBER_KERNELS_ENGINE_HVX_IM2ROW_HVX_H
