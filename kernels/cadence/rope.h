// SPDX-License-Identifier: Apache-2.0
// Rotary embeddings: pairs of elements of each head, rotated by the angle of a token.
//
//     y0 = x0 * cos - x1 * sin        y1 = x0 * sin + x1 * cos
#ifndef EMBER_KERNELS_CADENCE_ROPE_H
#define EMBER_KERNELS_CADENCE_ROPE_H

#include <stddef.h>

#include "kernels/engine/cadence/numbers.h"

typedef struct ember_rope {
    const void *x;    // (1, tokens, heads, 2 * pairs)
    const float *sin; // (positions, pairs)
    const float *cos;
    void *y;
    const void *at; // (tokens,) positions; NULL: 0, 1, ..
    int32_t tokens;
    int32_t heads;
    int32_t pairs;
    int32_t positions;
    uint8_t at_dtype;
} ember_rope_t;

// Operands of every dtype, of which `out` is the argument's index; sin and cos are
// float32. The caller checks x->dtype and y->dtype.
EMBER_MUST_USE ember_status_t ember_rope_read(ember_rope_t *rope, ember_node_t *node,
                                              uint32_t out, ember_tensor_t *x,
                                              ember_tensor_t *y);

// The whole prepare for float32.
EMBER_MUST_USE ember_status_t ember_rope_prepare(ember_rope_t *rope,
                                                 ember_node_t *node);

// The position of a token; outside [0, positions) it is an error of the data.
static inline int64_t ember_rope_position(const ember_rope_t *rope, int32_t token) {
    if (rope->at == NULL) {
        return token;
    }
    return rope->at_dtype == EMBER_S32 ? ((const int32_t *)rope->at)[token]
                                       : ((const int64_t *)rope->at)[token];
}

// Elements of a pair are adjacent, or half a head apart.
int32_t ember_rope_run(const ember_rope_t *rope, bool halves);

#endif // EMBER_KERNELS_CADENCE_ROPE_H
