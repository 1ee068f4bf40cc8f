// SPDX-License-Identifier: Apache-2.0
// Quantised convolutions of the dialect, in every layout and dtype that it has.
//
//     y = quantised(bias_scale * (bias + sum of (x - x_zero) * (w - w_zero)))
//
// The dialect's C++ adds in float32, product by product. As long as no sum can leave
// 24 bits that is exact, and sums are of int32 here; where constant weights and biases
// do not promise that, they are of float32, in the order of the dialect.
#ifndef EMBER_KERNELS_CADENCE_CONV_H
#define EMBER_KERNELS_CADENCE_CONV_H

#include "kernels/cadence/window.h"

typedef struct ember_cadence_conv {
    ember_cadence_window_t window;
    const void *x;
    const void *w; // (filters, inner); depthwise: (inner, filters)
    const int32_t *bias;
    void *y;
    int32_t *patch; // (inner,) scratch: elements under the taps, less the zero point
    ember_cadence_number_t w_zero;
    ember_cadence_number_t scale; // of the bias, which is that of the sums
    ember_cadence_cut_t cut;
    float inverse; // of the output's scale
    int32_t x_zero;
    int32_t groups;
    int32_t filters; // of all groups
    int32_t depth;   // channels of a patch
    int32_t inner;   // elements of a patch
    int32_t tap;     // from a weight to the next of its filter
    uint8_t x_dtype;
    uint8_t w_dtype;
    bool whole; // sums are of int32
} ember_cadence_conv_t;

// Convolutions whose channels are last, or behind the batches. Weights of one dimension
// less than the image are depthwise: (height, width, filters).
EMBER_MUST_USE ember_status_t ember_cadence_conv(ember_cadence_conv_t *conv,
                                                 ember_node_t *node, bool last);
// Transposed ones. Their weights are (filters of a group, channels of all groups).
EMBER_MUST_USE ember_status_t ember_cadence_conv_transposed(ember_cadence_conv_t *conv,
                                                            ember_node_t *node);
void ember_cadence_conv_run(const ember_cadence_conv_t *conv);

#endif // EMBER_KERNELS_CADENCE_CONV_H
