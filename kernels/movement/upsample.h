// SPDX-License-Identifier: Apache-2.0
// What two-dimensional upsampling shares: (input, output_size, [align_corners],
// scale_factors, out).
#ifndef EMBER_KERNELS_MOVEMENT_UPSAMPLE_H
#define EMBER_KERNELS_MOVEMENT_UPSAMPLE_H

#include "kernels/engine/view.h"

typedef struct ember_upsample {
    ember_view_t in;  // (n, c, h, w)
    ember_view_t out; // (n, c, h, w)
    double scales[2]; // given factors; 0: none
} ember_upsample_t;

// Where the elements of the input and of the output are.
typedef struct ember_upsample_places {
    int32_t sizes[4];   // of the output
    int32_t in_size[2]; // height and width
    int32_t to[4];      // strides, bytes
    int32_t from[4];
} ember_upsample_places_t;

void ember_upsample_places(ember_upsample_places_t *at, const ember_upsample_t *up);

// Reads the call, sets the output's shape and checks dtypes.
EMBER_MUST_USE ember_status_t ember_upsample_args(ember_upsample_t *up,
                                                  ember_node_t *node, uint32_t factors,
                                                  uint32_t out);

// The same for (input, output_size, align_corners, scales_h, scales_w, out).
EMBER_MUST_USE ember_status_t ember_upsample_aa_args(ember_upsample_t *up,
                                                     ember_node_t *node);

// Input pixels per output pixel of dimension `d` (0: height).
float ember_upsample_step(const ember_upsample_t *up, uint32_t d);

// The same as a double; with aligned corners the ends of input and output coincide. 1
// if the size does not change, whatever the scale.
double ember_upsample_wide_step(const ember_upsample_t *up, uint32_t d, bool align);

#endif // EMBER_KERNELS_MOVEMENT_UPSAMPLE_H
