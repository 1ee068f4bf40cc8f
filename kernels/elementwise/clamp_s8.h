// SPDX-License-Identifier: Apache-2.0
// y = a within two int8, in one layout: activations of quantised models. relu has no
// arguments for them: they are 0 and 127.
#ifndef EMBER_KERNELS_ELEMENTWISE_CLAMP_S8_H
#define EMBER_KERNELS_ELEMENTWISE_CLAMP_S8_H

#include "ember/node.h"

typedef struct ember_clamp_s8 {
    const int8_t *a; // (count,)
    int8_t *y;       // (count,); may be a
    uint32_t count;  // elements
    int8_t low;      // not above high
    int8_t high;
} ember_clamp_s8_t;

EMBER_MUST_USE ember_status_t ember_clamp_s8_prepare(ember_node_t *node, void *state);

#endif // EMBER_KERNELS_ELEMENTWISE_CLAMP_S8_H
