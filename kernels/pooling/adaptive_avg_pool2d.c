// SPDX-License-Identifier: Apache-2.0
// adaptive_avg_pool2d: means of the windows that cut 2 dimensions into a given number
// of parts.
#include "kernels/pooling/adaptive.h"

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_adaptive_prepare(node, state, 2);
}

static int32_t run(void *state) {
    return ember_adaptive_run(state);
}

EMBER_KERNEL(adaptive_avg_pool2d, ember_pool_t);
