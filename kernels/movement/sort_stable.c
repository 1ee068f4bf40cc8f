// SPDX-License-Identifier: Apache-2.0
// sort_stable: each line in ascending or descending order; equal elements keep their
// order.
#include "kernels/engine/sort.h"

enum { SELF, STABLE, DIM, DESCENDING, VALUES };

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_tensor_t self;

    ember_node_tensor(node, SELF, &self);
    const uint32_t dim = ember_node_dim(node, DIM, self.rank);
    return ember_sort_prepare(state, node, dim, -1, ember_node_bool(node, DESCENDING),
                              VALUES);
}

static int32_t run(void *state) {
    ember_sort_run(state);
    return EMBER_OK;
}

EMBER_KERNEL(sort_stable, ember_sort_t);
