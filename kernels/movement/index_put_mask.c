// SPDX-License-Identifier: Apache-2.0
// index_put: a copy of self in which self[..., mask, ...] = values, or += values.
#include "kernels/movement/index_put_mask.h"

enum { SELF, INDICES, VALUES, ACCUMULATE, OUT };

typedef struct {
    ember_copy_t copy;
    ember_put_mask_t put;
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
    return ember_put_mask_prepare(&s->put, node, &out);
}

static int32_t run(void *state) {
    const state_t *s = state;

    ember_copy_run(&s->copy);
    return ember_put_mask_run(&s->put);
}

EMBER_KERNEL(index_put_mask, state_t);
