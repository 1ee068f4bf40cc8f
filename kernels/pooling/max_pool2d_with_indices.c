// SPDX-License-Identifier: Apache-2.0
// max_pool2d_with_indices: the largest element of each window and where it was; every
// dtype.
#include "kernels/pooling/max.h"

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_max_prepare(state, node, 2);
}

static int32_t run(void *state) {
    return ember_max_run(state);
}

EMBER_KERNEL(max_pool2d_with_indices, ember_max_pool_t);
