// SPDX-License-Identifier: Apache-2.0
// quantized_prelu: int8 times one of two factors.
//
//     y = int8(((q - zero_point) * factor + start) >> shift)
//
// where int8() saturates and sums wrap; `factor` is one of q >= zero_point, or a slope:
// of all, or of q's channel. `start` is the zero point of y and the half that rounds.
// All of it is exact on every core. Channels may be last in memory.
#ifndef EMBER_KERNELS_ELEMENTWISE_PRELU_S8_H
#define EMBER_KERNELS_ELEMENTWISE_PRELU_S8_H

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

static inline int8_t ember_prelu_of_s8(const ember_prelu_s8_t *s, int32_t q,
                                       int32_t positive, int32_t slope) {
    const int32_t moved = q - s->zero_point;
    const uint32_t factor = (uint32_t)(moved < 0 ? slope : positive);
    const uint32_t sum = (uint32_t)moved * factor + (uint32_t)s->start;
    const int32_t y = (int32_t)sum >> s->shift;
    return (int8_t)(y > INT8_MAX ? INT8_MAX : y < INT8_MIN ? INT8_MIN : y);
}

EMBER_MUST_USE ember_status_t ember_prelu_s8_prepare(ember_node_t *node,
                                                     ember_prelu_s8_t *s);

#endif // EMBER_KERNELS_ELEMENTWISE_PRELU_S8_H
