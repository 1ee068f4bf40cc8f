// SPDX-License-Identifier: Apache-2.0
// Depthwise convolutions of static int8, three by three, on cores with SME. Lines of
// the image are copied with their padding; then a line of the output is one row of
// numbers, whatever the channels are, and the taps of a column lie at the same distance
// for all.
#ifndef EMBER_XNNPACK_SME_DEPTHWISE_H
#define EMBER_XNNPACK_SME_DEPTHWISE_H

#include "gemm.h"

enum { XNN_SME_SIDE = 3 };

// Lists of channels go on from the first one for another vector of bytes.
typedef struct ember_xnn_sme_depthwise {
    const ember_xnn_window_t *window; // strides 1 or 2, no dilation
    const int8_t *x;
    int8_t *y;
    const int8_t *w;     // for each column of taps: four per channel, the last one 0
    const int32_t *sums; // of a channel's weights
    int32_t *start;      // of sums: written first
    float *scales;       // of sums: the same
    const ember_xnn_sme_static_t *columns; // of channels
    int8_t zero;                           // of the input
    int8_t *scratch;                       // lines
} ember_xnn_sme_depthwise_t;

// Pixels that the taps of a column read for a line of the output.
static inline uint32_t xnn_sme_plane(const ember_xnn_window_t *window) {
    return (uint32_t)(window->x.out + (XNN_SME_SIDE - 1) / window->x.stride);
}

// Bytes of a line: where taps are two pixels apart, even pixels before odd ones.
static inline uint64_t xnn_sme_line(const ember_xnn_window_t *window) {
    return (uint64_t)xnn_sme_plane(window) * (uint32_t)window->channels *
           (uint32_t)window->x.stride;
}

void ember_xnn_sme_depthwise(const ember_xnn_sme_depthwise_t *job);

#endif // EMBER_XNNPACK_SME_DEPTHWISE_H
