// SPDX-License-Identifier: Apache-2.0
// An int8 image becomes rows of cells including padding, such that windows of
// windows_hvx.h are runs of whole cells; and the sums of the elements of windows.
//
// A cell is a pixel, if its elements are a multiple of EMBER_STEP_HVX and windows use
// neighbouring ones; otherwise it is a row of a window, padded with zeros.
#ifndef EMBER_KERNELS_ENGINE_HVX_CELLS_HVX_H
#define EMBER_KERNELS_ENGINE_HVX_CELLS_HVX_H

#include "kernels/engine/hvx/windows_hvx.h"
#include "kernels/engine/int8/conv_s8.h"

typedef struct ember_cells_hvx {
    int32_t channels;
    int32_t pixel; // elements from a pixel to the next: channels, but of a group
    int32_t batches;
    ember_conv_s8_axis_t height;
    ember_conv_s8_axis_t width; // of merged windows
    int32_t rows_apart;         // pixels stand so far apart, padding between them;
    int32_t columns_apart;      // 1, but of transposed convolutions
    int8_t padding;             // the value around the image
    bool copied;                // the image must not be used in place
    bool expanded;              // cells are rows of windows
    bool direct;                // the image is used in place
    int32_t cell;               // bytes, a multiple of EMBER_STEP_HVX
    int32_t rows;               // of a batch
    int32_t columns;            // cells of a row
    int32_t window;             // cells of a row of a window
    int32_t step;               // cells from a window to the next
    int32_t sums_row; // words from the sums of a row of windows to those of the next
} ember_cells_hvx_t;

// Fills the fields from `expanded` on. False if there are more than `most` bytes.
EMBER_MUST_USE bool ember_cells_hvx_plan(ember_cells_hvx_t *cells, int32_t most);

// Bytes of scratch for the image, for sums, and for other purposes in between.
int64_t ember_cells_hvx_image_bytes(const ember_cells_hvx_t *cells);
int64_t ember_cells_hvx_sums_bytes(const ember_cells_hvx_t *cells);
int64_t ember_cells_hvx_room_bytes(const ember_cells_hvx_t *cells);

// Makes the image of x, (batches, height, width, channels), in `image`, unless it is
// used in place. Returns the cells.
const int8_t *ember_cells_hvx_make(const ember_cells_hvx_t *cells, const int8_t *x,
                                   int8_t *image, int8_t *room);

// sums[b, y, x] = factor * the sum of the elements of the window whose first cell is x,
// in row y of windows; `made` is the image.
void ember_cells_hvx_sum(const ember_cells_hvx_t *cells, const int8_t *made,
                         int32_t factor, int32_t *sums, int8_t *room);

#endif // EMBER_KERNELS_ENGINE_HVX_CELLS_HVX_H
