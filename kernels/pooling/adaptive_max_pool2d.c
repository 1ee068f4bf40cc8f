// SPDX-License-Identifier: Apache-2.0
// adaptive_max_pool2d: the largest element, and where it was, of each of the windows
// that cut 2 dimensions into a given number of parts.
#include "kernels/pooling/max.h"

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_max_prepare_adaptive(state, node, 2);
}

static int32_t run(void *state) {
    return ember_max_adaptive_run(state);
}

EMBER_KERNEL(adaptive_max_pool2d, ember_max_pool_t);
