// SPDX-License-Identifier: Apache-2.0
// index_put_: self[indices] = values, or += values; in place.
#include "kernels/movement/index_put.h"

enum { SELF };

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_tensor_t self;

    ember_node_inout(node, SELF, &self);
    return ember_index_put_prepare(state, node, &self);
}

static int32_t run(void *state) {
    return ember_pick_run(state);
}

EMBER_KERNEL(index_put_inplace, ember_pick_t);
