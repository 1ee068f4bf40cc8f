// SPDX-License-Identifier: Apache-2.0
// int8 convolutions of one group, and products of int8 matrices, with Hexagon's
// vectors: the image becomes cells, 128 filters at a time become a panel, and all
// windows are multiplied by it.
#ifndef EMBER_KERNELS_ENGINE_HVX_COLUMNS_HVX_H
#define EMBER_KERNELS_ENGINE_HVX_COLUMNS_HVX_H

#include "kernels/engine/hvx/cells_hvx.h"
#include "kernels/engine/hvx/im2row_hvx.h"
#include "kernels/engine/hvx/panel_hvx.h"
#include "kernels/engine/hvx/worth_hvx.h"

typedef struct ember_columns_hvx {
    const int8_t *x;           // (batches, height, width, channels)
    ember_im2row_hvx_t im2row; // makes the cells' image, where its cell is not 0
    ember_cells_hvx_t cells;
    ember_filters_hvx_t filters;
    ember_terms_hvx_t terms;
    int8_t *y;
    int16_t zero_point;
    ember_limits_s8_t limits;
    int16_t w_offset;     // added to weights
    bool shifted;         // by all filters: none of their shifts is 0
    int32_t columns;      // of y, before merging
    const int8_t *packed; // panels (panels_s8.h), or NULL: they are made in every run
    int8_t *scratch;
    int8_t *room; // scratch of the caller
} ember_columns_hvx_t;

// What a convolution is besides its sizes.
typedef struct ember_columns_form_hvx {
    bool turned;           // weights are (depth, taps, filters), of several filters;
                           // else (filters, taps, depth)
    int16_t w_offset;      // added to weights
    int32_t pixel;         // elements from a pixel to the next; 0: the channels
    int32_t rows_apart;    // as in cells_hvx.h; 0: 1
    int32_t columns_apart; //
    int64_t room;          // bytes of scratch for the caller
    const int8_t *packed;  // panels, or NULL; of windows of
    int32_t merged;        // so many adjacent outputs
} ember_columns_form_hvx_t;

// Takes a convolution of one group. UNSUPPORTED when its scales or its sizes are not
// for this.
EMBER_MUST_USE ember_status_t ember_columns_hvx_prepare(
    ember_columns_hvx_t *columns, ember_node_t *node, const ember_conv_s8_t *conv,
    const ember_columns_form_hvx_t *form);

// Whether a convolution that takes `packets` in portable C is large enough to pack its
// weights for.
static inline bool ember_columns_hvx_pays(const ember_conv_s8_t *conv,
                                          int64_t packets) {
    const int64_t weights = conv->filters * ember_conv_s8_taps(conv) * conv->depth;
    return packets >= 1500 + 2 * weights;
}

// How many outputs side by side share a window, so that their filters fill vectors. Of
// `conv`, sizes of the image may be missing.
int32_t ember_columns_hvx_merged(const ember_conv_s8_t *conv);

// Whether the image is aligned for vectors; always true if it is copied.
bool ember_columns_hvx_aligned(const ember_columns_hvx_t *columns);
// `ending` may be NULL: that of cortex_m. With another one, `terms` must still have a
// multiplier and a shift to read.
void ember_columns_hvx_run(const ember_columns_hvx_t *columns,
                           const ember_ending_hvx_t *ending);

// A convolution of one group as a kernel has it: its arguments, and the windows.
typedef struct ember_columns_conv_hvx {
    ember_conv_s8_t conv;
    ember_columns_hvx_t columns;
} ember_columns_conv_hvx_t;

// Takes the arguments in `conv`. UNSUPPORTED where the output lies over the input too,
// or portable C takes fewer packets. `turned` as in the form.
EMBER_MUST_USE ember_status_t ember_columns_conv_hvx_prepare(
    ember_columns_conv_hvx_t *conv, ember_node_t *node, bool turned);

// In portable C if the image is unaligned for vectors. `depthwise`: turned, and all
// filters see one channel.
void ember_columns_conv_hvx_run(const ember_columns_conv_hvx_t *conv, bool depthwise);

#endif // EMBER_KERNELS_ENGINE_HVX_COLUMNS_HVX_H
