// SPDX-License-Identifier: Apache-2.0
// Rotary embeddings with adjacent pairs. Contract: rope.h.
#include "kernels/cadence/rope.h"

static int32_t run(void *state) {
    return ember_rope_run(state, false);
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_rope_prepare(state, node);
}

EMBER_KERNEL(cadence_rope, ember_rope_t);
