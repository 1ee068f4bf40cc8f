// SPDX-License-Identifier: Apache-2.0
// Depthwise convolutions of static int8, three by three, on cores with SME. Rows of the
// image are copied with their padding; then a row of the output is one array of
// elements, whatever the channels are, and the taps of a column have the same distance
// for all of them.
#ifndef EMBER_XNNPACK_SME_DEPTHWISE_H
#define EMBER_XNNPACK_SME_DEPTHWISE_H

#include "gemm.h"

enum { XNN_SME_SIDE = 3 };

// Lists of channels wrap around and continue for another vector of bytes.
typedef struct ember_xnn_sme_depthwise {
    const ember_xnn_window_t *window; // strides 1 or 2, no dilation
    const int8_t *x;
    int8_t *y;
    const int8_t *w;     // for each column of taps: four per channel, the last one 0
    const int32_t *sums; // of a channel's weights
    int32_t *start;      // initial sums: written first
    float *scales;       // of sums: likewise
    const ember_xnn_sme_static_t *columns; // of channels
    int8_t zero;                           // of the input
    int8_t *scratch;                       // rows
} ember_xnn_sme_depthwise_t;

// Pixels that the taps of a column read for a row of the output.
static inline uint32_t xnn_sme_plane(const ember_xnn_window_t *window) {
    return (uint32_t)(window->x.out + (XNN_SME_SIDE - 1) / window->x.stride);
}

// Bytes of a row: with stride 2, even pixels come before odd ones.
static inline uint64_t xnn_sme_line(const ember_xnn_window_t *window) {
    return (uint64_t)xnn_sme_plane(window) * (uint32_t)window->channels *
           (uint32_t)window->x.stride;
}

void ember_xnn_sme_depthwise(const ember_xnn_sme_depthwise_t *job);

#endif // EMBER_XNNPACK_SME_DEPTHWISE_H
