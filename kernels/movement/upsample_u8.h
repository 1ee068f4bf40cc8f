// SPDX-License-Identifier: Apache-2.0
// Bilinear upsampling of uint8 in fixed point, bit for bit like PyTorch: rows first,
// then columns, each rounded to uint8. Weights have as many fraction bits as let the
// largest one fit into int16.
#ifndef EMBER_KERNELS_MOVEMENT_UPSAMPLE_U8_H
#define EMBER_KERNELS_MOVEMENT_UPSAMPLE_U8_H

#include "kernels/movement/upsample.h"

typedef struct ember_upsample_u8 {
    uint8_t *out;
    const uint8_t *in;
    int32_t *spans[2]; // scratch: one for each output row and column
    ember_upsample_places_t at;
    int32_t taps[2]; // most pixels that an output mixes
    double step[2];  // input pixels per output pixel
    bool align;
    bool smooth; // antialias
} ember_upsample_u8_t;

// From a call whose arguments have been read; `step` as ember_upsample_step().
EMBER_MUST_USE ember_status_t ember_upsample_u8_prepare(ember_upsample_u8_t *s,
                                                        ember_node_t *node,
                                                        const ember_upsample_t *up,
                                                        bool align, bool smooth);
void ember_upsample_u8_run(const ember_upsample_u8_t *s);

#endif // EMBER_KERNELS_MOVEMENT_UPSAMPLE_U8_H
