// SPDX-License-Identifier: Apache-2.0
// The number of elements of a tensor.
#include "kernels/engine/prim.h"

static int32_t run(void *state) {
    return ember_prim_run(state);
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_prim_t *s = state;
    ember_tensor_t x;
    ember_node_tensor(node, 0, &x);
    s->slot = ember_node_slot(node, 1);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    ember_prim_set_int(s, x.numel);
    return EMBER_OK;
}

EMBER_KERNEL(sym_numel, ember_prim_t);
