// SPDX-License-Identifier: Apache-2.0
// index_put_: self[indices] = values, or += values, with several tensors, some of which
// are masks; in place.
#include "kernels/movement/index_masks.h"

enum { SELF };

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_tensor_t self;

    ember_node_inout(node, SELF, &self);
    return ember_masks_put(state, node, &self);
}

static int32_t run(void *state) {
    return ember_masks_run(state);
}

EMBER_KERNEL(index_put_masks_inplace, ember_masks_t);
