// SPDX-License-Identifier: Apache-2.0
// The dialect's max pool of images (n, c, h, w). Contract: pool.h.
#include "kernels/cadence/pool.h"

static int32_t run(void *state) {
    ember_cadence_max_pool_run(state);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_cadence_max_pool(state, node, false);
}

EMBER_KERNEL(cadence_max_pool_nchw, ember_cadence_pool_t);
