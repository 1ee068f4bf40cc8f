// SPDX-License-Identifier: Apache-2.0
// topk: the k largest or smallest elements of each line, in order.
#include "kernels/engine/sort.h"

enum { SELF, K, DIM, LARGEST, SORTED, VALUES };

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_tensor_t self;

    ember_node_tensor(node, SELF, &self);
    const uint32_t dim = ember_node_dim(node, DIM, self.rank);
    const int32_t k = ember_node_int_in(node, K, 0, INT32_MAX);
    return ember_sort_prepare(state, node, dim, k, ember_node_bool(node, LARGEST),
                              VALUES);
}

static int32_t run(void *state) {
    ember_sort_run(state);
    return EMBER_OK;
}

EMBER_KERNEL(topk, ember_sort_t);
