// SPDX-License-Identifier: Apache-2.0
// index_put_: self[..., mask, ...] = values, or += values; in place.
#include "kernels/movement/index_put_mask.h"

enum { SELF };

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_tensor_t self;

    ember_node_inout(node, SELF, &self);
    return ember_put_mask_prepare(state, node, &self);
}

static int32_t run(void *state) {
    return ember_put_mask_run(state);
}

EMBER_KERNEL(index_put_mask_inplace, ember_put_mask_t);
