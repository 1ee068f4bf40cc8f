// SPDX-License-Identifier: Apache-2.0
// Whether a layer is large enough for HVX: packing its weights takes longer than small
// layers take in portable C. The figures are packets, measured on layers of random
// sizes (tools/sweep calls).
#ifndef EMBER_KERNELS_ENGINE_HVX_WORTH_HVX_H
#define EMBER_KERNELS_ENGINE_HVX_WORTH_HVX_H

#include "kernels/engine/int8/conv_s8.h"

// The cost of an output with this many products in portable C.
static inline int64_t ember_packets_of_output(int64_t products) {
    return 3 * products + 15;
}

// Taps of an axis's outputs inside the image; of the first 4,096 outputs, which are
// enough to be worth it.
static inline int64_t ember_taps_inside(const ember_conv_s8_axis_t *axis) {
    int64_t taps = 0;
    for (int32_t at = 0; at < axis->out && at < 4096; at++) {
        const ember_taps_s8_t inside = ember_taps_s8(axis, at);
        taps += inside.past - inside.first;
    }
    return taps;
}

// The cost of a convolution in portable C.
static inline int64_t ember_packets_of_conv(const ember_conv_s8_t *conv) {
    const ember_conv_s8_axis_t *h = &conv->height, *w = &conv->width;
    const int64_t images = (int64_t)conv->batches * conv->filters;
    return images * (3 * ember_taps_inside(h) * ember_taps_inside(w) * conv->depth +
                     15 * (int64_t)h->out * w->out);
}

// The same for a depthwise one.
static inline int64_t ember_packets_of_depthwise(const ember_conv_s8_t *conv) {
    const ember_conv_s8_axis_t *h = &conv->height, *w = &conv->width;
    const int64_t images = (int64_t)conv->batches * conv->filters;
    return images * (5 * ember_taps_inside(h) * ember_taps_inside(w) +
                     40 * (int64_t)h->out * w->out);
}

#endif // EMBER_KERNELS_ENGINE_HVX_WORTH_HVX_H
