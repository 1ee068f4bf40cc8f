// SPDX-License-Identifier: Apache-2.0
// ember::cadence_conv2d_panels.out and ember::cadence_depthwise_conv2d_panels.out:
// convolutions of the dialect whose weights the host has packed for Hexagon's vectors,
// as those of cortex_m (panels_s8.h, depthwise_panels_s8.h). Only the initial sums
// among the numbers of panels matter. `last`: channels are innermost; else images are
// turned in scratch.
#ifndef EMBER_KERNELS_CADENCE_LENT_PANELS_H
#define EMBER_KERNELS_CADENCE_LENT_PANELS_H

#include "kernels/cadence/lent_image.h"
#include "kernels/engine/int8/depthwise_panels_s8.h"
#include "kernels/engine/int8/panels_s8.h"

typedef struct ember_lent_panels {
    ember_lent_t lent;
    union {
        ember_conv_s8_t conv; // of each, which begins with it
        ember_panels_s8_t whole;
        ember_depthwise_panels_s8_t depthwise;
    };
} ember_lent_panels_t;

// Read a call, set the shape of its output, and take scratch for what is turned.
EMBER_MUST_USE ember_status_t ember_lent_panels_args(ember_lent_panels_t *s,
                                                     ember_node_t *node);
EMBER_MUST_USE ember_status_t ember_lent_panels_depthwise_args(ember_lent_panels_t *s,
                                                               ember_node_t *node);

// The sum of a filter over the window of output (oy, ox).
typedef int32_t (*ember_panels_sum_t)(const void *panels, const int8_t *x, int32_t oy,
                                      int32_t ox, int32_t filter);

// Computes, in plain C, what is not turned. `sum` is a constant.
static inline __attribute__((always_inline)) void
ember_lent_panels_plain(const ember_conv_s8_t *conv, ember_panels_sum_t sum) {
    const ember_scales_s8_t *by = &conv->scales;
    const int8_t *x = conv->x;
    int8_t *y = conv->y;

    for (int32_t n = 0; n < conv->batches; n++) {
        for (int32_t i = 0; i < ember_lent_out(conv); i++) {
            const int32_t oy = i / conv->width.out, ox = i % conv->width.out;
            for (int32_t f = 0; f < conv->filters; f++) {
                *y++ = ember_real_s8(sum(conv, x, oy, ox, f), by->scale, by->inverse,
                                     by->zero_point);
            }
        }
        x += (ptrdiff_t)ember_lent_in(conv) * conv->channels;
    }
}

#endif // EMBER_KERNELS_CADENCE_LENT_PANELS_H
