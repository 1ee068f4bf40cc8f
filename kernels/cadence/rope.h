// SPDX-License-Identifier: Apache-2.0
// Rotary embeddings: pairs of elements of each head, rotated by the angle of a token.
//
//     y0 = x0 * cos - x1 * sin        y1 = x0 * sin + x1 * cos
#ifndef EMBER_KERNELS_CADENCE_ROPE_H
#define EMBER_KERNELS_CADENCE_ROPE_H

#include "kernels/cadence/numbers.h"

typedef struct ember_rope {
    const float *x;   // (1, tokens, heads, 2 * pairs)
    const float *sin; // (positions, pairs)
    const float *cos;
    float *y;
    const void *at; // (tokens,) positions; NULL: 0, 1, ..
    int32_t tokens;
    int32_t heads;
    int32_t pairs;
    int32_t positions;
    uint8_t at_dtype;
} ember_rope_t;

EMBER_MUST_USE ember_status_t ember_rope_prepare(ember_rope_t *rope,
                                                 ember_node_t *node);

// Elements of a pair are adjacent, or half a head apart.
int32_t ember_rope_run(const ember_rope_t *rope, bool halves);

#endif // EMBER_KERNELS_CADENCE_ROPE_H
