// SPDX-License-Identifier: Apache-2.0
// y = a where it is positive, else 0, float32 in one layout; NaN stays. In integers:
// shorter than with float comparisons, and -0 to -infinity are one range of bits.
#include "kernels/elementwise/relu_f32.h"
#include "kernels/engine/map_f32.h"

static int32_t run(void *state) {
    const ember_map_f32_1_t *s = state;
    const int32_t *a = (const int32_t *)(const void *)s->a;
    int32_t *y = (int32_t *)(void *)s->y;

#pragma GCC unroll 4
    for (uint32_t left = s->count; left > 0; left--) {
        const int32_t bits = *a++;
        *y++ = bits <= EMBER_RELU_ZERO_UNTIL ? 0 : bits;
    }
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_map_f32_1_prepare(node, state);
}

EMBER_KERNEL(relu_f32, ember_map_f32_1_t);
