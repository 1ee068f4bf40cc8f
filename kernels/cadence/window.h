// SPDX-License-Identifier: Apache-2.0
// Windows of the dialect's convolutions, im2row and pools: where their taps are in an
// image of shape (n, c, h, w), (n, h, w, c), or without h.
#ifndef EMBER_KERNELS_CADENCE_WINDOW_H
#define EMBER_KERNELS_CADENCE_WINDOW_H

#include "kernels/engine/cadence/numbers.h"

// Every position that an axis can produce, inside the image or not, fits an int32_t.
typedef struct ember_cadence_axis {
    int32_t in; // elements, as all here
    int32_t out;
    int32_t kernel;
    int32_t stride;
    int32_t padding;
    int32_t dilation;
} ember_cadence_axis_t;

// An image and its elements' distances, in elements.
typedef struct ember_cadence_image {
    int32_t batch;
    int32_t channel;
    int32_t row;
    int32_t column;
} ember_cadence_image_t;

typedef struct ember_cadence_window {
    ember_cadence_axis_t height;
    ember_cadence_axis_t width;
    ember_cadence_image_t x;
    ember_cadence_image_t y;
    int32_t batches;
    int32_t channels; // of the input
    bool last;        // channels are innermost
    bool flat;        // the image has no height
    bool transposed;
} ember_cadence_window_t;

// Indices of a call's lists, and of `ceil_mode`; 0: it has none.
typedef struct ember_cadence_lists {
    uint8_t stride;
    uint8_t padding;
    uint8_t dilation;
    uint8_t out_padding; // if there is one, the window is transposed
    uint8_t ceil_mode;   // the last window may extend past the end
} ember_cadence_lists_t;

// Takes a tensor of rank 3 or 4 as the image, with channels last or first. Kernels are
// set by the caller before ember_cadence_window_out().
EMBER_MUST_USE bool ember_cadence_window_in(ember_cadence_window_t *window,
                                            const ember_tensor_t *x, bool last);

// Reads the lists, of height and width or of the width only, and sets the lengths of
// the output. BAD_PROGRAM if there is no such window.
EMBER_MUST_USE ember_status_t
ember_cadence_window_out(ember_cadence_window_t *window, ember_node_t *node,
                         const ember_cadence_lists_t *lists);

// Distances between the elements of an image of `channels` channels.
ember_cadence_image_t ember_cadence_image(const ember_cadence_window_t *window,
                                          int32_t channels, int32_t height,
                                          int32_t width);

// The shape of an output of `channels` channels; returns its rank.
uint32_t ember_cadence_window_shape(const ember_cadence_window_t *window, uint32_t rank,
                                    int32_t channels, int32_t sizes[4]);

// The position in the image of tap `k` of output `out`; below 0: outside.
static inline int32_t ember_cadence_tap(const ember_cadence_axis_t *axis,
                                        bool transposed, int32_t out, int32_t k) {
    if (!transposed) {
        const int32_t at = out * axis->stride - axis->padding + k * axis->dilation;
        return at < axis->in ? at : -1;
    }
    const int32_t back = (axis->kernel - 1 - k) * axis->dilation;
    const int32_t at = out + axis->padding - back;
    if (at < 0 || at % axis->stride != 0 || at / axis->stride >= axis->in) {
        return -1;
    }
    return at / axis->stride;
}

#endif // EMBER_KERNELS_CADENCE_WINDOW_H
