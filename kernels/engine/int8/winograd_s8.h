// SPDX-License-Identifier: Apache-2.0
// Convolutions of the cortex_m dialect of 3 x 3 taps and stride 1 whose filters the SDK
// has transformed: Winograd's F(2 x 2, 3 x 3), in integers. Four outputs take 16
// products of each channel instead of 36. The arguments are those of quantized_conv2d,
// but for weights (filters, 4, 4, channels) of int16,
//
//     4 G g G^T of the taps g,  G = ((1, 0, 0), (1, 1, 1) / 2, (1, -1, 1) / 2, (0, 0,
//     1))
//
// which lie as (pair of filters, 16, four channels, 0 and 2 or 1 and 3, filter,
// channel). Filters come in pairs, channels in eights.
//
// Lavin and Gray, Fast Algorithms for Convolutional Neural Networks, 2015.
#ifndef EMBER_KERNELS_ENGINE_INT8_WINOGRAD_S8_H
#define EMBER_KERNELS_ENGINE_INT8_WINOGRAD_S8_H

#include "kernels/engine/int8/conv_s8.h"

enum { EMBER_WINOGRAD_SIDE = 4, EMBER_WINOGRAD_TERMS = 16 };

// Reads a call; `weights` are as above, and `conv->w` is NULL. UNSUPPORTED where an
// output lies over its input.
EMBER_MUST_USE ember_status_t ember_winograd_s8_args(ember_conv_s8_t *conv,
                                                     ember_node_t *node,
                                                     const int16_t **weights);

#endif // EMBER_KERNELS_ENGINE_INT8_WINOGRAD_S8_H
