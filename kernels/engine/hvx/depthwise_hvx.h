// SPDX-License-Identifier: Apache-2.0
// int8 depthwise convolutions, one filter per channel, with Hexagon's vectors.
//
// The outputs of a row are one array of (columns, channels), 128 at a time, whatever
// the channels. Four rows of the image become words of their elements side by side, and
// an instruction multiplies these by the weights of four taps one below the other.
// Columns of the image stand in as many parts of a row as the stride has, so that
// neighbouring outputs see neighbours.
#ifndef EMBER_KERNELS_ENGINE_HVX_DEPTHWISE_HVX_H
#define EMBER_KERNELS_ENGINE_HVX_DEPTHWISE_HVX_H

#include "kernels/engine/hvx/scale_hvx.h"
#include "kernels/engine/hvx/windows_hvx.h"
#include "kernels/engine/int8/conv_s8.h"

typedef struct ember_depthwise_hvx {
    ember_conv_s8_t conv;
    int32_t groups;       // of four rows of taps
    int32_t sharing;      // rows of outputs that four rows of the image serve, 1 or 2
    int32_t period;       // weights of a tap: those of all channels, maybe repeated
    int32_t columns;      // of a part of a row
    int32_t rows;         // of an image with its padding
    int32_t pitch;        // bytes from a row to the next
    const int8_t *packed; // weights and numbers (depthwise_panels_s8.h), or NULL
    int8_t *scratch;
    int8_t *room; // scratch of the caller
} ember_depthwise_hvx_t;

// Takes `depthwise->conv`, which is read already, with `room` bytes of scratch for the
// caller. UNSUPPORTED when its scales or its sizes are not for this.
EMBER_MUST_USE ember_status_t ember_depthwise_hvx_prepare(
    ember_depthwise_hvx_t *depthwise, ember_node_t *node, int64_t room);
// The same with weights that the host has packed for `depthwise->period` and
// `depthwise->sharing`.
EMBER_MUST_USE ember_status_t ember_depthwise_hvx_prepare_packed(
    ember_depthwise_hvx_t *depthwise, ember_node_t *node, const int8_t *packed);
// What no sum of EMBER_ROWS_REAL exceeds, without its sign.
int32_t ember_depthwise_hvx_bound(const ember_depthwise_hvx_t *depthwise);
// `ending` may be NULL: that of cortex_m. Sums are not clamped for it.
void ember_depthwise_hvx_run(const ember_depthwise_hvx_t *depthwise,
                             const ember_ending_hvx_t *ending);

#endif // EMBER_KERNELS_ENGINE_HVX_DEPTHWISE_HVX_H
