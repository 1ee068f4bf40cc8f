// SPDX-License-Identifier: Apache-2.0
// Rotary embeddings with pairs half a head apart. Contract: rope.h.
#include "kernels/cadence/rope.h"

static int32_t run(void *state) {
    return ember_rope_run(state, true);
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_rope_prepare(state, node);
}

EMBER_KERNEL(cadence_rope_halves, ember_rope_t);
