// SPDX-License-Identifier: Apache-2.0
// avg_pool3d: means of windows, every dtype.
#include "kernels/pooling/avg.h"

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_avg_prepare(state, node, 3, false);
}

static int32_t run(void *state) {
    return ember_avg_run(state);
}

EMBER_KERNEL(avg_pool3d, ember_avg_pool_t);
