// SPDX-License-Identifier: Apache-2.0
// Convolutions of the cortex_m dialect whose weights the SDK has packed: the arguments
// are those of quantized_conv2d, but weights are (filters, height, width, depth) with
// rows of taps that end in zeros up to a multiple of four elements, and lie as
//
//     (four filters, four elements, even or odd ones, pair, two elements, two bytes)
//
// where the two bytes are the weight of the pair's first filter and 128, and the weight
// of its second: as int16, 256 times the second, the first and 128.
#ifndef EMBER_KERNELS_ENGINE_INT8_PACKED_S8_H
#define EMBER_KERNELS_ENGINE_INT8_PACKED_S8_H

#include "kernels/engine/int8/conv_s8.h"

enum { EMBER_PACKED_FOUR = 4 }; // filters, and elements

// What follows from weights whose sizes are read: `fours` of a row of taps, and the
// depth without what rows end in. UNSUPPORTED with dilation.
EMBER_MUST_USE ember_status_t ember_packed_s8_rows(ember_conv_s8_t *conv,
                                                   ember_node_t *node, int32_t *fours);

// The same after reading a call of cortex_m.
EMBER_MUST_USE ember_status_t ember_packed_s8_args(ember_conv_s8_t *conv,
                                                   ember_node_t *node, int32_t *fours);

// Bytes of the weights without padding, (filters, height, width, depth), and those.
static inline size_t ember_packed_s8_plain(const ember_conv_s8_t *conv) {
    const int32_t line = conv->width.kernel * conv->depth;
    return (size_t)conv->filters * (size_t)(conv->height.kernel * line);
}

void ember_packed_s8_unpack(const ember_conv_s8_t *conv, int32_t fours, int8_t *to);

#endif // EMBER_KERNELS_ENGINE_INT8_PACKED_S8_H
