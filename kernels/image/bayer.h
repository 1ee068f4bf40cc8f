// SPDX-License-Identifier: Apache-2.0
// Cells of 2 x 2 pixels of a Bayer sensor, one red, two green and one blue. A cell
// becomes one pixel of the image.
//
//     pixels  (.., 2 h, 2 w)  uint8
//     red     where red is in a cell, 2 row + column; blue is opposite
#ifndef EMBER_KERNELS_IMAGE_BAYER_H
#define EMBER_KERNELS_IMAGE_BAYER_H

#include "kernels/image/image.h"

enum { EMBER_BAYER_PIXELS, EMBER_BAYER_RED, EMBER_BAYER_OUT };

typedef struct ember_bayer {
    const uint8_t *pixels; // (images, 2 rows, 2 columns)
    uint8_t *y;
    uint32_t images;
    uint32_t rows; // of cells
    uint32_t columns;
    uint32_t red;
} ember_bayer_t;

// Places in a cell at `left` of the upper row, whose lower row is `below` bytes on.
static inline uint32_t ember_bayer_at(const uint8_t *left, uint32_t below,
                                      uint32_t place) {
    return left[(place >> 1) * below + (place & 1u)];
}

// The sum of both greens.
static inline uint32_t ember_bayer_greens(const uint8_t *left, uint32_t below,
                                          uint32_t red) {
    return ember_bayer_at(left, below, red ^ 1u) +
           ember_bayer_at(left, below, red ^ 2u);
}

// Checks the call, whose output has `planes` images in place of each, or 0: one without
// a dimension of its own.
ember_status_t ember_bayer_prepare(ember_node_t *node, int32_t planes,
                                   ember_bayer_t *s);

#endif // EMBER_KERNELS_IMAGE_BAYER_H
