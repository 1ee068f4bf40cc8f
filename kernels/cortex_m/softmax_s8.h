// SPDX-License-Identifier: Apache-2.0
// softmax of int8 to int8 along one dimension: x becomes a real number by a scale,
// which the arguments give as multiplier * 2^(shift - 57); y is in steps of 1/256 from
// -128 on.
#ifndef EMBER_KERNELS_CORTEX_M_SOFTMAX_S8_H
#define EMBER_KERNELS_CORTEX_M_SOFTMAX_S8_H

#include "kernels/engine/axis.h"

// A weight is exp(x - largest x), each rounded to float32 first, but at least this
// one's; a sum, which is at least 1, cannot distinguish it from 0.
#define EMBER_SOFTMAX_LEAST (-87.0f)

typedef struct ember_softmax_s8 {
    ember_axis_t axis;
    float *weights; // (axis.count,)
    float scale;
    int32_t zero;
} ember_softmax_s8_t;

EMBER_MUST_USE ember_status_t ember_softmax_s8_prepare(ember_node_t *node, void *state);

// Computes one line, from its first elements; elements are axis.inner apart.
typedef void (*ember_softmax_s8_fn)(const ember_softmax_s8_t *s, const int8_t *x,
                                    int8_t *y);

// Calls `line` for each line.
void ember_softmax_s8_run(const ember_softmax_s8_t *s, ember_softmax_s8_fn line);

#endif // EMBER_KERNELS_CORTEX_M_SOFTMAX_S8_H
