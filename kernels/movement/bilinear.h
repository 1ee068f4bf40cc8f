// SPDX-License-Identifier: Apache-2.0
// Bilinear upsampling: each pixel is a mean of four of the input's, by distance. Of
// whole images, or of a few rows at a time (upsample_bilinear2d_rows.c).
#ifndef EMBER_KERNELS_MOVEMENT_BILINEAR_H
#define EMBER_KERNELS_MOVEMENT_BILINEAR_H

#include "kernels/movement/upsample.h"

typedef struct ember_bilinear {
    char *out;
    const char *in;
    ember_upsample_places_t at;
    float step[2]; // input pixels per output pixel
    uint8_t dtype;
    bool align;
} ember_bilinear_t;

// Rows of the output, and which rows of the input are in memory.
typedef struct ember_bilinear_rows {
    int32_t first; // of the output, that are made
    int32_t count;
    int32_t above; // rows of the input above the first one in memory, maybe -1
    int32_t last;  // row in memory, counted from that one
} ember_bilinear_rows_t;

// The state for `up`, whose sizes are those of whole images. EMBER_UNSUPPORTED for
// integers.
EMBER_MUST_USE ember_status_t ember_bilinear_prepare(ember_bilinear_t *s,
                                                     ember_node_t *node,
                                                     const ember_upsample_t *up,
                                                     bool align);

// Writes rows of all images and channels; the first one is written to `out`.
void ember_bilinear_run(const ember_bilinear_t *s, const ember_bilinear_rows_t *rows);

#endif // EMBER_KERNELS_MOVEMENT_BILINEAR_H
