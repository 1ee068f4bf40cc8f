// SPDX-License-Identifier: Apache-2.0
// index_put: a copy of self in which self[indices] = values, or += values, with several
// tensors, some of which are masks.
#include "kernels/movement/index_masks.h"

enum { SELF, INDICES, VALUES, ACCUMULATE, OUT };

typedef struct {
    ember_copy_t copy;
    ember_masks_t masks;
} state_t;

static ember_status_t prepare(ember_node_t *node, void *state) {
    state_t *s = state;
    ember_tensor_t out;
    ember_view_t self;

    ember_view_arg(&self, node, SELF);
    const ember_status_t status = ember_copy_output(&s->copy, node, OUT, &self);
    if (status != EMBER_OK) {
        return status;
    }
    ember_node_inout(node, OUT, &out);
    return ember_masks_put(&s->masks, node, &out);
}

static int32_t run(void *state) {
    const state_t *s = state;

    ember_copy_run(&s->copy);
    return ember_masks_run(&s->masks);
}

EMBER_KERNEL(index_put_masks, state_t);
