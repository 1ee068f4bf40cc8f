// SPDX-License-Identifier: Apache-2.0
// quantized_prelu: int8 times one of two factors.
//
//     y = int8(((q - zero_point) * factor + start) >> shift)
//
// where int8() saturates and sums wrap; `factor` is one of q >= zero_point, or a slope:
// of all, or of q's channel. `start` is the zero point of y and the half that rounds.
// All of it is exact on every core. Channels may be last in memory.
#ifndef EMBER_KERNELS_CORTEX_M_PRELU_S8_H
#define EMBER_KERNELS_CORTEX_M_PRELU_S8_H

#include "ember/node.h"

typedef struct ember_prelu_s8 {
    const int8_t *x;       // (outer, channels, inner)
    int8_t *y;             // the same; may be x
    const int32_t *scales; // (1 + channels,): of q >= zero_point, then slopes
    uint32_t outer;
    uint32_t channels;
    uint32_t inner;
    int32_t start;
    int16_t zero_point;
    uint8_t shift;
} ember_prelu_s8_t;

// `count` elements from `at` on that share a slope, in plain C.
void ember_prelu_plane_s8(const ember_prelu_s8_t *s, size_t at, uint32_t count,
                          int32_t slope);

EMBER_MUST_USE ember_status_t ember_prelu_s8_prepare(ember_node_t *node,
                                                     ember_prelu_s8_t *s);

#endif // EMBER_KERNELS_CORTEX_M_PRELU_S8_H
