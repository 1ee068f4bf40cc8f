// SPDX-License-Identifier: Apache-2.0
// Convolutions of the cortex_m dialect whose weights the SDK has packed: the arguments
// are those of quantized_conv2d, but weights are (filters, height, width, depth) with
// rows of taps that end in zeros up to a multiple of four elements, and lie as
//
//     (four filters, four elements, even or odd ones, pair, two elements, two bytes)
//
// where the two bytes are the weight of the pair's first filter and 128, and the weight
// of its second: as int16, 256 times the second, the first and 128.
#ifndef EMBER_KERNELS_CORTEX_M_PACKED_S8_H
#define EMBER_KERNELS_CORTEX_M_PACKED_S8_H

#include "kernels/cortex_m/conv_s8.h"

enum { EMBER_PACKED_FOUR = 4 }; // filters, and elements

// Sets `fours` of a row of taps. UNSUPPORTED with dilation.
EMBER_MUST_USE ember_status_t ember_packed_s8_args(ember_conv_s8_t *conv,
                                                   ember_node_t *node, int32_t *fours);

#endif // EMBER_KERNELS_CORTEX_M_PACKED_S8_H
