// SPDX-License-Identifier: Apache-2.0
// A size of a tensor.
#include "kernels/engine/prim.h"

static int32_t run(void *state) {
    return ember_prim_run(state);
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_prim_t *s = state;
    ember_tensor_t x;
    ember_node_tensor(node, 0, &x);
    const uint32_t dim = ember_node_dim(node, 1, x.rank);
    s->slot = ember_node_slot(node, 2);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (dim >= x.rank) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "sym_size: no such dimension");
    }
    ember_prim_set_int(s, x.sizes[dim]);
    return EMBER_OK;
}

EMBER_KERNEL(sym_size, ember_prim_t);
